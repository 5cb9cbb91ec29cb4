import { deepEqual } from 'node:assert/strict';
import test from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import { requestsFor, testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { Handlers, operations } from '../generated/openapi.ts';
import { handlers } from '../src/handlers.ts';

const document = 'openapi.yaml';
const app = await createApp({ document, handlers });

test('greets by name', async () => {
  const request = requestsFor<Handlers>()('sayHello', {
    path: { name: 'Ann' },
    query: { times: 1 },
  });
  deepEqual(await handlers.sayHello(request), { status: 200, body: { text: 'Hello, Ann!' } });
});

test('greets once by default', async () => {
  const api = await testClient<operations>(app, { document });
  const { status, body } = await api.sayHello({ path: { name: 'Ann' } });
  deepEqual({ status, body }, { status: 200, body: { text: 'Hello, Ann!' } });
});

await contractTests({ document, app, test });
