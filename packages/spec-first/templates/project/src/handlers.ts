import type { Handlers } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. `npm run stub -- --all` adds the missing ones.
 *
 * When each operation has a handler, replace `Partial<Handlers>` with `Handlers`: then the compiler
 * reports operations without one.
 */
export const handlers = {} satisfies Partial<Handlers>;
