import { closeSync, existsSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FileLost } from './errors.ts';

/** The size in bytes of a log that only a reader can have kept from being cut. */
const LONG_LOG_BYTES = 256 * 1024 * 1024;

/**
 * Makes sure that there is a file. Only its owner can read a new one; SQLite gives the files beside it the same rights.
 *
 * @throws {FileLost} if it is missing and must not be created.
 */
export function createFile(file: string, mayCreate: boolean): void {
  if (existsSync(file)) return;
  if (!mayCreate) throw new FileLost(file);
  try {
    // The recursive mode never ends under /proc.
    mkdirSync(dirname(file));
  } catch (error) {
    if (!existsSync(dirname(file))) throw error;
  }
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process was faster, or SQLite explains it better.
  }
}

/**
 * Returns a check for after each commit. SQLite goes on writing to a file that was moved, deleted or replaced, where nobody
 * finds what it writes.
 *
 * @throws {FileLost} if the database or its log (`-wal`) is not the file of the first check.
 */
export function watchFiles(file: string, warn: (message: string) => void): () => void {
  const names = [file, `${realpathSync(file)}-wal`];
  let opened: readonly (Stats | undefined)[] | undefined;
  let warned = false;
  return () => {
    const found = names.map((name) => statSync(name, { throwIfNoEntry: false }));
    opened ??= found;
    const lost = names.find((_, at) => found[at]?.ino !== opened?.[at]?.ino || found[at]?.dev !== opened?.[at]?.dev);
    if (lost !== undefined) throw new FileLost(lost);
    const size = found[1]?.size ?? 0;
    if (size > LONG_LOG_BYTES && !warned) {
      const advice = 'since somebody reads for long: end old transactions and sqlite3 shells';
      warn(`${file}-wal has ${Math.round(size / 1e6)} MB, ${advice}`);
    }
    warned = size > LONG_LOG_BYTES;
  };
}
