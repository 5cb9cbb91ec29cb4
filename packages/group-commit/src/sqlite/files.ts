import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { FileLost } from './errors.ts';

/** The path of the write-ahead log. It is beside the target of a symbolic link. */
const logOf = (file: string): string => `${existsSync(file) ? realpathSync(file) : file}-wal`;

const sizeOf = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? 0;

export const fileSizes = (file: string) => ({
  database_bytes: sizeOf(file),
  log_bytes: sizeOf(logOf(file)),
});

/**
 * Creates a missing file that only its owner can read. SQLite gives its other files the same mode.
 *
 * @throws {FileLost} if the file is missing and `mayCreate` is false.
 */
export function createFile(file: string, mayCreate: boolean): void {
  if (existsSync(file)) return;
  if (!mayCreate) throw new FileLost(file);
  try {
    // Not recursive, since that never ends under /proc.
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
 * deleted or replaced, and would write to files that have no name.
 *
 * @throws {FileLost} if the database or its log is not the file of the first call.
 */
export function watchFiles(file: string): () => void {
  const names = [file, logOf(file)];
  let first: readonly (Stats | undefined)[] | undefined;

  return () => {
    const files = names.map((name) => statSync(name, { throwIfNoEntry: false }));
    first ??= files;
    const isLost = (at: number) =>
      files[at]?.ino !== first?.[at]?.ino || files[at]?.dev !== first?.[at]?.dev;
    const lost = names.find((_, at) => isLost(at));
    if (lost !== undefined) throw new FileLost(lost);
  };
}
