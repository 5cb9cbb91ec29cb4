import { DatabaseError } from 'pg';
import { RowRejected, Unavailable, Unusable } from '../errors.ts';

/** The server is read-only, such as a former primary after a failover. */
export const READ_ONLY = '25006';

/** SQLSTATE values of transactions that were rolled back because of concurrent transactions. */
export const ROLLED_BACK = ['40001', '40P01'];

/**
 * SQLSTATE classes of errors that one row causes: a wrong or too long value, a violated constraint,
 * or an exception that a trigger raises.
 */
const ROW_CODES = /^(2[123]|44|54|P0)/;

/**
 * SQLSTATE values and classes that mean that the server cannot run statements now: lost
 * connections, a read-only server, rolled back transactions, missing resources, locks, stops by an
 * operator, system and internal errors. Also codes that are not SQLSTATE values.
 */
const OUTAGE_CODES = /^(08|25006|40|53|55P03|57|58|XX|(?![\dA-Z]{5}$))/;

/** Matches `CODE MESSAGE` of permanent errors. */
const PERMANENT = new RegExp(
  '^(0A|22023|28|3D|3F|42|SASL|ERR_OSSL|08P01.*unsupported startup)|' +
    String.raw`^\S*(CERT|SIGNATURE|ERR_TLS)|does not support SSL`,
);

/** SQLSTATE values and classes of statements that fail because of the table or its privileges. */
const TABLE_CODES = /^(0A|3F|42(?!704))/;

const TABLE_ADVICE =
  'Let the owner create the table and grant SELECT, INSERT and UPDATE on it to this user';

const URL_ADVICE =
  'Correct the PostgreSQL URL: user, password, database and options; ' +
  'sslmode, sslrootcert, sslcert and sslkey for TLS; statement_timeout=0 for PgBouncer';

const codeOf = (error: unknown): string => String(Object(error).code ?? '');

export const violatesConstraint = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && ROW_CODES.test(codeOf(error));

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

export function rowRejected(error: DatabaseError): RowRejected {
  const cause = withoutValues(error);
  return new RowRejected(cause.message, codeOf(error), error.constraint, cause);
}

export function taskError(error: unknown): unknown {
  if (violatesConstraint(error)) return rowRejected(error);
  if (!(error instanceof DatabaseError)) return error;
  return Object.assign(withoutValues(error), { code: error.code, constraint: error.constraint });
}

export function unavailable(location: string, error: unknown): Unavailable {
  if (error instanceof Unavailable) return error;
  const cause = withoutValues(error);
  const code = codeOf(error) || codeOf(Object(error).errors?.[0]) || 'UNKNOWN';
  const message = `PostgreSQL at ${location} is unavailable: ${cause.message}`;
  return new Unavailable(message, code, cause);
}

/**
 * Returns `undefined` for errors that may be temporary.
 *
 * @param table the statement that creates the table.
 */
export function unusable(location: string, error: unknown, table = ''): Unusable | undefined {
  if (!isPermanent(error)) return undefined;
  const reason = `PostgreSQL at ${location}: ${withoutValues(error).message}`;
  if (error instanceof Unusable) return new Unusable(reason);
  const concernsTable = TABLE_CODES.test(codeOf(error));
  const advice = concernsTable ? `${TABLE_ADVICE}${table && `: ${table}`}` : URL_ADVICE;
  return new Unusable(`${reason}. ${advice}`);
}

function isPermanent(error: unknown): boolean {
  // With several hosts, an error is permanent if it is permanent for all.
  if (error instanceof AggregateError) return error.errors.every(isPermanent);
  const text = `${codeOf(error)} ${Object(error).message ?? ''}`.trim();
  return error instanceof Unusable || PERMANENT.test(text);
}
