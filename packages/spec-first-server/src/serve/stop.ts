import cluster from 'node:cluster';
import { once } from 'node:events';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { isShownByParent } from './announce.ts';
import { endProcess } from './log.ts';
import type { RunningService } from './start-service.ts';

/** The time limit of a stop beyond `DRAIN_SECONDS`, in milliseconds. */
export const STOP_LIMIT = 20_000;

/**
 * Signals within this time count as one, in milliseconds. A terminal sends Ctrl-C to npm and to its
 * child, and npm passes it on.
 */
const SAME_SIGNAL = 1_000;

/** The interval between two checks that npm still runs, in milliseconds. */
const PARENT_CHECK = 500;

/** The reason of a stop by the primary of `node:cluster`. */
const DISCONNECT = 'disconnect';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const;

interface SignalHandlers {
  stop(reason: string): void;
  reload(): void;
}

/**
 * Handles signals. Until the returned function is called, a signal to stop ends the process
 * immediately. SIGHUP is deferred.
 */
export function handleSignals(): (handlers: SignalHandlers) => void {
  const startedInTerminal = hasTerminal();
  const running = Promise.withResolvers<SignalHandlers>();
  let stop = (_reason: string): void => process.exit(0);
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));
  process.on('SIGHUP', () => {
    if (startedInTerminal && !hasTerminal()) stop('the terminal was closed');
    else void running.promise.then((handlers) => handlers.reload());
  });
  // The primary of node:cluster stops its worker by `worker.disconnect()`.
  if (cluster.isWorker) process.once('disconnect', () => stop(DISCONNECT));
  stopWithNpm(() => stop('npm has ended'));
  return (handlers) => {
    stop = handlers.stop;
    running.resolve(handlers);
  };
}

/** True if the standard input, output or errors are a terminal: two of them may be redirected. */
const hasTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

/** Calls `stop` when npm, which started this process through a shell, has ended. */
export function stopWithNpm(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_CHECK).unref();
}

export function stopper(
  service: RunningService,
  log: Logger,
  drainSeconds: number,
): (reason: string) => Promise<void> {
  const limit = drainSeconds * 1000 + STOP_LIMIT;
  const level = isShownByParent ? 'debug' : 'info';
  let stoppedAt: number | undefined;
  return async (reason) => {
    if (stoppedAt !== undefined) {
      if (reason === DISCONNECT || performance.now() - stoppedAt < SAME_SIGNAL) return;
      log.warn({ reason }, 'a second signal: aborting in-flight requests');
      return endProcess(1, log);
    }
    stoppedAt = performance.now();
    log[level]({ reason, drainSeconds }, 'stopping');
    setTimeout(() => {
      log.fatal(`the stop took longer than ${limit / 1000} s: aborting in-flight requests`);
      void endProcess(1, log);
    }, limit);
    try {
      await service.stop();
      await leaveCluster();
    } catch (error) {
      log.fatal({ err: error }, 'the stop failed');
      return endProcess(1, log);
    }
    log[level]('stopped');
    return endProcess(0, log);
  };
}

/**
 * Resolves when the primary of `node:cluster` sends no more connections to this worker. Until then,
 * the primary takes back connections that this worker does not accept, and gives them to another
 * worker. They would be lost if this process ended first.
 */
async function leaveCluster(): Promise<void> {
  const { worker } = cluster;
  if (!worker?.isConnected()) return;
  const disconnected = once(worker, 'disconnect');
  worker.disconnect();
  await disconnected;
}
