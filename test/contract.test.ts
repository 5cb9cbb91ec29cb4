import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, test } from '@jest/globals';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { createApp } from 'spec-first-server';
import { withFiles } from 'test-support/documents';
import { createApp as createEovApp } from '../examples/eov/app.ts';
import { errorBody } from '../src/errors.ts';
import { plantHandlers } from '../src/plants.ts';
import { openStore } from '../src/stores/index.ts';

const token = 'token-of-the-tests';
const document = 'openapi.yaml';
const credentials = { bearerAuth: token };
const store = await openStore('sqlite::memory:', { maxWaiting: 1_000 });
afterAll(() => store.close());

const log = testLog();
const handlers = plantHandlers(store);
const app = createApp({ document, handlers, errorBody, accessTokens: [token], log });
await contractTests({ document, app, log, credentials, test });

// express-openapi-validator cannot validate other ids.
const safeIds = '$&\n$1minimum: -9007199254740991\n$1maximum: 9007199254740991';
const narrowed = readFileSync(document, 'utf8').replace(/^( +)format: int64$/m, safeIds);
await withFiles({ 'openapi.yaml': narrowed }, (folder) =>
  contractTests({
    document: join(folder, 'openapi.yaml'),
    app: createEovApp(store, [token]),
    credentials,
    test: (name, run) => test(`express-openapi-validator: ${name}`, run),
  }),
);
