import type { Handlers } from '../generated/openapi.ts';

/** The handlers of all operations. The compiler reports missing ones without `Partial`. */
export const handlers = {} satisfies Partial<Handlers>;
