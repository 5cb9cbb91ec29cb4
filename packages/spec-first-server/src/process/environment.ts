import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable has a wrong value, or the file `.env` cannot be read. The message is one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Sets each variable of the file `.env` in the working directory, unless the environment has it. Does nothing without
 * such a file.
 *
 * @throws {ConfigError} if the file cannot be read.
 */
export function loadEnvFile(): void {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    const text = readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
    for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
  } catch (error) {
    const { code } = Object(error);
    if (code !== 'ENOENT') throw new ConfigError(`.env cannot be read (${code})`, { cause: error });
  }
}

/** The error for a wrong value. @param right completes the sentence "… but must be". */
export function wrongValue(name: string, value: string, right: string, cause?: unknown): ConfigError {
  // A value with an @ may hold a password.
  const shown = value.includes('@') ? '(not shown)' : JSON.stringify(value);
  return new ConfigError(`${name} is ${shown}, but must be ${right}`, { cause });
}

export interface Variable<Value> {
  /** What `parse` reads when the variable is not set or is empty. */
  readonly default: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Reads a text without spaces around it. @throws {Error} whose message completes the sentence "… but must be". */
  readonly parse: (text: string) => Value;
}

export const variable = <Value>(
  preset: string,
  description: string,
  parse: (text: string) => Value,
): Variable<Value> => ({ default: preset, description, parse });

export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of variables, by the same names. */
export type ValuesOf<V extends Variables> = { readonly [Name in keyof V]: ReturnType<V[Name]['parse']> };

/** Reads variables from the environment. @throws {ConfigError} if `parse` rejects a value. */
export function readVariables<V extends Variables>(variables: V, env: Environment): ValuesOf<V> {
  const values = Object.entries(variables).map(([name, { default: preset, parse }]) => {
    const text = env[name]?.trim() || preset;
    try {
      return [name, parse(text)] as const;
    } catch (error) {
      throw wrongValue(name, text, error instanceof Error ? error.message : String(error), error);
    }
  });
  return Object.fromEntries(values) as ValuesOf<V>;
}

export const optional =
  <T>(parse: (text: string) => T) =>
  (text: string): T | undefined =>
    text === '' ? undefined : parse(text);

export const integer = (least: number, most: number) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Error(`an integer from ${least} to ${most}`);
};

export const oneOf =
  <T extends string>(...words: readonly T[]) =>
  (text: string): T => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new Error(`one of ${words.join(', ')}`);
    return found;
  };

export const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

/** Throws Node's error for an address that cannot be listened on, in words. @param portName the port's variable */
export const rejectAddress =
  (portName: string) =>
  (error: unknown): never => {
    const { code, address, hostname, port } = Object(error);
    if (typeof code !== 'string') throw error;
    const why = code === 'EADDRINUSE' ? 'is taken by another process: stop that one, or' : `cannot be used (${code}):`;
    const place = [address ?? hostname, port].filter(Boolean).join(' port ');
    const right = `set ${portName} to another port, or HOST to another address`;
    throw new ConfigError(`${place} ${why} ${right}`, { cause: error });
  };
