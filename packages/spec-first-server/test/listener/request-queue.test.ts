import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { close, createConnection, createRequest } from './support.ts';

test('begins a pipelined request in its own async context', async () => {
  const { connection } = createConnection();
  const trace = new AsyncLocalStorage<string>();
  const begun: unknown[] = [];
  const responses = ['first', 'second'].map((name) => {
    const { response } = createRequest();
    trace.run(name, () => connection.add(response, () => void begun.push(trace.getStore())));
    return response;
  });
  await eventually(() => begun.length === 1);
  trace.run('first', () => responses[0]?.emit('close'));
  await eventually(() => begun.length === 2);
  expect(begun).toEqual(['first', 'second']);
});

test('begins a request immediately, and the next one after the response is closed', async () => {
  const { begun, add, requests } = createConnection();
  const first = add('first', 100);
  expect(begun).toEqual(['first']);
  const second = add('second', 200);
  expect(begun).toEqual(['first']);
  expect([requests.isWaiting, requests.newestResponse]).toEqual([true, second]);
  close(first);
  await eventually(() => begun.length === 2);
  expect(requests.isWaiting).toBe(false);
  const before = performance.now();
  expect(requests.idleSince).toBeLessThan(before);
  close(second);
  expect(requests.newestResponse).toBeUndefined();
  expect(requests.idleSince).toBeGreaterThanOrEqual(before);
});

test('keeps its newest response until the body of the request is complete', () => {
  const { add, requests } = createConnection();
  const response = add('a', 100, ['Content-Length', '5']);
  close(response);
  expect(requests.newestResponse).toBe(response);
  response.req.complete = true;
  expect(requests.newestResponse).toBeUndefined();
});

test('calls the callback of end after the response, or immediately without one', async () => {
  const idle = createConnection();
  const calls: string[] = [];
  idle.connection.end(() => calls.push('idle'));
  expect(calls).toEqual(['idle']);
  const busy = createConnection();
  const response = busy.add('a', 100);
  busy.connection.end(() => calls.push('busy'));
  expect(calls).toEqual(['idle']);
  expect(busy.connection.isClosing).toBe(true);
  close(response);
  await eventually(() => calls.length === 2);
});

test.each([
  [false, false, false],
  [true, false, true],
  [true, true, true],
])(
  'with a request in progress: %p, and a second one: %p, waits for responses: %p',
  (isAnswering, hasNext, expected) => {
    const { add, requests } = createConnection();
    if (isAnswering) add('first', 100);
    if (hasNext) add('second', 200, ['Content-Length', '5']);
    expect(requests.waitsForResponses).toBe(expected);
  },
);
