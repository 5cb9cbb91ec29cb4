import { serve } from 'spec-first-server';
import { errorBody } from '../../../src/errors.ts';
import { openPlants, variables } from '../../../src/plants.ts';

/** The time limit of a call, longer than any test. The default is 5 s. */
const TIMEOUT_MS = 600_000;

await serve({
  open(values, context) {
    // The store passes all options to the database.
    const options = { ...context, timeout: TIMEOUT_MS };
    return openPlants(values, options);
  },
  variables,
  errorBody,
});
