import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { requestsFor, testClient } from '../src/testing.ts';
import { SHOP } from './contract-tests/failed-tests.ts';
import { createShop, KEY } from './contract-tests/shop.ts';

interface Request {
  readonly path: { readonly id?: number };
  readonly query: { readonly limit?: number };
  readonly body?: unknown;
  readonly caller?: unknown;
  readonly operationId: string;
  readonly contentType?: string;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (text: string) => void>>;
  readonly accepts: (...types: readonly string[]) => string | undefined;
}
interface Handlers {
  readonly getRoom: (request: Request) => unknown;
}

describe('a request for a unit test', () => {
  const requestTo = requestsFor<Handlers>();

  test('has empty parts by default', () => {
    const { log, signal, accepts, ...parts } = requestTo('getRoom');
    expect(parts).toEqual({
      ...{ operationId: 'getRoom', id: 'test', headers: {} },
      ...{ path: {}, query: {}, header: {}, cookie: {}, body: undefined, caller: undefined },
      contentType: undefined,
    });
    expect(signal.aborted).toBe(false);
    expect(accepts('text/plain', 'text/html')).toBe('text/plain');
    for (const level of ['debug', 'info', 'warn', 'error'] as const)
      expect(log[level]('text')).toBeUndefined();
  });

  test('has the passed parts', () => {
    const request = requestTo('getRoom', { query: { limit: 2 }, body: { a: 1 }, caller: 'ada' });
    expect(request).toMatchObject({
      ...{ path: {}, query: { limit: 2 }, body: { a: 1 }, caller: 'ada' },
      contentType: 'application/json',
    });
    const text = requestTo('getRoom', { body: 'a', contentType: 'text/plain' });
    expect(text.contentType).toBe('text/plain');
  });
});

type Call = (input?: object) => Promise<{ readonly status: number; readonly body: unknown }>;
interface Operations {
  readonly addItem: Call;
  readonly getItem: Call;
}

test.each([
  ['a file', SHOP],
  ['a document', await loadDocument(SHOP)],
])('a client calls the operations of an app by name: %s', async (_name, document) => {
  const headers = { 'X-Key': KEY };
  const app = Promise.resolve(createShop());
  const client = Object(await testClient<Operations>(app, { document, headers })) as Operations;
  const cup = { id: 2n ** 60n, name: 'cup' };
  expect(await client.addItem({ body: cup })).toMatchObject({ status: 201, body: cup });
  expect(await client.getItem({ path: { id: 2n ** 60n } })).toMatchObject({
    status: 200,
    body: cup,
  });
  const stranger = Object(await testClient<Operations>(createShop(), { document })) as Operations;
  expect(await stranger.getItem({ path: { id: 1 } })).toMatchObject({ status: 401 });
});
