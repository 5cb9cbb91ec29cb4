import { isatty } from 'node:tty';
import { destination, type Logger, pino } from 'pino';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** What the log says of an error: never its other properties, in which drivers quote the data they were given. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' && { code }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describe(error.cause) }),
  };
}

/** Bytes that go into a pipe at once, so that the lines of several workers do not mix (POSIX `PIPE_BUF`). */
const PIPE_BUF = 4096;

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

/** A log of JSON lines on standard output, or of lines for people where that is a terminal (and pino-pretty is there). */
export async function createLog(level: LogLevel): Promise<Logger> {
  const options = { level, base: undefined, serializers: { err: describe }, timestamp };
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  if (pretty !== undefined) {
    const colorize = process.stdout.hasColors();
    return pino(options, pretty.default({ ignore: 'requestId', sync: true, singleLine: true, colorize }));
  }
  // Lines gather until one more might not fit.
  const gather = { minLength: PIPE_BUF - 512, maxWrite: PIPE_BUF, periodicFlush: 500 };
  return pino(options, destination({ fd: 1, sync: false, ...gather }));
}
