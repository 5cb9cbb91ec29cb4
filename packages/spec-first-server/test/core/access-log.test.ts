import { describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { type AccessLogOptions, accessLog } from '../../src/core/access-log.ts';
import { Account } from '../../src/core/account.ts';
import type { CallEnd, CallRecord } from '../../src/core/call.ts';
import { failureOf } from '../../src/core/response/failures.ts';
import { HttpError } from '../../src/core/response/http-error.ts';
import { Resources } from '../../src/http/resources.ts';

type Facts = Partial<CallRecord> & { readonly method?: string; readonly path?: string };

function started(options: AccessLogOptions = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = pino({ level: 'debug', base: null, timestamp: false }, { write });
  const observed: unknown[] = [];
  const observe = (...args: unknown[]) => void observed.push(args);
  const end = accessLog(log, { observe, ...options });
  return {
    lines,
    observed,
    end(
      { method = 'GET', path = '/plants', ...facts }: Facts,
      status: number,
      others: Partial<CallEnd> = {},
    ) {
      const record: CallRecord = {
        id: 'request-1',
        intercepted: undefined,
        traceId: undefined,
        account: new Account(new Resources(), '192.0.2.1'),
        started: performance.now(),
        streamStarted: undefined,
        operationId: undefined,
        endpoint: undefined,
        caller: undefined,
        callers: undefined,
        mocked: undefined,
        reason: undefined,
        failure: undefined,
        headers: [],
        ...facts,
      };
      const call = { method, path, query: 'key=secret', headers: {}, client: '192.0.2.1' };
      end(call, record, { status, isComplete: true, ...others });
    },
  };
}

const cause = new Error('the disk is full');
const internal = new HttpError(500, 'internal server error', { cause });
const unavailable = new HttpError(503, 'try again later', { cause });
const invalid = new HttpError(400, 'invalid');
const stopping = new HttpError(503, 'the service stops', { expected: true });

describe('a line', () => {
  test('does not contain the path of a preflight, except in development', () => {
    const preflight = { method: 'OPTIONS', path: '/plants/secret' };
    const { end, lines, observed } = started();
    end(preflight, 204);
    expect(lines[0]).toMatchObject({ method: 'OPTIONS', status: 204 });
    expect(lines[0]).not.toHaveProperty('path');
    expect(observed).toEqual([['(page)', 204, expect.any(Number)]]);
    const development = started({ inDevelopment: true });
    development.end(preflight, 204);
    expect(development.lines[0]?.path).toBe('/plants/secret');
  });

  test('of a stream is slow only if the stream starts late', () => {
    const { end, lines, observed } = started({ slowMs: 1000 });
    const began = performance.now() - 60_000;
    end({ operationId: 'watch', started: began, streamStarted: began + 500 }, 200);
    end({ operationId: 'watch', started: began, streamStarted: began + 1500 }, 200);
    expect(lines.map(({ msg }) => msg)).toEqual(['responded', 'slow']);
    expect(Number(lines[0]?.durationMs)).toBeGreaterThanOrEqual(60_000);
    expect(observed).toEqual([
      ['watch', 200, 0.5],
      ['watch', 200, 1.5],
    ]);
  });

  test.each<[string, Facts, Partial<CallEnd>, object]>([
    ['the reason of the handler', { reason: 'sold out' }, {}, { reason: 'sold out' }],
    [
      'the reason of the failure, not of the handler',
      { reason: 'sold out', failure: stopping },
      {},
      { reason: 'the service stops' },
    ],
    [
      'the cause, not the reason',
      { failure: internal },
      {},
      { err: { message: 'the disk is full' } },
    ],
    [
      'the failure of the connection',
      { failure: internal },
      { failure: stopping },
      { reason: 'the service stops' },
    ],
    ['cutOff', {}, { isComplete: false }, { cutOff: true }],
  ])('has %s', (_title, facts, others, expected) => {
    const { end, lines } = started();
    end({ operationId: 'listPlants', ...facts }, 500, others);
    const { reason, err, cutOff } = lines[0] ?? {};
    expect({ reason, err, cutOff }).toMatchObject({
      reason: undefined,
      cutOff: undefined,
      ...expected,
    });
    if (!('err' in expected)) expect(err).toBeUndefined();
  });
});

describe('the level', () => {
  test.each<[string, Facts, number, number, string]>([
    ['a stream with a fault is error', { operationId: 'a', failure: internal }, 200, 50, 'failed'],
    ['an expected failure is info', { operationId: 'a', failure: stopping }, 503, 30, 'responded'],
    ['a mocked failure is info', { operationId: 'a', mocked: true }, 500, 30, 'responded'],
    [
      'an undeclared error body is warn',
      { operationId: 'a', failure: { ...failureOf(invalid), isUndeclared: true } },
      400,
      40,
      'responded',
    ],
    [
      'a slow call is warn',
      { operationId: 'a', started: performance.now() - 2000 },
      200,
      40,
      'slow',
    ],
    ['a probe is debug', { endpoint: 'probe', path: '/healthz' }, 200, 20, 'responded'],
  ])('of %s', (_title, facts, status, level, msg) => {
    const { end, lines } = started({ slowMs: 1000 });
    end(facts, status);
    expect(lines).toMatchObject([{ level, msg, status }]);
  });
});

test.each<[Facts, number, string]>([
  [{ operationId: 'a' }, 200, 'a'],

  [{ endpoint: 'probe' }, 503, '(probe)'],
  [{ endpoint: 'page' }, 200, '(page)'],

  [{ path: '/other' }, 302, '(page)'],
  [{ path: '/other' }, 404, '(unknown)'],
])('observe gets the name of the call %j with status %i: %s', (facts, status, name) => {
  for (const inDevelopment of [false, true]) {
    const { end, observed } = started({ inDevelopment });
    end(facts, status);
    expect(observed).toEqual([[name, status, expect.any(Number)]]);
  }
});

describe('an outage', () => {
  test('is logged as an error once, and its end with a count and its time', () => {
    const { end, lines } = started();
    jest.useFakeTimers();
    for (const status of [503, 503, 500, 404, 503, 200, 200, 503]) {
      end({ operationId: 'a', failure: status < 500 ? undefined : unavailable }, status);
      jest.advanceTimersByTime(1_000);
    }
    jest.useRealTimers();
    expect(
      lines.map(({ level, msg, status, failed, err }) => [
        level,
        msg,
        status ?? failed,
        err !== undefined,
      ]),
    ).toEqual([
      [50, 'failed', 503, true],
      [30, 'responded', 503, false],
      [50, 'failed', 500, true],
      [30, 'responded', 404, false],
      [30, 'responded', 503, false],
      [40, 'available again', 3, false],
      [30, 'responded', 200, false],
      [30, 'responded', 200, false],
      [50, 'failed', 503, true],
    ]);
    expect(lines[5]).toEqual({
      level: 40,
      operationId: 'a',
      failed: 3,
      seconds: 5,
      msg: 'available again',
    });
  });

  test.each([
    ['an expected 503', { failure: stopping }],
    ['a mocked 503', { failure: unavailable, mocked: true as const }],
  ])('does not begin with %s', (_title, facts) => {
    const { end, lines } = started();
    end({ operationId: 'a', ...facts }, 503);
    end({ operationId: 'a' }, 200);
    expect(lines.map(({ msg }) => msg)).toEqual(['responded', 'responded']);
  });
});
