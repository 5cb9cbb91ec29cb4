import { describe, expect, test } from '@jest/globals';
import { testLog } from '../../src/contract-tests/test-log.ts';

const STACK = `TypeError: broken
    at charge (/app/src/payments.ts:7:3)
    at Array.map (<anonymous>)
    at run (/app/node_modules/library/index.js:1:1)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at a (/app/a.ts:1:1)
    at b (/app/b.ts:1:1)
    at c (/app/c.ts:1:1)
    at d (/app/d.ts:1:1)`;
const CAUSE = `broken
            at charge (/app/src/payments.ts:7:3)
            at Array.map (<anonymous>)
            at a (/app/a.ts:1:1)
            at b (/app/b.ts:1:1)
            at c (/app/c.ts:1:1)`;

describe('the log of a test', () => {
  test.each(['debug', 'info', 'warn', 'error'] as const)(
    'keeps a reason at level %s',
    async (level) => {
      const log = testLog();
      log[level]({ requestId: 'a', reason: 'no such room' });
      log[level]({ requestId: 'b', reason: 'no such bed' });
      expect(await log.causeOf('a')).toBe('no such room');
    },
  );

  test('keeps an error with the first five frames outside libraries', async () => {
    const log = testLog();
    log.error({ requestId: 'a', reason: 'a reason', err: { message: 'broken', stack: STACK } });
    expect(await log.causeOf('a')).toBe(CAUSE);
  });

  test('keeps the entries of handlers', async () => {
    const log = testLog();
    log.child({ requestId: 'a' }).error({ err: new Error('broken') });
    log.child({ requestId: 'a' }).info('done');
    log.info({ requestId: 'a', status: 500 });
    expect(await log.causeOf('a')).toMatch(/^broken\n {12}at .*log\.test\.ts/);
  });

  test('keeps the lines of another process, and ignores other output', async () => {
    const log = testLog();
    log.line('> start');
    log.line('7');
    log.line(JSON.stringify({ requestId: 'a', err: { message: 'broken', stack: STACK } }));
    expect(await log.causeOf('a')).toBe(CAUSE);
  });

  test('does not wait for the cause of a response that is logged without one', async () => {
    const log = testLog();
    log.info({ requestId: 'a', status: 200 });
    expect(await Promise.race([log.causeOf('a'), 'late'])).toBeUndefined();
  });

  test('waits for an entry', async () => {
    const log = testLog();
    const cause = log.causeOf('a');
    setTimeout(() => log.info({ requestId: 'a', reason: 'no such room' }), 30);
    expect(await cause).toBe('no such room');
  });
});
