import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { createConnection, createRequest } from './support.ts';

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
