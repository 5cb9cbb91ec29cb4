/** An error between threads. Structured cloning alone drops the name and the code. */
export type SentError = Readonly<Record<string, unknown>>;

/** Why nothing of a request was done. */
export interface Failure {
  /** One sentence for the operator. */
  readonly message: string;
  readonly code: string;
  readonly cause: SentError;
  /** Whether waiting does not help. */
  readonly permanent: boolean;
}

const LOCKED = 'is locked by another process: end that process.';

/**
 * SQLite's primary result codes that concern the whole database, https://sqlite.org/rescode.html: name, whether waiting does
 * not help, and what is wrong and would be right.
 */
const CODES: Readonly<Record<number, readonly [name: string, permanent: boolean, advice?: string]>> = {
  5: ['BUSY', false, LOCKED],
  6: ['LOCKED', false, LOCKED],
  7: ['NOMEM', false],
  8: ['READONLY', true, 'cannot be written: make the file, its folder and its file system writable.'],
  10: ['IOERR', false, 'cannot be read or written (I/O error): check the disk.'],
  11: ['CORRUPT', true, 'is damaged: stop the service, put a backup in its place, and remove its -wal and -shm files.'],
  13: ['FULL', false, 'cannot grow: its disk is full, free some space.'],
  14: ['CANTOPEN', true, 'cannot be opened: it must be a file, or a new name, in a folder that can be written.'],
  15: ['PROTOCOL', false],
  26: ['NOTADB', true, 'is not a SQLite database, and stays as it is. Name another file.'],
};

/** A file of the database is missing, or another one. */
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

export const unpackError = (sent: SentError): Error => Object.assign(new Error(), sent);

/** What SQLite's code of an error says, without the details of extended codes. */
const known = (error: unknown) => CODES[Number(Object(error).errcode) & 0xff];

/** Whether the error concerns the whole database, and not only the call that met it. */
export const concernsDatabase = (error: unknown): boolean => error instanceof FileLost || known(error) !== undefined;

export function failureOf(file: string, error: unknown): Failure {
  const { message = String(error), code = 'UNKNOWN', syscall } = Object(error);
  const [name, permanent = true, advice] = known(error) ?? [];
  const reason = syscall ? ` (${message}): its folder must exist, or it must be possible to create it` : `: ${message}`;
  return {
    message: error instanceof FileLost ? message : `${file} ${advice ?? `cannot be used${reason}.`}`,
    code: name ? `SQLITE_${name}` : String(code),
    cause: packError(error),
    permanent,
  };
}
