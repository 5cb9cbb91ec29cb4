import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { requestsFor, testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import { ENVIRONMENT } from 'test-support/environment';
import type { Handlers, operations } from '../../generated/openapi.ts';

const document = join(import.meta.dirname, '../../openapi.yaml');
const handlers: Handlers = {
  createPlant: ({ body: { name, tag } }) => ({
    status: 200,
    body: tag === undefined ? { name } : { name, tag },
  }),
};

test('requestsFor creates a complete request from the parts that a handler reads', async () => {
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

test('a test client calls the operations of an app by name', async () => {
  const app = createApp({ document, handlers, accessTokens: ['token'] });
  const api = await testClient<operations>(app, {
    document,
    headers: { Authorization: 'Bearer token' },
  });
  expect(await api.createPlant({ body: { id: 1, name: 'Fern' } })).toMatchObject({
    status: 200,
    body: { name: 'Fern' },
  });
  const anonymous = await testClient<operations>(app, { document });
  expect((await anonymous.createPlant({ body: { id: 1, name: 'Fern' } })).status).toBe(401);
});

test('a test client leaves no connection open that keeps the process alive', () => {
  const program = `
    import { setTimeout as delay } from 'node:timers/promises';
    import { testClient } from 'spec-first/testing';
    import { createApp } from 'spec-first-server';
    const document = ${JSON.stringify(document)};
    const createPlant = ({ body: { name } }) => ({ status: 200, body: { name } });
    const app = createApp({ document, handlers: { createPlant }, accessTokens: ['token'] });
    const api = await testClient(app, { document, headers: { Authorization: 'Bearer token' } });
    const { status } = await api.createPlant({ body: { id: 1, name: 'Fern' } });
    const connections = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name));
    // Node keeps an idle connection for 4 s.
    for (let round = 0; round < 150 && connections().length > 0; round += 1) await delay(10);
    console.log(JSON.stringify({ status, connections: connections() }));
  `;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: import.meta.dirname, env: ENVIRONMENT, encoding: 'utf8' },
  );
  expect({ stdout, stderr }).toEqual({ stdout: '{"status":200,"connections":[]}\n', stderr: '' });
});
