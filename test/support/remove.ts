import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes a folder with its contents, even if folders in it are read-only. */
export function removeFolder(folder: string): void {
  makeWritable(folder);
  rmSync(folder, { recursive: true, force: true });
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) makeWritable(path);
  }
}
