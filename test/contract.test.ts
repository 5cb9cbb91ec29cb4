import { afterAll, test } from '@jest/globals';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { createApp } from 'spec-first-server';
import { readVariables } from '../packages/spec-first-server/src/serve/configuration.ts';
import { errorBody } from '../src/errors.ts';
import { openPlants, variables } from '../src/plants.ts';

const token = 'token-of-the-tests';
const { handlers, close } = await openPlants(
  readVariables(variables, { DATABASE_URL: 'sqlite::memory:' }),
  {
    onBatch() {},
    warn() {},
  },
);
afterAll(() => close?.());

const document = 'openapi.yaml';
const log = testLog();
const app = createApp({ document, handlers, errorBody, accessTokens: [token], log });
await contractTests({ document, app, log, credentials: { bearerAuth: token }, test });
