import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { responseTo } from '../../src/client/send.ts';

type Result = Response | Error;

const failed = (status: number, headers: Record<string, string> = {}, body?: ReadableStream) =>
  new Response(body, { status, headers });

function sender(...results: readonly Result[]) {
  const signals: (AbortSignal | null | undefined)[] = [];
  const send = async (signal: AbortSignal | null | undefined): Promise<Response> => {
    signals.push(signal);
    signal?.throwIfAborted();
    const result = results[signals.length - 1] ?? new Error('unexpected request');
    if (result instanceof Error) throw result;
    return result;
  };
  return { send, signals };
}

const endless = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const START = new Date('2035-01-01T00:00:00Z');

beforeEach(() => {
  jest.useFakeTimers({ now: START });
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('a request', () => {
  const LOST = new Error('lost');

  test.each<
    [retries: number, results: readonly (number | Error)[], outcome: string, count: number]
  >([
    [0, [200], '200', 1],
    [0, [503, 200], '503', 1],
    [0, [LOST, 200], 'lost', 1],
    [2, [503, LOST, 200], '200', 3],
    [2, [503, 503, 429, 200], '429', 3],
    [1, [LOST, new Error('lost again'), 200], 'lost again', 2],
    [1, [429, 200], '200', 2],
    [1, [504, 200], '200', 2],
    [1, [500, 200], '500', 1],
  ])(
    'with %d retries and the results %p has the outcome %s',
    async (retries, results, outcome, count) => {
      const { send, signals } = sender(
        ...results.map((result) => (typeof result === 'number' ? failed(result) : result)),
      );
      const response = responseTo(send, { retries }).then(
        ({ response }) => String(response.status),
        ({ message }: Error) => message,
      );
      await jest.advanceTimersByTimeAsync(1_000);
      expect([await response, signals.length]).toEqual([outcome, count]);
    },
  );

  test('cancels the bodies of failed attempts', async () => {
    const cancel = jest.fn<() => void>();
    const { send } = sender(failed(503, {}, new ReadableStream({ cancel })), new Response('a'));
    const sent = responseTo(send, { retries: 1 });
    await jest.advanceTimersByTimeAsync(250);
    expect(await (await sent).response.text()).toBe('a');
    expect(cancel).toHaveBeenCalledTimes(1);
  });
});

describe('the pause before a retry', () => {
  test.each<[headers: Record<string, string>, attempt: number, shortest: number, longest: number]>([
    [{ 'Retry-After': '3' }, 0, 3_000, 3_000],
    [{ 'Retry-After': '0' }, 0, 0, 0],
    [{ 'Retry-After': 'Mon, 01 Jan 2035 00:00:05 GMT' }, 0, 5_000, 5_000],
    [{ 'Retry-After': '2592000' }, 0, 2 ** 31 - 1, 2 ** 31 - 1],
    [{ 'Retry-After': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0, 125, 250],
    [{ 'Retry-After': 'soon' }, 0, 125, 250],
    [{}, 3, 1_000, 2_000],
  ])(
    'with the headers %j after attempt %d lasts from %d to %d ms',
    async (headers, attempt, shortest, longest) => {
      const pauses: number[] = [];
      for (const random of [0, 1]) {
        jest.setSystemTime(START);
        jest.spyOn(Math, 'random').mockReturnValue(random);
        const times: number[] = [];
        const sent = responseTo(
          async () => {
            times.push(Date.now());
            return failed(503, times.length > attempt ? headers : {});
          },
          { retries: attempt + 1 },
        );
        await jest.runAllTimersAsync();
        await sent;
        pauses.push(Number(times[attempt + 1]) - Number(times[attempt]));
      }
      expect(pauses).toEqual([shortest, longest]);
    },
  );
});

describe('a timeout', () => {
  const timeout = 1_000;

  test.each<[title: string, signal: AbortSignal | undefined]>([
    ['without a signal', undefined],
    ['with a signal', new AbortController().signal],
  ])('aborts a request with a TimeoutError, %s', async (_title, signal) => {
    const sent = responseTo(endless, { signal, timeout, retries: 5 });
    const rejected = expect(sent).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'the call took longer than 1000 ms',
    });
    await jest.advanceTimersByTimeAsync(1_000);
    await rejected;
    expect(jest.getTimerCount()).toBe(0);
  });

  test('continues until the caller has read the response', async () => {
    const { send, signals } = sender(new Response());
    const { end } = await responseTo(send, { timeout, retries: 0 });
    await jest.advanceTimersByTimeAsync(999);
    expect(signals[0]?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(signals[0]?.aborted).toBe(true);
    end();
  });

  test('does not replace the signal of the caller', async () => {
    const controller = new AbortController();
    const sent = responseTo(endless, { signal: controller.signal, timeout, retries: 0 });
    const rejected = expect(sent).rejects.toThrow('not needed');
    controller.abort(new Error('not needed'));
    await rejected;
    expect(jest.getTimerCount()).toBe(0);
  });
});

test.each([{}, { timeout: 7_200_000 }])(
  'an aborted signal ends the retries, with the options %j',
  async (options) => {
    const controller = new AbortController();
    const { signal } = controller;
    const { send, signals } = sender(failed(503, { 'Retry-After': '3600' }));
    const sent = responseTo(send, { signal, ...options, retries: 5 });
    const rejected = expect(sent).rejects.toThrow('not needed');
    await jest.advanceTimersByTimeAsync(1_000);
    controller.abort(new Error('not needed'));
    await rejected;
    expect(signals).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  },
);
