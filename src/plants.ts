import { readFileSync } from 'node:fs';
import { Unusable } from 'group-commit';
import { type Backend, ConfigError, type OpenContext, type ValuesOf } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';
import { passwordFrom } from './password.ts';
import { openStore } from './stores/index.ts';
import type { PlantStore } from './stores/store.ts';

/** The environment variables of the plant store, in addition to those of the server. */
export const variables = {
  DATABASE_URL: {
    default: 'sqlite:data/plants.db',
    description: 'sqlite:FILE, sqlite::memory: or postgres://…',
    parse: (url: string) => url,
  },
  DATABASE_URL_FILE: {
    default: '',
    description: 'a file that contains the URL; overrides DATABASE_URL',
    parse: readSecret,
  },
  DATABASE_PASSWORD_FILE: {
    default: '',
    description: 'a file that contains the password of PostgreSQL, read for each new connection',
    parse: (path: string) => path,
  },
  DATABASE_PASSWORD_COMMAND: {
    default: '',
    description: 'a command that prints the password of PostgreSQL, run for each new connection',
    parse: (command: string) => command,
  },
  MAX_WAITING: {
    default: '1000',
    description: 'the maximum number of requests that wait for the store; others get 503',
    parse(text: string): number {
      const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
      if (count < 1 || count > 1_000_000) throw new Error('an integer from 1 to 1000000');
      return count;
    },
  },
  SQLITE_CHECK_HOURS: {
    default: '0',
    description: 'the hours between two checks of the SQLite file for damage; 0 for none',
    parse(text: string): number {
      if (!/^\d{1,3}$/.test(text) || Number(text) > 500)
        throw new Error('an integer from 0 to 500');
      return Number(text);
    },
  },
};

function readSecret(path: string): string {
  try {
    return path && readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`a readable file (${Object(error).code})`, { cause: error });
  }
}

export const plantHandlers = (store: PlantStore): Handlers => ({
  async createPlant({
    body: { id, name, tag },
  }: RequestTo<'createPlant'>): Promise<ReplyTo<'createPlant'>> {
    await store.add({ id: BigInt(id), name, tag });
    return { status: 200, body: { name, tag } };
  },
});

/**
 * Opens the store of plants.
 *
 * @throws {ConfigError} if a variable or the database is wrong.
 */
export async function openPlants(
  values: ValuesOf<typeof variables>,
  context: OpenContext,
): Promise<Backend> {
  checkPassword(values);
  const { name, url } = databaseUrl(values);
  const password = passwordFrom(values.DATABASE_PASSWORD_FILE, values.DATABASE_PASSWORD_COMMAND);
  const checkMs = values.SQLITE_CHECK_HOURS * 3_600_000 || undefined;
  const options = { maxWaiting: values.MAX_WAITING, password, checkMs, ...context };
  const store = await openStore(url, options).catch((error: unknown) => {
    throw error instanceof Unusable
      ? new ConfigError(`${name}: ${error.message}`, { cause: error })
      : error;
  });
  return plantBackend(store);
}

export function databaseUrl(values: ValuesOf<typeof variables>) {
  return values.DATABASE_URL_FILE
    ? { name: 'DATABASE_URL_FILE', url: values.DATABASE_URL_FILE }
    : { name: 'DATABASE_URL', url: values.DATABASE_URL };
}

/** @throws {ConfigError} if a source of the password would have no effect. */
function checkPassword(values: ValuesOf<typeof variables>): void {
  const sources = (['DATABASE_PASSWORD_FILE', 'DATABASE_PASSWORD_COMMAND'] as const).filter(
    (source) => values[source],
  );
  if (sources.length > 1) throw new ConfigError(`${sources.join(' and ')} must not both be set`);
  const { name, url } = databaseUrl(values);
  if (sources.length > 0 && /^sqlite:/i.test(url))
    throw new ConfigError(`${name} must name a PostgreSQL database if ${sources[0]} is set`);
}

export const plantBackend = (store: PlantStore): Backend => ({
  ...store,
  handlers: plantHandlers(store),
});
