import type { defaults, operations, security } from '../generated/openapi.ts';
import { implement } from './operations.ts';
import type { PlantStore } from './stores/store.ts';

/** The document's operations, as the generated types have them. */
export interface PlantContract {
  operations: operations;
  security: security;
  defaults: defaults;
}

/** A handler for each operation of the document. */
export const plantHandlers = (store: PlantStore) =>
  implement<PlantContract>({
    async createPlant({ body: { id, name, tag } }) {
      const outcome = await store.add({ id: BigInt(id), name, tag });
      if (outcome === 'conflict') {
        const message = `/body/id is taken: plant ${id} exists with another name or tag`;
        return { status: 400, body: { error: 409, message } };
      }
      return { status: 200, body: { name, tag } };
    },
  });
