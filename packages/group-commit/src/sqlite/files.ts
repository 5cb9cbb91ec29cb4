import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { FileChanged, FileLost } from './errors.ts';
import { sleep } from './wait.ts';

/** Checks that commits reach the files of the database. */
export interface FileWatch {
  /**
   * SQLite goes on writing to a file that was deleted, replaced or overwritten, and everything written there is lost.
   *
   * @throws {FileLost} if a file is missing or another one.
   * @throws {FileChanged} if another program wrote to one.
   */
  check(): void;
  /** How many pages the log held at the last check. */
  pages(): number;
  close(): void;
}

/** How long a change may be on its way, in milliseconds: another process that uses SQLite copies the log to the file. */
const SETTLE_MS = 1_000;

/** A folder that has not changed for so long, in milliseconds, gets another time with its next change. */
const FOLDER_MS = 2_000;

/** Sizes in bytes, and the first bytes of the log, https://sqlite.org/fileformat2.html#the_write_ahead_log. */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;
const LOG_MAGIC = '\x37\x7f\x06';

/**
 * Watches an open database in WAL mode: its file, the log of its newest commits (`-wal`) and the index of the log (`-shm`).
 * The last two exist as long as any connection is open (https://sqlite.org/wal.html).
 *
 * Only the log is opened here: closing a descriptor of the other two would drop the locks that SQLite holds on them.
 */
export function watchFiles(db: DatabaseSync, file: string): FileWatch {
  const status = db.prepare('PRAGMA wal_checkpoint(NOOP)');
  const version = db.prepare('PRAGMA data_version');
  const frameSize = FRAME_HEADER + Number(db.prepare('PRAGMA page_size').get()?.page_size);
  const target = realpathSync(file);
  const names = [file, `${target}-wal`, `${target}-shm`] as const;
  const opened = names.map(identityOf);
  const folders = [...new Set([dirname(file), dirname(target)])];
  /** The state of the folders in which they still held the files. */
  let settled: string | undefined;
  const log = openSync(names[1], 'r');
  const buffer = Buffer.alloc(LOG_HEADER);
  let known = look();
  /** Changes with the commits of other connections. */
  let knownVersion = version.get()?.data_version;
  let fault: FileChanged | undefined;

  /**
   * A name cannot change without the time of its folder. The times of the log are not read at each commit: Linux would give
   * it new ones with its next write, and the commit would also write those to the disk.
   */
  function checkNames(): void {
    const stats = folders.map((folder) => statSync(folder, { bigint: true, throwIfNoEntry: false }));
    const state = stats.map((each) => `${each?.dev} ${each?.ino} ${each?.mtimeNs}`).join();
    if (state === settled) return;
    for (const [at, name] of names.entries()) if (identityOf(name) !== opened[at]) throw new FileLost(name);
    const changedMs = Math.max(...stats.map((each) => Number(each?.mtimeMs)));
    settled = Date.now() - changedMs > FOLDER_MS ? state : undefined;
  }

  /** The state of the files now. SQLite notes what it copied after it wrote to the file, so the file is read last. */
  function look() {
    const { log: frames, checkpointed } = Object(status.get());
    const [header, last] = [read(0, LOG_HEADER), readFrame(frames)];
    const salt = header.slice(16, 24);
    const { size, mtimeNs } = statSync(file, { bigint: true });
    return {
      content: `${size} ${mtimeNs}`,
      /** Two random numbers that change when the log starts again. The header and each frame hold them. */
      salt,
      frames: Number(frames),
      checkpointed: Number(checkpointed),
      last,
      whole: frames === 0 || (header.startsWith(LOG_MAGIC) && last.slice(8, 16) === salt),
    };
  }

  /** Bytes of the log as characters, zeros after its end. */
  function read(position: number, length: number): string {
    buffer.fill(0);
    readSync(log, buffer, 0, length, position);
    return buffer.toString('latin1', 0, length);
  }

  /** The header of the last of so many frames. */
  function readFrame(count: number): string {
    return count > 0 ? read(LOG_HEADER + (count - 1) * frameSize, FRAME_HEADER) : '';
  }

  /** @returns the file that another program seems to have changed. */
  function changed(now: ReturnType<typeof look>): string | undefined {
    if (!now.whole) return names[1];
    if (now.salt === known.salt && readFrame(known.frames) !== known.last) return names[1];
    return now.content === known.content || copied(now) ? undefined : file;
  }

  /** Whether SQLite wrote to the file, which it does only to copy the log there. */
  function copied(now: ReturnType<typeof look>): boolean {
    const formerVersion = knownVersion;
    knownVersion = version.get()?.data_version;
    const restarted = now.salt !== known.salt || now.frames < known.frames;
    if (!restarted) return now.checkpointed > known.checkpointed;
    // A log starts again when all of it was copied. It may have grown before, by the commits of another connection.
    return known.checkpointed < known.frames || now.checkpointed > 0 || knownVersion !== formerVersion;
  }

  return {
    check() {
      if (fault) throw fault;
      for (const deadline = performance.now() + SETTLE_MS; ; sleep(5)) {
        checkNames();
        const now = look();
        const suspect = changed(now);
        if (suspect === undefined) {
          known = now;
          return;
        }
        if (performance.now() > deadline) {
          fault = new FileChanged(suspect);
          throw fault;
        }
      }
    },
    pages: () => known.frames,
    close: () => closeSync(log),
  };
}

function identityOf(name: string): string | undefined {
  const stats = statSync(name, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
