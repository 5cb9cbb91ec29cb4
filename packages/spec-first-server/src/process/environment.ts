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
