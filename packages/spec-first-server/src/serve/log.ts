import { readFileSync } from 'node:fs';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { destination, type Logger, type LoggerOptions, pino } from 'pino';
import manifest from '../../package.json' with { type: 'json' };
import { describeError } from '../core/describe-error.ts';
import type { Config } from './configuration.ts';
import { createOutput } from './output.ts';

/** The time limit for writing the last lines of the log, in milliseconds. */
export const FLUSH_LIMIT = 2_000;

function readProject(): { readonly name?: string; readonly version?: string } {
  try {
    return JSON.parse(readFileSync('package.json', 'utf8'));
  } catch {
    return {};
  }
}

const { name: service = '', version = '' } = readProject();
const { version: runtime } = manifest;

const { node } = process.versions;

/** `service` and `version` are those of the project, `runtime` is the version of this package. */
export const versions = { service, version, runtime, node };

// A private package may have no version, and a bundle no package.json.
const project = [service, version].filter(Boolean).join(' ');
const libraries = `spec-first-server ${runtime}, Node ${node}`;

/** Text such as `plants 1.0.0 (spec-first-server 1.0.0, Node 26.10.0)`. */
export const versionText = project === '' ? libraries : `${project} (${libraries})`;

/**
 * Creates a log of JSON lines on standard output, or of readable lines if standard output is a
 * terminal and pino-pretty is installed. JSON lines never block the process: lines that cannot be
 * written are buffered, and dropped beyond a limit.
 */
export async function createLog(level: Config['LOG_LEVEL']) {
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  const colorize = pretty && process.stdout.hasColors();
  const readable = pretty?.default({
    ignore: IGNORED,
    messageFormat,
    sync: true,
    singleLine: true,
    colorize,
  });
  if (readable !== undefined) return { log: pino(options(level), readable), lostLines: () => 0 };
  const output = createOutput((lines) =>
    log.warn({ lines }, 'log lines were lost: standard output was too slow'),
  );
  const log: Logger = pino(options(level), output);
  return { log, lostLines: output.lostLines };
}

const IGNORED = 'service,version,pid,requestId,locations';
const messageFormat = ({
  msg,
  locations = [],
}: {
  readonly msg?: string;
  readonly locations?: readonly string[];
}) => [msg, ...locations].join('\n  ');

export const logStartError = (reason: string): void =>
  pino(options('fatal'), destination({ fd: 2, sync: true })).fatal(
    { reason },
    'the service cannot start',
  );

const options = (level: Config['LOG_LEVEL']): LoggerOptions => ({
  level,
  base: {
    service: service || undefined,
    version: version || undefined,
    pid: process.pid,
  },
  serializers: { err: (error: unknown) => describeError(error) },
  timestamp: isoTime(),
});

/** Returns the `timestamp` of pino in the form of RFC 3339, formatted once in a millisecond. */
function isoTime(): () => string {
  let formatted = 0;
  let member = '';
  return () => {
    const now = Date.now();
    if (now !== formatted) {
      formatted = now;
      member = `,"time":"${new Date(now).toISOString()}"`;
    }
    return member;
  };
}

/** Ends the process when the log is written, or after {@link FLUSH_LIMIT}. */
export async function endProcess(code: 0 | 1, log?: Logger): Promise<void> {
  // Readable lines pass through streams, which need another round of the event loop.
  await immediate();
  const flushed = new Promise<void>((resolve) => {
    if (log === undefined) resolve();
    else log.flush(() => resolve());
  });
  await Promise.race([flushed, delay(FLUSH_LIMIT)]);
  process.exit(code);
}
