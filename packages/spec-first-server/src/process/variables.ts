import { ConfigError, type Environment } from './configuration.ts';

/** An environment variable that a project declares for itself. */
export interface Variable<Value> {
  /** What `parse` reads when the variable is not set or is empty. */
  readonly default: string;
  /** One line for `--help`. */
  readonly meaning: string;
  /** Reads a text without spaces around it. @throws {Error} whose message completes the sentence "… must be". */
  readonly parse: (text: string) => Value;
}

/** Variables by their names. */
export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of variables, by the same names. */
export type ValuesOf<V extends Variables> = { readonly [Name in keyof V]: ReturnType<V[Name]['parse']> };

/** Reads variables from the environment. @throws {ConfigError} if `parse` rejects a value. */
export function readVariables<V extends Variables>(variables: V, env: Environment): ValuesOf<V> {
  const values = Object.entries(variables).map(([name, { default: preset, parse }]) => {
    const text = env[name]?.trim() || preset;
    try {
      return [name, parse(text)] as const;
    } catch (cause) {
      // A value with an @ may hold a password.
      const shown = text.includes('@') ? '(not shown)' : JSON.stringify(text);
      const right = cause instanceof Error ? cause.message : String(cause);
      throw new ConfigError(`${name} is ${shown}, but must be ${right}`, { cause });
    }
  });
  return Object.fromEntries(values) as ValuesOf<V>;
}
