import { deepEqual } from 'node:assert/strict';
import test from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { v1 } from '../src/v1.ts';
import { v2 } from '../src/v2.ts';
import type { operations as OldOperations } from '../v1/generated/openapi.ts';

const document = 'openapi.yaml';
const app = await createApp({ document, handlers: v2 });
const oldDocument = 'v1/openapi.yaml';
const oldApp = await createApp({ document: oldDocument, handlers: v1 });

test('both versions return the same temperature', async () => {
  const api = await testClient<operations>(app, { document });
  const oldApi = await testClient<OldOperations>(oldApp, { document: oldDocument });
  const path = { id: 2 };
  deepEqual((await api.getStation({ path })).body, {
    name: 'Airport',
    temperature: { value: 9, unit: 'celsius' },
  });
  deepEqual((await oldApi.getStation({ path })).body, { name: 'Airport', temperature: 48.2 });
});

await contractTests({ document, app, test });
await contractTests({ document: oldDocument, app: oldApp, test });
