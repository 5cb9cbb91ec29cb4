import { DatabaseError } from 'pg';

/** What would be right, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or error code. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28P01|^SASL/, 'The PostgreSQL URL must hold the right user and password'],
  [/^28/, 'The PostgreSQL URL must name a user that pg_hba.conf lets in from here; sslmode=require asks for TLS'],
  [/^3D000/, "Create the database with CREATE DATABASE … ENCODING 'UTF8', or name another one in the PostgreSQL URL"],
  [/^42501/, 'The user must own the table, or have SELECT and INSERT on it once its owner has created it: TABLE'],
  [/^(22023|42704)/, 'The options and parameters of the PostgreSQL URL must be such as the server knows'],
  [/^08P01.*unsupported startup parameter/, 'Say statement_timeout=0 in the PostgreSQL URL, as for PgBouncer'],
  [/^(0A|3F|42)/, 'The server must understand the SQL of PostgreSQL, and the table must be: TABLE'],
  [/server does not support SSL/, 'Turn on TLS there, or say sslmode=disable in the PostgreSQL URL'],
  [/^ERR_OSSL/, 'sslcert and sslkey in the PostgreSQL URL must name a PEM certificate and its own key'],
  [/^ERR_TLS_CERT_ALTNAME/, 'The PostgreSQL URL must name the host as its certificate does; or sslmode=verify-ca'],
  [/^\S*(CERT|SIGNATURE|ERR_TLS)/, 'sslrootcert=FILE in the PostgreSQL URL must name the authority of its certificate'],
];

/** What would be right, if waiting does not help. */
export function adviceOn(error: unknown, table: string): string | undefined {
  const { code = '', message = '' } = Object(error);
  // Several hosts: waiting helps if it helps for one of them.
  if (error instanceof AggregateError) {
    const advice = error.errors.map((each: unknown) => adviceOn(each, table));
    return advice.includes(undefined) ? undefined : advice[0];
  }
  const text = `${code} ${message}`.trim();
  return ADVICE.find(([pattern]) => pattern.test(text))?.[1].replace('TABLE', () => table);
}

/** The error without what may quote a row: further fields, and the message of class 22. */
export function reason(error: unknown): Error {
  const { message, code, errors } = Object(error);
  // A host with several addresses has an error for each.
  if (Array.isArray(errors)) return new Error(errors.map((each) => reason(each).message).join('; '));
  if (!(error instanceof DatabaseError)) return new Error(String(message || error), { cause: error });
  return new Error(code?.startsWith('22') ? `SQLSTATE ${code}` : `${message} (SQLSTATE ${code})`);
}
