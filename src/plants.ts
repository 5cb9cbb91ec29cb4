import { Unusable } from 'group-commit';
import { type Backend, ConfigError, type OpenContext, type ValuesOf } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';
import { openStore } from './stores/index.ts';
import type { PlantStore } from './stores/store.ts';

/** The plant store's own environment variables. */
export const variables = {
  DATABASE_URL: {
    default: 'sqlite:data/plants.db',
    description: 'sqlite:FILE, sqlite::memory: or postgres://…',
    parse: (url: string) => url,
  },
  MAX_WAITING: {
    default: '1000',
    description: 'requests that may wait for the store before others are answered 503',
    parse(text: string): number {
      const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
      if (count < 1 || count > 1_000_000) throw new Error('an integer from 1 to 1000000');
      return count;
    },
  },
};

/** The handlers of the document's operations. */
export const plantHandlers = (store: PlantStore): Handlers => ({
  async createPlant({ body: { id, name, tag } }: RequestTo<'createPlant'>): Promise<ReplyTo<'createPlant'>> {
    await store.add({ id: BigInt(id), name, tag });
    return { status: 200, body: { name, tag } };
  },
});

/** Opens the store of plants. @throws {ConfigError} if DATABASE_URL names no store that can be opened. */
export async function openPlants(
  { DATABASE_URL: url, MAX_WAITING: maxWaiting }: ValuesOf<typeof variables>,
  { workers, onBatch, warn }: OpenContext,
): Promise<Backend> {
  if (workers > 1 && /^sqlite::memory:$/i.test(url)) {
    throw new ConfigError(
      `WORKERS is ${workers}, but must be 1 with DATABASE_URL=sqlite::memory:, which each process has for itself`,
    );
  }
  const store = await openStore(url, { maxWaiting, onBatch, warn }).catch((error: unknown) => {
    throw error instanceof Unusable ? new ConfigError(`DATABASE_URL: ${error.message}`, { cause: error }) : error;
  });
  return plantBackend(store);
}

/** The handlers over an open store. */
export const plantBackend = (store: PlantStore): Backend => ({ ...store, handlers: plantHandlers(store) });
