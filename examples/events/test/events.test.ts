import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { watchMessages } from '../src/client.ts';
import { handlers } from '../src/handlers.ts';

const document = 'openapi.yaml';
const stopping = new AbortController();
const app = await createApp({ document, handlers, stopping: stopping.signal });
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});

test('a client that loses its connection gets each message once', async () => {
  const api = await testClient<operations>(app, { document });
  const post = async (text: string) => equal((await api.postMessage({ body: { text } })).status, 201);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const watching = new AbortController();
  const messages = watchMessages(url, { signal: watching.signal, pause: 10 });
  const next = async () => (await messages.next()).value?.text;

  await post('one');
  equal(await next(), 'one');
  server.closeAllConnections();
  await post('two');
  await post('three');
  deepEqual([await next(), await next()], ['two', 'three']);
  watching.abort();
});

await contractTests({ document, app, test, runs: 10 });
