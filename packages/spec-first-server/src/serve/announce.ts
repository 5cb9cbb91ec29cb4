import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Started } from './terminal.ts';

/**
 * Sent over the channel of `child_process.fork` or `node:cluster`, if this process has one.
 * PM2 reads `ready` (its option `wait_ready`); `spec-first dev` reads the other two.
 */
export type StartMessage = 'ready' | { readonly started: Started } | { readonly failed: string };

/** True if the parent process is `spec-first dev`, which prints the start or its error. */
export const isShownByParent = process.send !== undefined && process.env.SPEC_FIRST_DEV === 'true';

/** Resolves also if the message cannot be sent. */
export function tellParent(message: StartMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

/**
 * Announces that the service listens: to a parent process, and to systemd (`Type=notify`).
 *
 * @throws {Error} if systemd waits for a message that cannot be sent.
 */
export async function announce(started: Started): Promise<void> {
  await tellParent('ready');
  await tellParent({ started });
  if (process.env.NOTIFY_SOCKET === undefined) return;
  // Runs a tool of systemd, since Node cannot send to AF_UNIX datagram sockets.
  await promisify(execFile)('systemd-notify', ['--ready', `--pid=${process.pid}`]);
}
