import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { requestsFor, testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { Handlers, operations } from '../../generated/openapi.ts';

const document = join(import.meta.dirname, '../../openapi.yaml');
const handlers: Handlers = {
  createPlant: ({ body: { name, tag } }) => ({ status: 200, body: tag === undefined ? { name } : { name, tag } }),
};

test('a request for a handler has the given parts, and nothing else is needed', async () => {
  const requestTo = requestsFor<Handlers>();
  const request = requestTo('createPlant', { body: { id: 1, name: 'Fern' } });
  expect(await handlers.createPlant(request)).toEqual({ status: 200, body: { name: 'Fern' } });
  expect([request.query, request.contentType, request.accepts('text/plain')]).toEqual([
    {},
    'application/json',
    'text/plain',
  ]);
  // @ts-expect-error there is no such operation
  requestTo('createTree');
  // @ts-expect-error name is required
  requestTo('createPlant', { body: { id: 1 } });
});

test('a test client calls the operations of an app by name, and keeps no process alive', async () => {
  const app = createApp({ document, handlers, accessTokens: ['token'] });
  const api = await testClient<operations>(app, { document, headers: { Authorization: 'Bearer token' } });
  expect(await api.createPlant({ body: { id: 1, name: 'Fern' } })).toMatchObject({
    status: 200,
    body: { name: 'Fern' },
  });
  const anonymous = await testClient<operations>(app, { document });
  expect((await anonymous.createPlant({ body: { id: 1, name: 'Fern' } })).status).toBe(401);
  // An idle connection is kept for 4 s: what keeps the process alive would be here as long.
  const holding = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name));
  for (let look = 0; look < 150 && holding().length > 0; look += 1) await delay(10);
  expect(holding()).toEqual([]);
});
