import { format, inspect } from 'node:util';
import { stringifyJson } from 'openapi-document';
import { describeError } from '../core/describe-error.ts';
import type { Log } from '../core/handlers/types.ts';

/** The numbers of the levels, which are those of pino and of the tools that read its lines. */
const LEVELS: Readonly<Record<string, number>> = {
  fatal: 60,
  error: 50,
  warn: 40,
  info: 30,
  debug: 20,
  trace: 10,
  silent: Infinity,
};

/** The log of the process. A logger of pino is one, too. */
export interface ServerLog extends Log {
  fatal(entry: unknown, ...message: readonly unknown[]): void;
  /** Lines of lower levels are not written. */
  level: string;
  isLevelEnabled(level: string): boolean;
  /** Calls back when all lines are written, or cannot be. */
  flush(callback?: () => void): void;
}

/** Takes the lines of a log. */
interface LogSink {
  write(line: string): unknown;
  flush?(callback: () => void): void;
}

/** The state that a log shares with its children. */
interface LogState {
  readonly sink: LogSink;
  level: string;
  minLevel: number;
  /** The time of the last line in milliseconds, and in ISO 8601. */
  time: number;
  timeText: string;
}

/**
 * Writes a line of JSON for each event, with the members `level`, `time`, those of the log, those
 * of the entry, and `msg`.
 */
export class JsonLog implements ServerLog {
  readonly #state: LogState;
  /** The text of the members of each line. */
  readonly #members: string;

  private constructor(state: LogState, members: string) {
    this.#state = state;
    this.#members = members;
  }

  static create(sink: LogSink, level: string, members: object): JsonLog {
    const state = { sink, level, minLevel: numberOf(level), time: NaN, timeText: '' };
    return new JsonLog(state, textOf(members));
  }

  get level(): string {
    return this.#state.level;
  }

  set level(level: string) {
    this.#state.level = level;
    this.#state.minLevel = numberOf(level);
  }

  isLevelEnabled(level: string): boolean {
    return numberOf(level) >= this.#state.minLevel;
  }

  child(members: object): JsonLog {
    return new JsonLog(this.#state, this.#members + textOf(members));
  }

  debug(...line: Line): void {
    this.#write(20, line);
  }

  info(...line: Line): void {
    this.#write(30, line);
  }

  warn(...line: Line): void {
    this.#write(40, line);
  }

  error(...line: Line): void {
    this.#write(50, line);
  }

  fatal(...line: Line): void {
    this.#write(60, line);
  }

  flush(callback: () => void = () => {}): void {
    const { sink } = this.#state;
    if (sink.flush === undefined) callback();
    else sink.flush(callback);
  }

  #write(level: number, [entry, ...message]: Line): void {
    const { minLevel, sink } = this.#state;
    if (level < minLevel) return;
    const hasEntry = typeof entry === 'object' && entry !== null;
    const object = entry instanceof Error ? { err: entry } : entry;
    const members = hasEntry ? textOf(Object(object)) : '';
    const words = hasEntry ? message : [entry, ...message];
    if (words.length === 0 && entry instanceof Error) words.push(entry.message);
    const text = words.length > 1 ? format(...words) : words[0];
    const msg = text === undefined ? '' : `,"msg":${JSON.stringify(String(text))}`;
    const head = `{"level":${level},"time":"${this.#time()}"`;
    sink.write(`${head}${this.#members}${members}${msg}}\n`);
  }

  /** To format the time of each line would take longer than to write the rest of it. */
  #time(): string {
    const state = this.#state;
    const now = Date.now();
    if (now !== state.time) {
      state.time = now;
      state.timeText = new Date(now).toISOString();
    }
    return state.timeText;
  }
}

type Line = readonly [entry: unknown, ...message: readonly unknown[]];

const numberOf = (level: string): number => LEVELS[level] ?? 30;

/** Returns the members of an object as the rest of an object of JSON. */
function textOf(entry: { readonly err?: unknown }): string {
  const { err } = entry;
  const text = jsonOf(err === undefined ? entry : { ...entry, err: describeError(err) });
  return text.length > 2 ? `,${text.slice(1, -1)}` : '';
}

function jsonOf(entry: object): string {
  try {
    const text = String(stringifyJson(entry));
    if (text.startsWith('{')) return text;
  } catch {
    // A circular object, or one whose properties cannot be read.
  }
  return JSON.stringify({ entry: inspect(entry) });
}
