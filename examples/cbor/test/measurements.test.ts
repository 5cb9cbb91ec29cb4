import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { decode, encode } from 'cborg';
import { contractTests } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { codecs } from '../src/codecs.ts';
import { handlers } from '../src/handlers.ts';

const document = 'openapi.yaml';
const app = await createApp({ document, handlers, codecs });
const server = createServer(app).listen(0, '127.0.0.1').unref();
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/measurements`;
const contentType = 'application/cbor';
const measurement = { sensor: 'a', nanoseconds: 1_764_438_000_123_456_789n, values: [294.5, -1] };

test('a measurement arrives as it was sent, in both directions', async () => {
  const api = await testClient<operations>(app, { document, codecs });
  const sent = { contentType, body: measurement } as const;
  const { status, body } = await api.addMeasurement(sent);
  equal(status, 201);
  deepEqual(body, measurement);
  const { body: fromJson } = await api.addMeasurement({ ...sent, contentType: 'application/json' });
  deepEqual(fromJson, body);
});

test('an invalid measurement gets an error in CBOR', async () => {
  const details: unknown[] = [];
  for (const body of [encode({ ...measurement, values: ['x'] }), Uint8Array.of(0xff)]) {
    const headers = { 'Content-Type': contentType };
    const response = await fetch(url, { method: 'POST', headers, body });
    details.push(decode(await response.bytes()).detail);
  }
  deepEqual(details, ['/body/values/0 must be number', 'the body must be CBOR']);
});

await contractTests({ document, app, codecs, test });
