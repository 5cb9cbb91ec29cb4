import type { Handlers } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. `npm run stub -- --all` adds those that are
 * missing.
 *
 * When none is missing, write `satisfies Handlers`: then the compiler reports each operation that
 * has no handler.
 */
export const handlers = {} satisfies Partial<Handlers>;
