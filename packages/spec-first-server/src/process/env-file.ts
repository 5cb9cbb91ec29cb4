import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError } from './configuration.ts';

const ENV_FILE = '.env';

/**
 * Sets each variable of a file `.env` in the working directory that the environment does not have yet. Does nothing
 * without such a file.
 *
 * @throws {ConfigError} if it cannot be read.
 */
export function loadEnvFile(): void {
  for (const [name, value] of Object.entries(parseEnv(readEnvFile()))) process.env[name] ??= value;
}

function readEnvFile(): string {
  try {
    // Some editors begin a file with a byte order mark, which would become a part of the first name.
    return readFileSync(ENV_FILE, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = Error.isError(error) && 'code' in error ? error.code : error;
    if (code === 'ENOENT') return '';
    throw new ConfigError(`${ENV_FILE} cannot be read (${code})`, { cause: error });
  }
}
