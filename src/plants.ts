import type { defaults, operations, security } from '../generated/openapi.ts';
import { type Config, ConfigError } from './config.ts';
import { Failure } from './failure.ts';
import { implement } from './operations.ts';
import type { Backend } from './service.ts';
import { openStore, placeOf } from './stores/index.ts';
import { type PlantStore, StoreRefused, StoreUnavailable, Unstorable } from './stores/store.ts';

/** The document's operations, as the generated types have them. */
export interface PlantContract {
  operations: operations;
  security: security;
  defaults: defaults;
}

/** A handler for each operation of the document. */
const plantHandlers = (store: PlantStore) =>
  implement<PlantContract>({
    async createPlant({ body: { id, name, tag } }) {
      const outcome = await store.add({ id: BigInt(id), name, tag }).catch(refuse);
      if (outcome === 'conflict') {
        const message = `/body/id is taken: plant ${id} exists with another name or tag`;
        return { status: 400, reason: 'the id is taken', body: { error: 409, message } };
      }
      return { status: 200, body: { name, tag } };
    },
  });

/**
 * Opens the store of plants, and what answers with it.
 *
 * @param onBatch told how many plants shared a commit.
 * @throws {ConfigError} if DATABASE_URL names no store that can be opened.
 */
export async function openPlants(
  { databaseUrl, maxWaiting }: Config,
  onBatch: ((plants: number) => void) | undefined,
): Promise<Backend> {
  const store = await openStore(databaseUrl, { maxWaiting, onBatch }).catch((error: unknown) => {
    throw error instanceof StoreRefused ? new ConfigError(`DATABASE_URL: ${error.message}`, { cause: error }) : error;
  });
  return plantBackend(store, await placeOf(databaseUrl));
}

/** What answers with an open store, and closes it. */
export const plantBackend = (store: PlantStore, place: string): Backend => ({
  handlers: plantHandlers(store),
  place,
  ready: () => store.ready().catch(refuse),
  waiting: () => store.stats().waiting,
  close: () => store.close(),
});

/** What a client learns of an error of the store. @throws {unknown} that, or the error if it is none of the store's. */
function refuse(error: unknown): never {
  if (error instanceof Unstorable) throw new Failure(400, error.message, { cause: error.cause });
  if (!(error instanceof StoreUnavailable)) throw error;
  const headers = { 'Retry-After': error.retryAfter };
  throw new Failure(503, 'the store cannot answer now; try again later', { headers, cause: error });
}
