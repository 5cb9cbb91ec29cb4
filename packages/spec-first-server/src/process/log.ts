import cluster from 'node:cluster';
import { isatty } from 'node:tty';
import { destination, type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from './configuration.ts';
import { createOutput } from './output.ts';
import { project } from './versions.ts';

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

/** A line of the log that may list places of the document. */
interface LocationsLine {
  readonly msg?: string;
  readonly locations?: readonly string[];
}

/**
 * A log of JSON lines on standard output; of lines for people on a terminal, if pino-pretty is installed. It never
 * blocks the process: lines that cannot be written wait, and are dropped at a limit. A later line says how many.
 * `writeLine` takes lines of other processes.
 */
export async function createLog(level: Config['LOG_LEVEL']) {
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  const stream =
    pretty === undefined
      ? createOutput((lines) => log.warn({ lines }, 'lines of this log were lost: standard output was too slow'))
      : pretty.default({
          ignore: IGNORED,
          messageFormat,
          sync: true,
          singleLine: true,
          colorize: process.stdout.hasColors(),
        });
  const log: Logger = pino(options(level), stream);
  return { log, writeLine: (line: string): unknown => stream.write(line) };
}

const IGNORED = 'service,version,pid,worker,requestId,locations';
const messageFormat = ({ msg, locations = [] }: LocationsLine) => [msg, ...locations].join('\n  ');

/** Logs an error at the start on standard error, at once. */
export const logStartError = (reason: string): void =>
  pino(options('fatal'), destination({ fd: 2, sync: true })).fatal({ reason }, 'the service cannot start');

const options = (level: Config['LOG_LEVEL']): LoggerOptions => ({
  level,
  base: { service: project.name, version: project.version, pid: process.pid, worker: cluster.worker?.id },
  serializers: { err: (error: unknown) => describe(error) },
  timestamp,
});
