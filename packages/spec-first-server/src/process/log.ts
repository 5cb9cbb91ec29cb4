import cluster from 'node:cluster';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { destination, type Logger, type LoggerOptions, pino } from 'pino';
import sonic from 'sonic-boom';
import type { Config } from './configuration.ts';
import { versions } from './versions.ts';

/** Lines gather up to this length: a write for each costs more than the line. Characters. */
const GATHERED = 32 * 1024;

/** How long a line waits for others. Milliseconds. */
const LONGEST_WAIT = 500;

/** Bytes of one write. One write is under way at a time: it must take all that a turn of the event loop logs. */
const LARGEST_WRITE = 1024 * 1024;

/** Bytes of lines that may wait while nothing takes them: the disk is full, or nobody reads standard output. */
const MOST_WAITING = 16 * 1024 * 1024;

/** How long the end of the process waits for the last lines to be written. Milliseconds. */
const LAST_LINES = 1000;

let output: ReturnType<typeof createOutput> | undefined;
let allLost = 0;

export const lostLines = (): number => allLost;

/**
 * Standard output.
 *
 * @param onLost called with the number of lines that were dropped since the last call, once lines are accepted again.
 */
function createOutput(onLost: (lines: number) => void) {
  const out = new sonic.SonicBoom({ fd: 1, minLength: 1, maxLength: MOST_WAITING, maxWrite: LARGEST_WRITE });
  let lines = '';
  let lost = 0;
  out.on('drop', (dropped: string) => {
    const count = dropped.split('\n').length - 1;
    lost += count;
    allLost += count;
  });
  out.on('drain', () => {
    if (lost > 0) onLost(lost);
    lost = 0;
  });
  // The lines stay, and are written with the next ones.
  out.on('error', () => undefined);

  const pass = (): void => {
    if (lines !== '') out.write(lines);
    lines = '';
  };
  setInterval(pass, LONGEST_WAIT).unref();
  const flush = (callback: () => void): void => {
    pass();
    out.flush(() => (lines === '' ? callback() : flush(callback)));
  };
  return {
    write(line: string): void {
      lines += line;
      if (lines.length > GATHERED) pass();
    },
    /** Writes all lines so far. Calls back once they are written, or cannot be. */
    flush,
  };
}

/**
 * An error for the log, without its other properties, in which drivers quote the data they were given.
 *
 * @param withStack include a stack; omitted for expected errors and their causes.
 */
function describe(error: unknown, withStack = true): unknown {
  if (!(error instanceof Error)) return String(error);
  const unexpected = withStack && !('status' in error);
  const code: unknown = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    stack: unexpected ? error.stack : undefined,
    cause: error.cause === undefined ? undefined : describe(error.cause, unexpected),
  };
}

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

/**
 * A log of JSON lines on standard output; of lines for people on a terminal, if pino-pretty is installed. It never
 * blocks the process: lines that cannot be written wait, and are dropped at a limit. A later line says how many.
 * `writeLine` takes lines of other processes.
 */
export async function createLog(level: Config['LOG_LEVEL']) {
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  const colorize = pretty && process.stdout.hasColors();
  const forPeople = pretty?.default({ ignore: IGNORED, messageFormat, sync: true, singleLine: true, colorize });
  const onLost = (lines: number) => log.warn({ lines }, 'lines of this log were lost: standard output was too slow');
  output = forPeople ? undefined : createOutput(onLost);
  const stream = forPeople ?? output;
  const log: Logger = pino(options(level), stream);
  return { log, writeLine: (line: string): unknown => stream?.write(line) };
}

const IGNORED = 'service,version,pid,worker,requestId,locations';
const messageFormat = ({ msg, locations = [] }: { readonly msg?: string; readonly locations?: readonly string[] }) =>
  [msg, ...locations].join('\n  ');

/** Logs an error at the start on standard error, at once. */
export const logStartError = (reason: string): void =>
  pino(options('fatal'), destination({ fd: 2, sync: true })).fatal({ reason }, 'the service cannot start');

const options = (level: Config['LOG_LEVEL']): LoggerOptions => ({
  level,
  base: {
    service: versions.service || undefined,
    version: versions.version || undefined,
    pid: process.pid,
    worker: cluster.worker?.id,
  },
  serializers: { err: (error: unknown) => describe(error) },
  timestamp,
});

/** Ends the process when the log is written; after {@link LAST_LINES} by SIGKILL, if nobody reads it. */
export async function endProcess(code: number): Promise<void> {
  // Lines for people pass through streams.
  await immediate();
  const flushed = new Promise<true>((resolve) => (output ? output.flush(() => resolve(true)) : resolve(true)));
  if (await Promise.race([flushed, delay(LAST_LINES, false)])) process.exit(code);
  // process.exit() would wait for the thread that waits for a reader.
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  process.kill(process.pid, 'SIGKILL');
}
