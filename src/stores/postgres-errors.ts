import { DatabaseError } from 'pg';
import { TABLE } from './postgres-sql.ts';

const USER = 'The PostgreSQL URL must hold the right user and password';
const KEYS = 'sslcert and sslkey in the PostgreSQL URL must name a PEM certificate and its own key';

/** What would be right, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or error code. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28P01|^SASL/, USER],
  [/^28/, 'The PostgreSQL URL must name a user that pg_hba.conf lets in from here; sslmode=require asks for TLS'],
  [/^3D000/, "Create the database with CREATE DATABASE … ENCODING 'UTF8', or name another one in the PostgreSQL URL"],
  [/^42501/, `The user must own the table, or have SELECT and INSERT on it once an owner has created it: ${TABLE}`],
  [/^(22023|42704)/, 'The options and parameters of the PostgreSQL URL must be such as the server knows'],
  [/^08P01.*unsupported startup parameter/, 'PgBouncer must have ignore_startup_parameters = statement_timeout'],
  [/^(0A|3F|42)/, `The server must understand the SQL of PostgreSQL, and the table must be: ${TABLE}`],
  [/server does not support SSL/, 'Turn on TLS there, or say sslmode=disable in the PostgreSQL URL'],
  [/^ERR_OSSL/, KEYS],
  [
    /^\S*(CERT|SIGNATURE|ERR_TLS)/,
    'sslrootcert=FILE in the PostgreSQL URL must name the authority that signed its certificate for this host',
  ],
];

export const codeOf = (error: unknown): string | undefined => (error instanceof DatabaseError ? error.code : undefined);

/** What would be right, if waiting does not help. */
export function adviceOn(error: unknown): string | undefined {
  const { code = '', message = '' } = Object(error);
  const text = `${code} ${message}`.trim();
  return ADVICE.find(([pattern]) => pattern.test(text))?.[1];
}

/** The error without what may quote a plant: further fields, and the message of class 22. */
export function reason(error: unknown): Error {
  const { message, code, errors } = Object(error);
  // A host with several addresses has an error for each.
  if (Array.isArray(errors)) return new Error(errors.map((each) => reason(each).message).join('; '));
  if (!(error instanceof DatabaseError)) return new Error(String(message || error), { cause: error });
  return new Error(code?.startsWith('22') ? `SQLSTATE ${code}` : `${message} (SQLSTATE ${code})`);
}
