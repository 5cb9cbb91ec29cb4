import { inspect } from 'node:util';
import { type Json, mapMembers, stringifyJson } from 'openapi-document';
import { describeError } from '../core/describe-error.ts';
import type { Log, WriteLine } from '../core/handlers/types.ts';

/** The levels of lines, with the numbers that readers of logs expect. */
const LEVELS = { fatal: 60, error: 50, warn: 40, info: 30, debug: 20, trace: 10, silent: 100 };

export type LogLevel = keyof typeof LEVELS;

export const LOG_LEVELS = Object.keys(LEVELS) as readonly LogLevel[];

/** The log of a service. */
export interface ServiceLog extends Log {
  readonly fatal: WriteLine;
  /** Returns a log whose lines also have these members. */
  child(members: object): ServiceLog;
  isLevelEnabled(level: LogLevel): boolean;
  /** Writes the buffered lines. Calls back when they are written, or cannot be. */
  flush(callback?: () => void): void;
}

/** Receives lines of a log. */
export interface LineOutput {
  write(line: string): unknown;
  flush?(callback: () => void): void;
}

/**
 * Creates a log of JSON lines. Members of an entry that JSON cannot represent are written as text.
 *
 * @param members the members of all lines.
 */
export function jsonLog(output: LineOutput, minLevel: LogLevel, members: object): ServiceLog {
  return logWith(output, minLevel, textOf(members), isoTime());
}

/** @param members JSON text, with a comma before each member. */
function logWith(
  output: LineOutput,
  minLevel: LogLevel,
  members: string,
  time: () => string,
): ServiceLog {
  const isLevelEnabled = (level: LogLevel) => LEVELS[level] >= LEVELS[minLevel];

  function writer(level: LogLevel): WriteLine {
    if (!isLevelEnabled(level)) return () => undefined;
    const start = `{"level":${LEVELS[level]},"time":`;
    return (entry, message) => {
      const values = entryOf(entry, message);
      output.write(`${start}${time()}${members}${textOf(values)}}\n`);
    };
  }

  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    fatal: writer('fatal'),
    child: (more) => logWith(output, minLevel, members + textOf(more), time),
    isLevelEnabled,
    flush(callback = () => undefined) {
      if (output.flush === undefined) callback();
      else output.flush(callback);
    },
  };
}

function entryOf(entry: unknown, msg?: string): Json {
  if (typeof entry !== 'object' || entry === null) return { msg: msg ?? String(entry) };
  if (entry instanceof Error) return { err: entry, msg: msg ?? entry.message };
  return { ...entry, msg };
}

/** Returns the members of an object as JSON, with a comma before each. */
function textOf(members: object): string {
  const { err } = members as Json;
  const values: Json = err === undefined ? { ...members } : { ...members, err: describeError(err) };
  let text: string | undefined;
  try {
    text = stringifyJson(values);
  } catch {
    text = stringifyJson(mapMembers(values, readable));
  }
  return text === undefined || text === '{}' ? '' : `,${text.slice(1, -1)}`;
}

/** Returns a value that JSON can represent. */
function readable(value: unknown): unknown {
  try {
    stringifyJson(value);
    return value;
  } catch {
    return inspect(value);
  }
}

/** Returns a function that returns the time in the form of RFC 3339, formatted once in a ms. */
function isoTime(): () => string {
  let formatted = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== formatted) {
      formatted = now;
      text = `"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
