/** Runs the service with a store that keeps nothing. */
import { serve } from 'spec-first-server';
import { errorBody } from '../../../src/errors.ts';
import { plantHandlers } from '../../../src/plants.ts';

const store = {
  location: 'nowhere',
  add: async () => {},
  ready: async () => {},
  stats: () => ({}),
  close: async () => {},
};
await serve({ open: () => ({ handlers: plantHandlers(store) }), errorBody });
