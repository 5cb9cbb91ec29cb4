import cluster from 'node:cluster';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { destination, type Logger, type LoggerOptions, pino } from 'pino';
import sonic from 'sonic-boom';
import type { Config } from './configuration.ts';

/** How long the end of the process waits for the last lines to be written. Milliseconds. */
const LAST_LINES = 1000;

/** A package's name and version; empty without a package.json that has them. */
function readPackage(folder: string): { readonly name?: string; readonly version?: string } {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return {};
  }
}

const { name: service = '', version = '' } = readPackage('.');
const { version: runtime = '' } = readPackage(join(import.meta.dirname, '../..'));

/** The versions in use: of the project in the working directory, and of what it runs on. */
export const versions = { service, version, runtime, node: process.versions.node };

/** The text of `--version`, such as `plants 1.0.0 (spec-first-server 1.0.0, Node 26.10.0)`. */
export const versionText = `${service} ${version} (spec-first-server ${runtime}, Node ${versions.node})`;

let output: ReturnType<typeof createOutput> | undefined;

/** How many lines this process has lost. */
export let lostLines = 0;

/**
 * Standard output.
 *
 * @param onLost called with the number of lines that were dropped since the last call, once lines are accepted again.
 */
function createOutput(onLost: (lines: number) => void) {
  const out = new sonic.SonicBoom({
    fd: 1,
    // Texts that gather would be measured again with each line.
    contentMode: 'buffer',
    // Lines gather up to so many bytes or for so many milliseconds: a write for each costs more than the line.
    minLength: 32 * 1024,
    periodicFlush: 500,
    // One write is under way at a time: it must take all that a turn of the event loop logs.
    maxWrite: 1024 * 1024,
    // What may wait while nothing takes it: the disk is full, or nobody reads standard output.
    maxLength: 16 * 1024 * 1024,
  });
  let reported = 0;
  out.on('drop', () => {
    lostLines += 1;
  });
  out.on('drain', () => {
    const lost = lostLines - reported;
    reported = lostLines;
    if (lost > 0) onLost(lost);
  });
  // The lines stay, and are written with the next ones.
  out.on('error', () => undefined);
  return {
    // @ts-expect-error its types know texts only.
    write: (line: string): unknown => out.write(Buffer.from(line)),
    /** Writes all lines so far: those under way, then those that gather. Calls back once they are written, or cannot be. */
    flush: (callback: () => void): void => out.flush(() => out.flush(callback)),
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
  if (time !== now) written = `,"time":"${new Date(time).toISOString()}"`;
  now = time;
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
  base: { service: service || undefined, version: version || undefined, pid: process.pid, worker: cluster.worker?.id },
  serializers: { err: (error: unknown) => describe(error) },
  timestamp: timestamp,
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
