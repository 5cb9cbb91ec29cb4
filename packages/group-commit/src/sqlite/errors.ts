/** Primary result codes of SQLite, https://sqlite.org/rescode.html, that concern the whole database. */
const PASSING = { BUSY: 5, LOCKED: 6, NOMEM: 7, INTERRUPT: 9, IOERR: 10, FULL: 13, PROTOCOL: 15 };
const SQLITE = { ...PASSING, READONLY: 8, CORRUPT: 11, CANTOPEN: 14, NOTADB: 26 };

const PASSING_SYSTEM = ['EAGAIN', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC'];

/** How long a lock of another process is waited for, in milliseconds. */
const LOCK_MS = 5_000;

/** Nothing wakes it. */
const clock = new Int32Array(new SharedArrayBuffer(4));

/** A file of the database is missing, or another one. The message is its name. */
export class FileLost extends Error {}

/** The primary result code, without the details of SQLite's extended codes. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}

/** A short name of the trouble, such as `SQLITE_FULL`. */
export function nameOf(error: unknown): string {
  if (error instanceof FileLost) return 'FILE_LOST';
  const [name] = Object.entries(SQLITE).find(([, code]) => code === codeOf(error)) ?? [];
  return name ? `SQLITE_${name}` : String(Object(error).code ?? 'UNKNOWN');
}

/** Whether the error concerns the whole database, and not only the call that met it. */
export function concernsDatabase(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && Object.values(SQLITE).includes(code);
}

const isBusy = (error: unknown): boolean => codeOf(error) === SQLITE.BUSY;

/** Whether the connection is still good after this error. */
export const keepsConnection = (error: unknown): boolean => isBusy(error) || codeOf(error) === SQLITE.FULL;

/** Whether waiting does not help. */
export function isLasting(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return !Object.values(PASSING).includes(code);
  return !(error instanceof Error && 'code' in error && PASSING_SYSTEM.includes(String(error.code)));
}

/**
 * Tries again while another process holds the lock, and blocks the thread. SQLite's own busy timeout sleeps for up to
 * 100 ms at a time, in which other processes starve it.
 */
export function retryWhileBusy<T>(attempt: () => T, milliseconds = LOCK_MS): T {
  for (const deadline = performance.now() + milliseconds; ; Atomics.wait(clock, 0, 0, 0.2 + Math.random())) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

const LOCKED = 'is locked by another process: end that process.';

/** What is wrong and what would be right, by result code. */
const ADVICE: Readonly<Record<number, string>> = {
  [SQLITE.BUSY]: LOCKED,
  [SQLITE.LOCKED]: LOCKED,
  [SQLITE.READONLY]: 'cannot be written: make the file, its folder and its file system writable.',
  [SQLITE.IOERR]: 'cannot be read or written (I/O error): check the disk.',
  [SQLITE.CORRUPT]: 'is damaged: stop the service, then put a backup in its place and remove its -wal and -shm files.',
  [SQLITE.FULL]: 'cannot grow: its disk is full, free some space.',
  [SQLITE.CANTOPEN]: 'cannot be opened: it must be a file, or a new name, in a folder that can be written.',
  [SQLITE.NOTADB]: 'is not a SQLite database, and stays as it is. Name another file.',
};

/** One sentence for the operator: what is wrong and what would be right. */
export function explain(file: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof FileLost) {
    return `${reason} was moved, deleted or replaced while it was open: put it back, or restart.`;
  }
  const advice = ADVICE[codeOf(error) ?? 0];
  if (advice !== undefined) return `${file} ${advice}`;
  if (error instanceof Error && 'syscall' in error) {
    return `${file} cannot be used (${reason}): its folder must exist, or it must be possible to create it.`;
  }
  return `${file} ${codeOf(error) === undefined ? 'cannot be used' : 'failed'}: ${reason}.`;
}
