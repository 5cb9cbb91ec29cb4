import { serve } from 'spec-first-server';
import { errorBody } from '../../../src/errors.ts';
import { openPlants, variables } from '../../../src/plants.ts';

/** Longer than any test. The default time limit of a lock is 5 s. */
const TIMEOUT_MS = 600_000;

await serve({
  open(values, context) {
    // The store passes all options to the database.
    const patient = { ...context, timeout: TIMEOUT_MS };
    return openPlants(values, patient);
  },
  variables,
  errorBody,
});
