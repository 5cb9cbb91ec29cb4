import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { requestsFor } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import { createClient } from '../generated/client.ts';
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
  const client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  const post = async (text: string) =>
    equal((await client.postMessage({ body: { text } })).status, 201);
  const watching = new AbortController();
  const { status, body } = await client.watchMessages({}, { signal: watching.signal });
  if (status !== 200) throw new Error(`the response has the status ${status}`);
  const messages = body[Symbol.asyncIterator]();
  const next = async () => (await messages.next()).value?.data.text;

  await post('one');
  equal(await next(), 'one');
  server.closeAllConnections();
  await post('two');
  await post('three');
  deepEqual([await next(), await next()], ['two', 'three']);
  watching.abort();
});

test('ids after a restart are larger, for clients that were connected before it', async () => {
  const idOf = async ({ postMessage }: typeof handlers) => {
    const request = requestsFor<typeof handlers>()('postMessage', { body: { text: 'Hello' } });
    return (await postMessage(request)).body.id;
  };
  const ids = [await idOf(handlers), await idOf(handlers)];
  await delay(10);
  const copy = '../src/handlers.ts?restarted';
  const restarted: typeof import('../src/handlers.ts') = await import(copy);
  ids.push(await idOf(restarted.handlers));
  deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});
