import { describe, expect, test } from '@jest/globals';
import type { Call } from '../../src/core/call.ts';
import { recorder } from '../../src/core/record.ts';
import { Resources } from '../../src/http/resources.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const NEW_ID = /^[\w-]{20}-[\da-z]+$/;

const resources = new Resources();
const recordOf = (headers: Call['headers'], traceId?: string) =>
  recorder(resources, {
    tracing: traceId === undefined ? undefined : { name() {}, traceId: () => traceId },
  })({ method: 'GET', path: '/', headers, client: '192.0.2.1' });

test('a new record has the id and the time, and nothing else', () => {
  const before = performance.now();
  const { started, account, headers, ...record } = recordOf({});
  expect(record).toEqual({ id: expect.stringMatching(NEW_ID) });
  expect(headers.slice(-2)).toEqual(['X-Request-Id', record.id]);
  expect(account.caller).toBe('192.0.2.1');
  expect(started).toBeGreaterThanOrEqual(before);
  expect(started).toBeLessThanOrEqual(performance.now());
});

describe('the id', () => {
  test.each(['a', 'from:a-proxy_1.2', 'x'.repeat(64)])('is the X-Request-Id %j', (sent) => {
    expect(recordOf({ 'x-request-id': sent }).id).toBe(sent);
  });

  test.each<[string | string[]]>([
    [''],
    ['two words'],

    ['a\n'],

    ['x'.repeat(65)],
    [['a']],
  ])('is a new one instead of the X-Request-Id %j', (sent) => {
    expect(recordOf({ 'x-request-id': sent }).id).toMatch(NEW_ID);
  });

  test('is different for each call', () => {
    const records = [recorder(resources), recorder(resources)];
    const ids = records.flatMap((record) =>
      Array.from({ length: 1000 }, () => record({ method: 'GET', path: '/', headers: {} }).id),
    );
    expect(new Set(ids).size).toBe(2000);
  });
});

describe('the trace id', () => {
  test.each([
    ['00', `${PARENT}-01`],

    ['01', `${PARENT}-01-later`],
  ])('is read from the traceparent %s-…-%s', (version, rest) => {
    expect(recordOf({ traceparent: `${version}-${TRACE}-${rest}` }).traceId).toBe(TRACE);
  });

  test.each([
    undefined,
    'secret',
    `00-${TRACE}-${PARENT}`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  ])('is missing if the traceparent is %j', (traceparent) => {
    expect(recordOf({ traceparent }).traceId).toBeUndefined();
  });

  test('is that of the tracer, if it has one', () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    expect(recordOf(headers, 'from the tracer').traceId).toBe('from the tracer');
    const untraced = { name() {}, traceId: () => undefined };
    const start = recorder(resources, { tracing: untraced });
    expect(start({ method: 'GET', path: '/', headers }).traceId).toBe(TRACE);
  });
});
