import { readFileSync, writeSync } from 'node:fs';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { isatty } from 'node:tty';
import manifest from '../../package.json' with { type: 'json' };
import { jsonLog, type LogLevel, type ServiceLog } from './json-log.ts';
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

/** The members of all lines. A private package may have no version. */
const SOURCE = {
  service: service || undefined,
  version: version || undefined,
  pid: process.pid,
};

/**
 * Creates a log of JSON lines on standard output, or of readable lines if standard output is a
 * terminal and pino-pretty is installed. JSON lines never block the process: lines that cannot be
 * written are buffered, and dropped beyond a limit.
 */
export async function createLog(level: LogLevel) {
  const pretty = isatty(1) ? await import('pino-pretty').catch(() => undefined) : undefined;
  const colorize = pretty && process.stdout.hasColors();
  const readable = pretty?.default({
    ignore: IGNORED,
    messageFormat,
    sync: true,
    singleLine: true,
    colorize,
  });
  if (readable !== undefined) {
    return { log: jsonLog(readable, level, SOURCE), lostLines: () => 0 };
  }
  const output = createOutput((lines) =>
    log.warn({ lines }, 'log lines were lost: standard output was too slow'),
  );
  const log: ServiceLog = jsonLog(output, level, SOURCE);
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

export function logStartError(reason: string): void {
  const output = { write: (line: string) => writeSync(2, line) };
  jsonLog(output, 'fatal', SOURCE).fatal({ reason }, 'the service cannot start');
}

/** Ends the process when the log is written, or after {@link FLUSH_LIMIT}. */
export async function endProcess(code: 0 | 1, log?: ServiceLog): Promise<void> {
  // Readable lines pass through streams, which need another round of the event loop.
  await immediate();
  const flushed = new Promise<void>((resolve) => {
    if (log === undefined) resolve();
    else log.flush(() => resolve());
  });
  await Promise.race([flushed, delay(FLUSH_LIMIT)]);
  process.exit(code);
}
