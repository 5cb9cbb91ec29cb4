import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { loadDocument } from 'openapi-document';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import { Webhook } from 'standardwebhooks';
import type { operations } from '../generated/openapi.ts';
import { openParcels } from '../src/parcels.ts';

const secret = Buffer.alloc(24, 'key').toString('base64');
const document = await loadDocument('openapi.yaml');

/** The requests that arrive, by URL. The first to `/callback` fails. */
const received: { url?: string; id: unknown; body: unknown }[] = [];
const arrivals = new EventTarget();
const receiver = createServer(async (request, response) => {
  const payload = await text(request);
  const body = new Webhook(secret).verify(payload, headersOf(request));
  received.push({ url: request.url, id: request.headers['webhook-id'], body });
  const isFirst = received.filter(({ url }) => url === request.url).length === 1;
  response.writeHead(request.url === '/callback' && isFirst ? 500 : 204).end();
  arrivals.dispatchEvent(new Event('arrival'));
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const headersOf = ({ headers }: IncomingMessage) => headers as Record<string, string>;

const warnings: string[] = [];
const { handlers, close } = openParcels({
  file: ':memory:',
  document,
  webhookUrl: `${origin}/all`,
  secret,
  hosts: new Set([new URL(origin).host]),
  retryAfter: [0, 0],
  warn: (message) => warnings.push(message),
});
after(async () => {
  await close();
  receiver.close();
});
const app = await createApp({ document, handlers, accessTokens: ['token'] });
const api = await testClient<operations>(app, {
  document,
  headers: { Authorization: 'Bearer token' },
});

test('a delivery is told to the callback and to the webhook, signed, and again after a failure', async () => {
  const body = { content: 'Ficus', callbackUrl: `${origin}/callback` };
  const created = await api.createParcel({ body });
  if (created.status !== 201) throw new Error('not created');
  const path = { parcelId: created.body.id };
  equal((await api.deliverParcel({ path })).status, 200);
  equal((await api.deliverParcel({ path })).status, 200);
  while (received.length < 3) await once(arrivals, 'arrival');

  const parcel = { ...created.body, isDelivered: true };
  const callbacks = received.filter(({ url }) => url === '/callback');
  const webhooks = received.filter(({ url }) => url === '/all');
  deepEqual(
    [callbacks.map((sent) => sent.body), webhooks.map((sent) => sent.body)],
    [[parcel, parcel], [parcel]],
  );
  equal(new Set(callbacks.map(({ id }) => id)).size, 1);
  match(warnings.join(), /responded with 500; the next attempt is in 0 s/);
});

test('a callback to another host is rejected', async () => {
  const body = { content: 'Ficus', callbackUrl: 'http://169.254.169.254/latest' };
  equal((await api.createParcel({ body })).status, 403);
});
