import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Exchange, exchange, request } from 'test-support/raw-http';
import { openStore } from '../../src/stores/index.ts';
import { type Differences, type Service, serve, TOKEN } from './support/plant-service.ts';

// The tests of spec-first-server have more bodies, credentials, paths and messages.

const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };
const JSON_BODY = { ...AUTHORIZED, 'Content-Type': 'application/json' };
const PLANT = '{"id":1,"name":"Monstera"}';
const GOOD = request('POST /plants', JSON_BODY, PLANT);

const running: Service[] = [];
let service: Service;

async function startService(differences: Differences): Promise<Service> {
  const started = await serve(differences);
  running.push(started);
  return started;
}

beforeAll(async () => {
  // After an error, a connection stays open for this time if the client does not close it.
  service = await startService({ limits: { lingerTimeout: 500 } });
});

afterAll(() => Promise.all(running.map((started) => started.stop())));

/** Checks that the last response has the declared error body. Returns its message. */
function failure({ responses }: Exchange, expected: number): string {
  const last = responses.at(-1);
  const text = String(last?.body);
  expect({ status: last?.status, text }).toMatchObject({ status: expected });
  expect(last?.headers['content-type']).toBe('application/json');
  expect(last?.headers).not.toHaveProperty('x-powered-by');
  expect(last?.headers).not.toHaveProperty('server');
  expect(last?.headers['content-length']).toBe(String(Buffer.byteLength(text)));
  const { error, message, ...others }: Record<string, unknown> = JSON.parse(text);
  expect({ error, others }).toEqual({ error: expected, others: {} });
  expect(message).toMatch(/^[^\n]{10,}$/);
  expect(text).not.toMatch(/<html|node_modules|\.[jt]s\b|\bat \S+:\d/);
  return String(message);
}

const send = (bytes: string, { port } = service) => exchange(port, bytes, { end: true });

const post = (body: string, headers: Record<string, string> = {}, to = service) =>
  send(request('POST /plants', { ...JSON_BODY, ...headers }, body), to);

const large = JSON.stringify({ id: 1, name: 'a'.repeat(100 * 1024) });
const noBody = 'the body must be at most 102400 bytes';
const chunked = { ...JSON_BODY, 'Transfer-Encoding': 'chunked' };
const anonymous = { 'Content-Type': 'application/json', Expect: '100-continue' };

test.each<[string, string, number, string, Record<string, string>?]>([
  [
    'a body that violates NewPlant',
    request('POST /plants', JSON_BODY, '{"id":"1","tag":2}'),
    400,
    '/body/name is required',
  ],
  [
    'a body that is not JSON',
    request('POST /plants', JSON_BODY, '{"id":1,'),
    400,
    'the body must be JSON (invalid at line 1, column 9)',
  ],
  [
    'no body',
    request('POST /plants', { ...JSON_BODY, 'Content-Length': '0' }),
    400,
    '/body is req',
  ],
  ['a large body', request('POST /plants', JSON_BODY, large), 413, noBody],
  [
    'a large body in chunks, which has no end',
    `${request('POST /plants', chunked)}${large.length.toString(16)}\r\n${large}\r\n`,
    413,
    noBody,
  ],
  [
    'a large length, before the body arrives',
    request('POST /plants', { ...JSON_BODY, 'Content-Length': '99999999999' }),
    413,
    noBody,
  ],
  [
    'another media type',
    request('POST /plants', { ...AUTHORIZED, 'Content-Type': 'text/plain' }, PLANT),
    415,
    'the body must be application/json',
    { accept: 'application/json' },
  ],
  [
    'no token, before the body is read, or its media type and size are checked',
    request('POST /plants', { 'Content-Type': 'text/plain', 'Content-Length': '99999999999' }),
    401,
    '',
    { 'www-authenticate': 'Bearer' },
  ],
  [
    'no token, but an expectation',
    request('POST /plants', { ...anonymous, 'Content-Length': '26' }),
    401,
    '',
    { 'www-authenticate': 'Bearer' },
  ],
  [
    'a wrong token',
    request('POST /plants', { ...JSON_BODY, Authorization: `Bearer ${TOKEN.slice(1)}` }, PLANT),
    401,
    '',
    { 'www-authenticate': 'Bearer error="invalid_token"' },
  ],
  ['an unknown path', request('POST /plants/', JSON_BODY, PLANT), 404, ''],
  ['another method', request('PATCH /plants', JSON_BODY), 405, '', { allow: 'POST' }],
  ['a request that is cut off', GOOD.slice(0, -5), 400, 'the request was cut off'],
])('%s gets the declared error', async (_title, bytes, status, message, headers = {}) => {
  const answer = await send(bytes);
  expect(failure(answer, status)).toContain(message);
  expect(answer.responses.at(-1)?.headers).toMatchObject(headers);
});

describe('the service', () => {
  test('answers 503 with Retry-After while the store is unreachable, and logs the reason', async () => {
    const store = await openStore('sqlite::memory:', { maxWaiting: 1 });
    const broken = await startService({ store });
    await store.close();
    for (const answer of [
      await post(PLANT, {}, broken),
      await send(request('GET /readyz'), broken),
    ]) {
      failure(answer, 503);
      expect(answer.responses[0]?.headers['retry-after']).toBe('1');
    }
    expect((await send(request('GET /healthz'), broken)).responses[0]?.status).toBe(200);
    expect(broken.log()).toContain('The database is closed.');
  });

  test('answers 500 for a bug or a wrong reply, and writes the cause only to the log', async () => {
    for (const [cause, createPlant] of [
      ['the cause', () => Promise.reject(new Error('the cause'))],
      ['InvalidReply', async () => ({ status: 200, body: { name: 1 } }) as never],
      ['InvalidReply', async () => ({ status: 503, body: { error: 'no' } }) as never],
    ] as const) {
      const buggy = await startService({ handlers: { createPlant } });
      expect(failure(await post(PLANT, {}, buggy), 500)).not.toContain(cause);
      expect(buggy.log()).toContain(cause);
    }
  });
});
