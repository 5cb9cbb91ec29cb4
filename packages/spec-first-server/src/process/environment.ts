import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable has a wrong value, or the file `.env` cannot be read. The message is one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The variables whose values are those of the file `.env`. */
const fromFile = new Set<string>();

/**
 * Sets each variable of the file `.env` in the working directory, unless the environment has it. Does nothing without
 * such a file.
 *
 * @throws {ConfigError} if the file cannot be read.
 */
export function loadEnvFile(): void {
  for (const [name, value] of Object.entries(parseEnv(readEnvFile()))) {
    process.env[name] ??= value;
    // A parent process may have set it from the same file.
    if (process.env[name] === value) fromFile.add(name);
  }
}

function readEnvFile(): string {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = Error.isError(error) && 'code' in error ? error.code : error;
    if (code === 'ENOENT') return '';
    throw new ConfigError(`.env cannot be read (${code})`, { cause: error });
  }
}

/** The error for a wrong value. @param right completes the sentence "… but must be". */
export function wrongValue(name: string, value: string, right: string, cause?: unknown): ConfigError {
  // A value with an @ may hold a password.
  const shown = value.includes('@') ? '(not shown)' : JSON.stringify(value);
  return new ConfigError(`${name} is ${shown}, but must be ${right}`, { cause });
}

/** Says in a message that begins with the name of a variable if the variable is set in `.env`. */
export const namingEnvFile = (message: string): string =>
  message.replace(/^[A-Z_]+(?=:? (?!in ))/, (name) => (fromFile.has(name) ? `${name} in .env` : name));
