import { mkdtempSync, readdirSync, rm, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from '../account.ts';
import type { Log } from '../handlers/types.ts';

/** Includes the host: containers may share a folder, and their processes often have equal ids. */
const PREFIX = `upload-${hostname()}_`;

/** Creates a folder for the files of a call. It is removed when the call is settled. */
export function createUploadFolder(account: Account): string {
  const { folders } = account;
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  folders.add(folder);
  account.defer(() => remove(folder, () => folders.delete(folder)));
  return folder;
}

/** Removes the folders of processes that ended before they could remove them. */
export function removeDeadUploads(log: Log): void {
  try {
    for (const name of readdirSync(tmpdir())) {
      // Names of hosts have no underscore, so the name of no other host has this prefix.
      if (!name.startsWith(PREFIX)) continue;
      const folder = join(tmpdir(), name);
      if (!isInUse(Number.parseInt(name.slice(PREFIX.length), 10), folder)) remove(folder);
    }
  } catch (err) {
    log.warn({ err }, 'files of earlier uploads cannot be removed');
  }
}

/** After a restart in a container, the process often has the id of the one before. */
function isInUse(pid: number, folder: string): boolean {
  if (pid === process.pid) {
    const started = Date.now() - process.uptime() * 1000;
    return statSync(folder).mtimeMs >= started;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs as another user.
    return Object(error).code !== 'ESRCH';
  }
}

function remove(folder: string, onRemoved = (): void => {}): void {
  rm(folder, { recursive: true, force: true, maxRetries: 5 }, onRemoved);
}
