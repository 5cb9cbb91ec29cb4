import cluster from 'node:cluster';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { destination, type Logger, pino } from 'pino';
import { Unavailable } from '../response/http-error.ts';
import type { Config } from './configuration.ts';

/**
 * An error for the log, without its other properties, in which drivers quote the data they were given.
 *
 * @param withStack include a stack; omitted for expected errors and their causes.
 */
function describe(error: unknown, withStack = true): unknown {
  if (!(error instanceof Error)) return String(error);
  const unexpected = withStack && !(error instanceof Unavailable || 'status' in error);
  const code: unknown = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    stack: unexpected ? error.stack : undefined,
    cause: error.cause === undefined ? undefined : describe(error.cause, unexpected),
  };
}

/** Bytes that are written to a pipe at once, so that the lines of several workers do not mix (POSIX `PIPE_BUF`). */
const PIPE_BUF = 4096;

/** Bytes that are written at once by one process: a write for every 15 requests would take 1 µs of each. */
const LARGE = 32 * 1024;

/** How long a line waits for others. Milliseconds. */
const LONGEST_WAIT = 500;

/** Bytes of lines that may wait while standard output accepts none: its disk is full, or nobody reads it. */
const MOST_WAITING = 1024 * 1024;

/** How long the end of the process waits for the last lines to be written. Milliseconds. */
const LAST_LINES = 1000;

/** Writes all JSON lines so far. Resolves once they are written, or cannot be. */
let flush: (() => Promise<void>) | undefined;

let now = 0;
let written = '';

/** The time as ISO 8601, formatted once for each millisecond. */
function timestamp(): string {
  const time = Date.now();
  if (time !== now) {
    now = time;
    written = `,"time":"${new Date(time).toISOString()}"`;
  }
  return written;
}

/** A line of the log that may list places of the document. */
interface LocationsLine {
  readonly msg?: string;
  readonly locations?: readonly string[];
}

/**
 * A log of JSON lines on standard output; of lines for people on a terminal, if pino-pretty is installed. It never
 * blocks the process: lines that cannot be written wait, and are dropped at a limit. A later line says how many.
 */
export async function createLog(level: Config['LOG_LEVEL']): Promise<Logger> {
  const options = { level, base: undefined, serializers: { err: (error: unknown) => describe(error) }, timestamp };
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  if (pretty !== undefined) {
    const colorize = process.stdout.hasColors();
    const ignore = 'requestId,locations';
    const messageFormat = ({ msg, locations = [] }: LocationsLine) => [msg, ...locations].join('\n  ');
    return pino(options, pretty.default({ ignore, messageFormat, sync: true, singleLine: true, colorize }));
  }
  const most = cluster.isWorker ? PIPE_BUF : LARGE;
  const out = destination({ fd: 1, sync: false, maxLength: MOST_WAITING, maxWrite: most });
  // pino calls it at the exit. It would block the process.
  out.flushSync = () => undefined;
  // The lines stay, and are written with the next ones.
  out.on('error', () => undefined);
  // Lines gather as bytes: `out` would copy all that waits to count it, for each line anew.
  const lines = Buffer.allocUnsafeSlow(most);
  let size = 0;
  const pass = (): void => {
    out.write(lines.toString('utf8', 0, size));
    size = 0;
  };
  setInterval(pass, LONGEST_WAIT).unref();
  flush = async () => {
    do {
      await new Promise((resolve) => {
        out.once('drain', () => resolve(undefined)).once('error', resolve);
        pass();
      });
    } while (size > 0);
  };
  const log = pino(options, {
    write(line) {
      const room = 3 * line.length;
      if (size + room > most) pass();
      if (room > most) out.write(line);
      else size += lines.write(line, size);
    },
  });
  let lost = 0;
  out.on('drop', (dropped: string) => {
    lost += dropped.split('\n').length - 1;
  });
  out.on('drain', () => {
    if (lost > 0) log.warn({ lines: lost }, 'lines of this log were lost: standard output accepted none');
    lost = 0;
  });
  return log;
}

/** Ends the process when the log is written; after {@link LAST_LINES} by SIGKILL, if nobody reads it. */
export async function endProcess(code: number): Promise<void> {
  // Lines for people pass through streams.
  await immediate();
  if (await Promise.race([flush?.(), delay(LAST_LINES, true)])) {
    // SIGKILL skips the listeners of the exit.
    process.emit('exit', code);
    // At its exit Node would wait for the thread that waits for a reader.
    process.kill(process.pid, 'SIGKILL');
  }
  process.exit(code);
}
