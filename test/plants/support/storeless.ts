/** The service without a store: what `WORKERS` does needs none. */
import { setImmediate as turn } from 'node:timers/promises';
import { serve } from 'spec-first-server';
import { errorBody } from '../../../src/errors.ts';
import { plantHandlers } from '../../../src/plants.ts';

const store = {
  location: 'nowhere',
  add: () => turn(),
  ready: async () => {},
  waiting: () => 0,
  stats: () => ({}),
  close: async () => {},
};
await serve({ open: () => ({ handlers: plantHandlers(store) }), errorBody });
