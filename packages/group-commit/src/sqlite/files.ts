import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Damaged, FileLost } from './errors.ts';

/** The path of the write-ahead log. It is beside the target of a symbolic link. */
const logOf = (file: string): string => `${existsSync(file) ? realpathSync(file) : file}-wal`;

const statsOf = (name: string) => statSync(name, { throwIfNoEntry: false });

export const fileSizes = (file: string) => ({
  database_bytes: statsOf(file)?.size ?? 0,
  log_bytes: statsOf(logOf(file))?.size ?? 0,
});

/** Returns true if there is no database in the file: it is missing or empty. */
export const isVacant = (file: string): boolean => !statsOf(file)?.size;

/**
 * Creates the file if it is missing. Only its owner can read it. SQLite gives its other files the
 * same mode.
 *
 * @throws {FileLost} if the file is missing and `mayCreate` is false.
 * @throws {Damaged} if it is empty and `mayCreate` is false.
 */
export function createFile(file: string, mayCreate: boolean): void {
  if (!isVacant(file)) return;
  if (!mayCreate) throw existsSync(file) ? new Damaged('the file is empty') : new FileLost(file);
  try {
    // Not `recursive: true`, which never returns for a path under /proc.
    mkdirSync(dirname(file));
  } catch (error) {
    if (!existsSync(dirname(file))) throw error;
  }
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process created it, or SQLite will report a clearer error.
  }
}

/**
 * Returns a function to call after each commit. SQLite does not notice that its files were moved,
 * deleted, emptied or replaced, and would still write to the old files.
 *
 * The function throws {@link FileLost} if the database or its log is not the same file as at the
 * first call, and {@link Damaged} if the database is empty.
 */
export function watchFiles(file: string): () => void {
  const names = [file, logOf(file)];
  let first: readonly (string | undefined)[] | undefined;

  return () => {
    const current = names.map(statsOf);
    const ids = current.map((stats) => stats && `${stats.dev}:${stats.ino}`);
    first ??= ids;
    const lost = names.find((_, index) => ids[index] !== first?.[index]);
    if (lost !== undefined) throw new FileLost(lost);
    if (current[0]?.size === 0) throw new Damaged('the file is empty');
  };
}
