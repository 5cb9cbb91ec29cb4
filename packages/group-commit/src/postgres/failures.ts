import { DatabaseError } from 'pg';
import { RowRejected, Unavailable, Unusable } from '../errors.ts';

/** SQLSTATE of a change that a read-only server rejects, such as after a failover. */
export const READ_ONLY = '25006';

/** SQLSTATE values of transactions that were rolled back because of concurrent transactions. */
export const ROLLED_BACK = ['40001', '40P01'];

/** SQLSTATE of a server or a role that has the maximum number of connections. */
const TOO_MANY_CONNECTIONS = '53300';

/**
 * SQLSTATE classes of errors that one row causes: a wrong or too long value, a violated constraint,
 * or an exception that a trigger raises.
 */
const ROW_CODES = /^(2[123]|44|54|P0)/;

/**
 * SQLSTATE values and classes of a server that cannot run statements now: lost connections, rolled
 * back transactions, missing resources, locks, stops by an operator, system and internal errors.
 */
const OUTAGE_CODES = /^(08|25006|40|53|55P03|57|58|XX)/;

interface Advice {
  /** A pattern for `CODE MESSAGE` of an error. */
  readonly pattern: RegExp;
  /** `: TABLE` is replaced by the statement that creates the table, if it is known. */
  readonly text: string;
}

/** Advice for permanent errors. */
const ADVICE: readonly Advice[] = [
  {
    pattern: /^28P01|^SASL/,
    text: 'Check the user and the password in the PostgreSQL URL',
  },
  {
    pattern: /^28/,
    text: 'Allow this user and host in pg_hba.conf; for hostssl, add sslmode=require to the URL',
  },
  {
    pattern: /^3D000/,
    text: "Create it with CREATE DATABASE … ENCODING 'UTF8', or change the PostgreSQL URL",
  },
  {
    pattern: /^42501/,
    text: 'Let the owner create the table and grant SELECT and INSERT on it to this user: TABLE',
  },
  {
    pattern: /^(22023|42704)/,
    text: 'Remove the options and parameters that the server does not know from the PostgreSQL URL',
  },
  {
    pattern: /^08P01.*unsupported startup parameter/,
    text: 'Add statement_timeout=0 to the PostgreSQL URL, as for PgBouncer',
  },
  {
    pattern: /^(0A|3F|42)/,
    text: 'The server must support the SQL of PostgreSQL, and have this table: TABLE',
  },
  {
    pattern: /server does not support SSL/,
    text: 'Enable TLS in the server, or add sslmode=disable to the PostgreSQL URL',
  },
  {
    pattern: /^ERR_OSSL/,
    text: 'sslcert and sslkey in the PostgreSQL URL must name a PEM certificate and its key',
  },
  {
    pattern: /^ERR_TLS_CERT_ALTNAME/,
    text: 'The PostgreSQL URL must have the host name of the certificate, or sslmode=verify-ca',
  },
  {
    pattern: /^\S*(CERT|SIGNATURE|ERR_TLS)/,
    text: 'sslrootcert=FILE in the PostgreSQL URL must name the certificate of the issuer',
  },
];

const codeOf = (error: unknown): string => String(Object(error).code ?? '');

/** Returns true if a statement violated a constraint. */
export const violatesConstraint = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && ROW_CODES.test(codeOf(error));

/** Returns true if a host rejected a connection because it has too many. */
export const hasTooManyConnections = (error: unknown): boolean =>
  [error, ...(Object(error).errors ?? [])].some((inner) => codeOf(inner) === TOO_MANY_CONNECTIONS);

/** Returns true if the server cannot run statements now. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Unusable ||
  error instanceof Unavailable ||
  (error instanceof DatabaseError && OUTAGE_CODES.test(codeOf(error)));

/**
 * Copies an error without texts that may contain values of a row: its details, and its message if
 * the SQLSTATE class is 22.
 */
function withoutValues(error: unknown): Error {
  const { message, code, errors } = Object(error);
  // A host with several addresses has an error for each.
  if (Array.isArray(errors)) {
    return new Error(errors.map((inner) => withoutValues(inner).message).join('; '));
  }
  if (!(error instanceof DatabaseError)) {
    return new Error(String(message || error), { cause: error });
  }
  return new Error(code?.startsWith('22') ? `SQLSTATE ${code}` : `${message} (SQLSTATE ${code})`);
}

/** Converts the error of a violated constraint. */
export function rowRejected(error: DatabaseError): RowRejected {
  const cause = withoutValues(error);
  return new RowRejected(cause.message, codeOf(error), error.constraint, cause);
}

/** Converts the error of a task. The result contains no values of a row. */
export function taskError(error: unknown): unknown {
  if (violatesConstraint(error)) return rowRejected(error);
  if (!(error instanceof DatabaseError)) return error;
  return Object.assign(withoutValues(error), { code: error.code, constraint: error.constraint });
}

/** Converts any error to a temporary failure. */
export function unavailable(location: string, error: unknown): Unavailable {
  if (error instanceof Unavailable) return error;
  const cause = withoutValues(error);
  const code = codeOf(error) || codeOf(Object(error).errors?.[0]) || 'UNKNOWN';
  const message = `PostgreSQL at ${location} cannot answer now: ${cause.message}`;
  return new Unavailable(message, code, cause);
}

/** Converts a permanent error to advice for the operator. Returns `undefined` for other errors. */
export function unusable(location: string, error: unknown, table?: string): Unusable | undefined {
  const advice = error instanceof Unusable ? '' : adviceOn(error, table);
  if (advice === undefined) return undefined;
  const text = [withoutValues(error).message, advice].filter(Boolean).join('. ');
  return new Unusable(`PostgreSQL at ${location}: ${text}`);
}

function adviceOn(error: unknown, table = ''): string | undefined {
  // With several hosts, an error is permanent if it is permanent for all.
  if (error instanceof AggregateError) {
    const advice = error.errors.map((inner: unknown) => adviceOn(inner, table));
    return advice.includes(undefined) ? undefined : advice[0];
  }
  const text = `${codeOf(error)} ${Object(error).message ?? ''}`.trim();
  const advice = ADVICE.find(({ pattern }) => pattern.test(text));
  return advice?.text.replace(': TABLE', () => table && `: ${table}`);
}
