import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Resources } from '../../../src/core/account.ts';
import type { Call } from '../../../src/core/call.ts';
import { recorder } from '../../../src/core/record.ts';
import { RequestContext } from '../../../src/core/request/context.ts';

function contextOf(parts: Partial<Call> = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = pino({ base: null, timestamp: false }, { write });
  const headers = { 'x-request-id': 'request-1', ...parts.headers };
  const call: Call = { method: 'GET', path: '/', ...parts, headers };
  const record = recorder(new Resources(), {
    tracing: { name() {}, traceId: () => 'trace-1' },
  })(call);
  record.operationId = 'listPlants';
  const empty = { path: {}, query: {}, header: {}, cookie: {} };
  return { context: new RequestContext(call, record, log, empty, undefined, undefined), lines };
}

test.each<[string, string[], string]>([
  ['text/html, application/json;q=0.9', ['application/json', 'text/html'], 'text/html'],
  ['image/*', ['application/json', 'image/png'], 'image/png'],
  ['*/*', ['application/json', 'text/html'], 'application/json'],
  ['', ['application/json', 'text/html'], 'application/json'],
])('with the header Accept %j, accepts() of the types %j returns %s', (accept, types, accepted) => {
  const { context } = contextOf({ headers: { accept } });
  expect(context.accepts(...types)).toBe(accepted);
});

test('without Accept, accepts() returns the first type', () => {
  expect(contextOf({ headers: {} }).context.accepts('application/json', 'text/html')).toBe(
    'application/json',
  );
});

test('accepts() returns undefined if no type is accepted', () => {
  const { context } = contextOf({ headers: { accept: 'text/plain' } });
  expect(context.accepts('application/json')).toBeUndefined();
});

describe('the signal', () => {
  test('is aborted when the client disconnects', () => {
    const client = new AbortController();
    const { signal } = contextOf({ signal: client.signal }).context;
    expect(signal.aborted).toBe(false);
    client.abort();
    expect(signal.aborted).toBe(true);
  });

  test('is aborted by abort(), without the client', () => {
    const { context } = contextOf();
    const { signal } = context;
    context.abort();
    expect([signal.aborted, context.signal === signal]).toEqual([true, true]);
  });
});
