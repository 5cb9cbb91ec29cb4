import { afterEach, expect, test } from '@jest/globals';
import { exchange } from 'test-support/raw-http';
import { HttpError } from '../../src/core/response/http-error.ts';
import { serveOperators } from '../../src/serve/operator-server.ts';
import type { ReadResource } from '../../src/serve/page/page.ts';

let server: Awaited<ReturnType<typeof serveOperators>> | undefined;
afterEach(() => server?.close());

async function serve(pages: Readonly<Record<string, ReadResource>>) {
  server = await serveOperators('127.0.0.1', 0, new Map(Object.entries(pages)));
  const { url } = server;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  return { port: Number(new URL(url).port), get: (path: string) => fetch(url + path) };
}

const metrics: ReadResource = async () => ({ type: 'text/plain', body: 'requests 1' });

test('a page is served at its path, with any query', async () => {
  const { get } = await serve({ '/metrics': metrics });
  for (const path of ['/metrics', '/metrics?x=1', '/metrics?x=1?y=2']) {
    const response = await get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain']);
    expect(await response.text()).toBe('requests 1');
  }
});

test.each(['/', '/metrics/', '/METRICS'])('%s is a 404', async (path) => {
  const { get } = await serve({ '/metrics': metrics });
  expect((await get(path)).status).toBe(404);
});

test('methods other than GET are a 405', async () => {
  const { port } = await serve({ '/metrics': metrics });
  const { responses } = await exchange(
    port,
    'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  );
  expect(responses).toMatchObject([{ status: 405, headers: { allow: 'GET' } }]);
});

test.each([
  ['', new Error('ann@db: refused'), 'the page cannot be read', null],
  [
    ' of an HttpError',
    new HttpError(503, 'the store is not ready', { headers: { 'Retry-After': 1 } }),
    'the store is not ready',
    '1',
  ],
])('a page that fails is a 503, with the message%s', async (_title, error, detail, retry) => {
  const { get } = await serve({ '/readyz': () => Promise.reject(error) });
  const response = await get('/readyz');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, retry]);
  expect(await response.json()).toEqual({ title: 'Service Unavailable', status: 503, detail });
});

test('closing it closes open connections', async () => {
  const never: ReadResource = () => new Promise(() => {});
  const { get } = await serve({ '/metrics': metrics, '/never': never });
  await get('/metrics');
  const pending = get('/never').catch(String);
  await server?.close();
  expect(await pending).toBe('TypeError: fetch failed');
  expect(await get('/metrics').catch(String)).toBe('TypeError: fetch failed');
});

test('an address that is not available is an error', async () => {
  await expect(serveOperators('192.0.2.1', 0, new Map())).rejects.toThrow('EADDRNOTAVAIL');
});
