import type { Handlers } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. `npm run stub -- --all` adds the missing ones.
 *
 * Once each operation has one, replace `Partial<Handlers>` by `Handlers`: then the compiler
 * reports operations without a handler.
 */
export const handlers = {} satisfies Partial<Handlers>;
