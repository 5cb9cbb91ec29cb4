import { expect, test } from '@jest/globals';
import { type LoggerOptions, pino } from 'pino';
import { describeError } from '../../src/core/describe-error.ts';
import type { Log } from '../../src/core/handlers/types.ts';
import { JsonLog } from '../../src/serve/json-log.ts';

/** Returns the line that each log writes, without its time. */
function linesOf(write: (log: Log) => void) {
  const lines: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const base = { service: 'shop', pid: 5 };
  const serializers: LoggerOptions['serializers'] = { err: (error) => describeError(error) };
  write(JsonLog.create(sink, 'info', base));
  write(pino({ base, serializers, timestamp: () => ',"time":""' }, sink));
  return lines.map((line) => ({ ...line, time: typeof line.time }));
}

const failure = new Error('full', { cause: new TypeError('inner') });

test.each<[string, (log: Log) => void]>([
  ['a text', (log) => log.info('watered')],
  ['an entry', (log) => log.warn({ status: 200, path: undefined, caller: null })],
  ['an entry and a text', (log) => log.error({ a: [1, { b: 'é"\n' }] }, 'wa"tered')],
  ['an empty entry', (log) => log.info({}, 'watered')],
  ['a text with values', (log) => log.info('%s has %d', 'bed', 5)],
  ['an entry and a text with values', (log) => log.info({ a: 1 }, '%s has %d', 'bed', 5)],
  ['an error', (log) => log.error(failure)],
  ['an error and a text', (log) => log.error(failure, 'not watered')],
  ['an entry with an error', (log) => log.error({ err: failure, a: 1 }, 'failed')],
  ['an integer of 64 bits', (log) => log.info({ id: 5n })],
  ['a date', (log) => log.info({ at: new Date(0) })],
  ['a child', (log) => log.child({ requestId: 'r1' }).info({ a: 1 }, 'watered')],
  ['a lower level', (log) => log.debug('watered')],
])('writes the line that pino writes for %s', (_title, write) => {
  const lines = linesOf(write);
  expect(lines).toHaveLength(_title === 'a lower level' ? 0 : 2);
  expect(lines[0]).toEqual(lines[1]);
});

test.each<[string, unknown]>([
  ['circular', Object.assign(Object.create(null), { self: undefined })],
  ['a list', [1, 2]],
  ['written as a text', { toJSON: () => 'text' }],
])('writes a line for an entry that is %s', (_title, entry) => {
  if (_title === 'circular') Object(entry).self = entry;
  const lines: string[] = [];
  JsonLog.create({ write: (line) => lines.push(line) }, 'info', {}).info(entry, 'odd');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 30, time: expect.any(String), entry: expect.any(String), msg: 'odd' },
  ]);
});

test('children follow the level of their log', () => {
  const lines: string[] = [];
  const log = JsonLog.create({ write: (line) => lines.push(line) }, 'silent', {});
  const child = log.child({ requestId: 'r1' });
  child.error('lost');
  expect([log.level, log.isLevelEnabled('fatal')]).toEqual(['silent', false]);
  log.level = 'debug';
  child.debug('written');
  expect([lines.length, log.isLevelEnabled('debug'), log.isLevelEnabled('trace')]).toEqual([
    1,
    true,
    false,
  ]);
});
