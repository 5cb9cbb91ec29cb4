import { RowRejected, Unavailable } from '../errors.ts';

/** An error that is sent between threads. Structured cloning would drop its name and code. */
export type SentError = Readonly<Record<string, unknown>>;

/** The reason why a whole request failed. Its calls may have been committed. */
export interface ThreadError {
  readonly message: string;
  readonly code: string;
  readonly cause: SentError;
  /** True if retries do not help. */
  readonly permanent: boolean;
}

interface ResultCode {
  readonly name: string;
  /** True if retries do not help. */
  readonly permanent?: true;
  /** Follows the name of the file in the message. */
  readonly advice?: string;
}

/** Primary result codes that affect the whole database, https://sqlite.org/rescode.html. */
const DATABASE_CODES: Readonly<Record<number, ResultCode>> = {
  5: { name: 'BUSY', advice: 'is locked by another process: end that process.' },
  7: { name: 'NOMEM' },
  8: {
    name: 'READONLY',
    permanent: true,
    advice: 'cannot be written: make the file, its folder and its file system writable.',
  },
  10: {
    name: 'IOERR',
    advice: 'cannot be read or written (I/O error): check the disk.',
  },
  11: {
    name: 'CORRUPT',
    permanent: true,
    advice: 'is damaged: stop the service, remove its -wal and -shm files, and restore a backup.',
  },
  13: {
    name: 'FULL',
    advice: 'cannot grow: its disk is full. Free some space.',
  },
  14: {
    name: 'CANTOPEN',
    permanent: true,
    advice: 'cannot be opened: it must be a file or a new name in a writable folder.',
  },
  15: { name: 'PROTOCOL' },
  26: {
    name: 'NOTADB',
    permanent: true,
    advice: 'is not a SQLite database and was not changed. Name another file.',
  },
};

/** The primary result codes of violated constraints: TOOBIG, CONSTRAINT and MISMATCH. */
const ROW_CODES = [18, 19, 20];

/** SQLSTATE values of SQLite's extended result codes. Others are 23000. */
const SQLSTATES: Readonly<Record<number, string>> = {
  18: '22001', // TOOBIG
  20: '22023', // MISMATCH
  275: '23514', // CONSTRAINT_CHECK
  787: '23503', // CONSTRAINT_FOREIGNKEY
  1299: '23502', // CONSTRAINT_NOTNULL
  1555: '23505', // CONSTRAINT_PRIMARYKEY
  2067: '23505', // CONSTRAINT_UNIQUE
  2579: '23505', // CONSTRAINT_ROWID
  3091: '22023', // CONSTRAINT_DATATYPE
};

/** The file does not pass a check. Has the result code SQLITE_CORRUPT. */
export class Damaged extends Error {
  readonly errcode = 11;
}

export class FileLost extends Error {
  readonly code = 'FILE_LOST';

  constructor(file: string) {
    super(`${file} was moved, deleted or replaced while it was open: put it back, or restart.`);
  }
}

export const packError = (error: unknown): SentError =>
  Error.isError(error)
    ? { ...error, name: error.name, message: error.message, stack: error.stack }
    : { message: String(error) };

export function unpackError(sent: SentError): Error {
  const error = Object.assign(new Error(), sent);
  const code = Number(sent.errcode);
  if (!ROW_CODES.includes(code & 0xff)) return error;
  const [, constraint] = /^[A-Z ]+ constraint failed: (.*)$/.exec(error.message) ?? [];
  return new RowRejected(error.message, SQLSTATES[code] ?? '23000', constraint, error);
}

/** Returns true for an error that is final, although other parts of the file may seem usable. */
export const isDamage = ({ code }: ThreadError): boolean =>
  code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB';

export const unavailable = ({ message, code, cause }: ThreadError): Unavailable =>
  new Unavailable(message, code, unpackError(cause));

const databaseCodeOf = (error: unknown): ResultCode | undefined =>
  DATABASE_CODES[Number(Object(error).errcode) & 0xff];

export const concernsDatabase = (error: unknown): boolean =>
  error instanceof FileLost || databaseCodeOf(error) !== undefined;

/** Returns true if another process holds the lock. The connection stays usable. */
export const isLocked = (error: unknown): boolean => databaseCodeOf(error)?.name === 'BUSY';

export function threadErrorOf(file: string, error: unknown): ThreadError {
  const { message = String(error), code = 'UNKNOWN', syscall } = Object(error);
  const { name, permanent, advice } = databaseCodeOf(error) ?? { permanent: true };
  const reason = syscall
    ? ` (${message}): create its folder, or make the folder above that one writable`
    : `: ${message}`;
  return {
    message:
      error instanceof FileLost ? message : `${file} ${advice ?? `cannot be used${reason}.`}`,
    code: name ? `SQLITE_${name}` : String(code),
    cause: packError(error),
    permanent: permanent === true,
  };
}
