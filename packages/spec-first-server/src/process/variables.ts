import { type Environment, wrongValue } from './environment.ts';

/** An environment variable. */
export interface Variable<Value> {
  /** What `parse` reads when the variable is not set or is empty. */
  readonly default: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Reads a text without spaces around it. @throws {Error} whose message completes the sentence "… but must be". */
  readonly parse: (text: string) => Value;
}

/** Variables by name. */
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

/** Parses an empty text to `undefined`. */
export const optional =
  <T>(parse: (text: string) => T) =>
  (text: string): T | undefined =>
    text === '' ? undefined : parse(text);

/** Parses decimal digits. */
export const integer = (least: number, most: number) => (text: string) => {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Error(`an integer from ${least} to ${most}`);
};

/** Parses one of several words. */
export const oneOf =
  <T extends string>(...words: readonly T[]) =>
  (text: string): T => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new Error(`one of ${words.join(', ')}`);
    return found;
  };

/** Parses a comma-separated list. */
export const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
