import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Environment } from './configuration.ts';
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
 * Announces that the service listens: to a parent process, and to systemd (`Type=notify`). Then
 * notifies the watchdog of systemd, if the unit has one, as long as the event loop runs.
 *
 * @param onError called if systemd waits for a message that cannot be sent.
 */
export async function announce(started: Started, onError: (error: unknown) => void): Promise<void> {
  await tellParent('ready');
  await tellParent({ started });
  if (process.env.NOTIFY_SOCKET === undefined) return;
  // Runs a tool of systemd, since Node cannot send to AF_UNIX datagram sockets.
  const notify = (...args: readonly string[]) =>
    promisify(execFile)('systemd-notify', args).catch(onError);
  await notify('--ready', `--pid=${process.pid}`);
  const interval = watchdogInterval(process.env);
  if (interval !== undefined) setInterval(() => void notify('WATCHDOG=1'), interval).unref();
}

/**
 * Returns half of the time after which systemd would restart this process, in milliseconds, as
 * sd_watchdog_enabled(3) recommends; `undefined` without a watchdog for this process.
 */
export function watchdogInterval({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid = process.pid) {
  const isOther = WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(pid);
  return WATCHDOG_USEC === undefined || isOther ? undefined : Number(WATCHDOG_USEC) / 2_000;
}
