import cluster from 'node:cluster';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { endProcess } from './log.ts';
import type { Service } from './service.ts';

/** Beyond `DRAIN_SECONDS`, how long a stop may take. Milliseconds. */
const STOP_LIMIT = 20_000;

/** Signals that come so soon count as one: npm passes on what a terminal sends to both. Milliseconds. */
const SAME_SIGNAL = 1_000;

/** How often a process that npm started looks whether npm is still there. Milliseconds. */
const PARENT_CHECK = 500;

/**
 * Installs signal handlers. A signal to stop ends the process, and a signal to reload is handled later, until the returned
 * function is called with the service and what stops it.
 */
export function handleSignals() {
  const onTerminal = isatty(1);
  const parent = process.ppid;
  const reload = Promise.withResolvers<() => Promise<void>>();
  let stop = (): void => process.exit(0);
  if (cluster.isWorker) {
    // A terminal sends its signals to all processes of a command. The supervisor tells the workers what to do.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  } else {
    process.on('SIGINT', () => stop()).on('SIGTERM', () => stop());
    // A terminal that is closed sends SIGHUP, too.
    process.on('SIGHUP', () => (onTerminal && !isatty(1) ? stop() : reload.promise.then((call) => call())));
    // npm passes on no signal by which it is ended itself.
    if (process.env.npm_lifecycle_event !== undefined) {
      const timer = setInterval(() => {
        if (process.ppid === parent) return;
        clearInterval(timer);
        stop();
      }, PARENT_CHECK).unref();
    }
  }
  return (service: Service, end: () => void): void => {
    stop = end;
    reload.resolve(() => service.reload());
  };
}

/** Makes a function that stops the service and ends the process; when called again a second later, at once. */
export function stopper(service: Service, log: Logger, drainSeconds: number): (quick?: boolean) => Promise<void> {
  const limit = drainSeconds * 1000 + STOP_LIMIT;
  let stoppedAt: number | undefined;
  return async (quick = false) => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt < SAME_SIGNAL) return;
      if (cluster.isPrimary) log.warn('a second signal: aborting in-flight requests');
      return endProcess(1);
    }
    stoppedAt = performance.now();
    if (cluster.isPrimary) log.info({ drainSeconds }, 'stopping');
    setTimeout(() => {
      log.fatal(`the stop took longer than ${limit / 1000} s: aborting in-flight requests`);
      void endProcess(1);
    }, limit);
    try {
      await service.stop(quick);
    } catch (error) {
      log.fatal({ err: error }, 'shutdown failed');
      return endProcess(1);
    }
    if (cluster.isPrimary) log.info('stopped');
    return endProcess(0);
  };
}
