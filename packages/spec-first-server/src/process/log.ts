import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { destination, type Logger, pino } from 'pino';
import { HttpError, Unavailable } from '../response/http-error.ts';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * What the log says of an error: never its other properties, in which drivers quote the data they were given.
 *
 * @param traced whether the place in the code matters: it does not of what is expected to happen.
 */
function describe(error: unknown, traced = true): unknown {
  if (!(error instanceof Error)) return String(error);
  const expected = !traced || error instanceof Unavailable;
  const code: unknown = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(!expected && !(error instanceof HttpError) && { stack: error.stack }),
    ...(error.cause !== undefined && { cause: describe(error.cause, !expected) }),
  };
}

/** Bytes that go into a pipe at once, so that the lines of several workers do not mix (POSIX `PIPE_BUF`). */
const PIPE_BUF = 4096;

/** Bytes of lines that may wait while standard output takes none: its disk is full, or nobody reads it. */
const MOST_WAITING = 1024 * 1024;

/** How long the end of the process waits for the last lines to be written. Milliseconds. */
const LAST_LINES = 1000;

/** Where the lines for programs go. */
let out: ReturnType<typeof destination> | undefined;

let now = 0;
let written = '';

/** The time as ISO 8601, written once for each millisecond. */
function timestamp(): string {
  const time = Date.now();
  if (time !== now) {
    now = time;
    written = `,"time":"${new Date(time).toISOString()}"`;
  }
  return written;
}

/**
 * A log of JSON lines on standard output, or of lines for people where that is a terminal (and pino-pretty is there).
 * Standard output that takes no JSON lines holds nothing up: they wait, and then are lost, which a later line says.
 */
export async function createLog(level: LogLevel): Promise<Logger> {
  const options = { level, base: undefined, serializers: { err: (error: unknown) => describe(error) }, timestamp };
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  if (pretty !== undefined) {
    const colorize = process.stdout.hasColors();
    return pino(options, pretty.default({ ignore: 'requestId', sync: true, singleLine: true, colorize }));
  }
  // Lines gather until one more might not fit.
  const gather = { minLength: PIPE_BUF - 512, maxWrite: PIPE_BUF, periodicFlush: 500 };
  out = destination({ fd: 1, sync: false, maxLength: MOST_WAITING, ...gather });
  // Called by pino after a fatal line and when the process exits. It would block the process for as long as it takes.
  out.flushSync = () => undefined;
  // The lines stay, and are tried again with the next ones.
  out.on('error', () => undefined);
  const log = pino(options, out);
  let lost = 0;
  out.on('drop', () => {
    lost += 1;
  });
  out.on('drain', () => {
    if (lost > 0) log.warn({ lines: lost }, 'lines of this log were lost: standard output took none');
    lost = 0;
  });
  return log;
}

/** Ends the process once the log is written, or after {@link LAST_LINES} if nobody reads it: then by SIGKILL. */
export async function endProcess(code: number): Promise<void> {
  // Lines for people pass through streams.
  await immediate();
  if (out !== undefined && !(await Promise.race([flushed(out), delay(LAST_LINES, false)]))) {
    // SIGKILL skips what others do at the exit.
    process.emit('exit', code);
    // Node would wait at its exit for the thread that waits for a reader.
    process.kill(process.pid, 'SIGKILL');
  }
  process.exit(code);
}

/** Resolves once all lines so far are written, or cannot be. */
async function flushed(stream: NonNullable<typeof out>): Promise<true> {
  // What a write that is under way leaves over is written by the second flush.
  for (let flushes = 0; flushes < 2; flushes += 1) {
    await new Promise((resolve) => {
      stream.once('drain', () => resolve(undefined)).once('error', resolve);
      stream.flush();
    });
  }
  return true;
}
