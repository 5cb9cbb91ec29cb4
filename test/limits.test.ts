import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PROJECT, START } from './support/launch.ts';
import { readMarkdown } from './support/markdown.ts';

/** Returns the value of a constant or a property of a library. All its declarations must be equal. */
function constant(place: string): number {
  const [library, name] = place.split('/');
  const declaration = new RegExp(
    `(?:const ${name} =|^  ${name}:|integer\\(.*'${name}',) ([\\d_.* ]+)[;,]`,
    'gm',
  );
  const files = globSync(`packages/${library}/src/**/*.ts`, { cwd: PROJECT });
  const texts = files.flatMap((file) => {
    const text = readFileSync(join(PROJECT, file), 'utf8');
    return Array.from(text.matchAll(declaration), ([, value = '']) => value);
  });
  const values = new Set(texts.map((text) => product(text.replaceAll('_', ''))));
  expect({ place, values: [...values] }).toEqual({ place, values: [expect.any(Number)] });
  return [...values][0] ?? Number.NaN;
}

/** Evaluates a product of numbers and powers, such as `64 * 1024 ** 2`. */
function product(text: string): number {
  const factors = text.split(/(?<!\*)\*(?!\*)/).map((factor) => {
    const [base, exponent = 1] = factor.split('**').map(Number);
    return Number(base) ** exponent;
  });
  return factors.reduce((result, factor) => result * factor);
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  KiB: 1024,
  MiB: 1024 ** 2,
  million: 1_000_000,
};

/** Returns the number of a cell, such as `10 s` or `16 KiB`. Times are in milliseconds. */
function amount(cell: string): number {
  const [, number = '', unit = ''] = /^([\d.]+)(?: (\w+))?/.exec(cell) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
}

const page = (file: string) => readMarkdown(readFileSync(join(PROJECT, file), 'utf8'));
const operating = page('docs/operating.md');
const readme = page('packages/spec-first-server/README.md');
const rows = [
  ...operating.table('limit', 'value'),
  ...operating.table('limit of a stop', 'time'),
  ...operating.table('limit of signed tokens', 'time'),
  ...page('packages/group-commit/README.md').table('parameter', 'default'),
  ...readme.table('limit of a stream', 'value'),
];
const documented = new Map(rows.map(([label = '', value = '']) => [label, value]));

const CONSTANTS: Readonly<Record<string, string>> = {
  'target, names and values of headers': 'spec-first-server/MAX_HEADER_SIZE',
  'number of headers at which a request is rejected': 'spec-first-server/MAX_HEADERS',
  'requests of one connection that wait for responses': 'spec-first-server/MAX_REQUESTS',
  'memory of all bodies, received and parsed; from 100 connections on, also of incomplete requests and unread responses':
    'spec-first-server/MEMORY_LIMIT',
  'time for the header section': 'spec-first-server/headersTimeout',
  'time for the whole request': 'spec-first-server/requestTimeout',
  'no byte in either direction, or a response that is not read': 'spec-first-server/idleTimeout',
  'between two requests of a connection': 'spec-first-server/keepAliveTimeout',
  '[steps](design.md#steps) to validate a request and its reply; large bodies have more':
    'openapi-document/DEFAULT_STEPS',
  'bytes that are read and dropped after the last response of a connection':
    'spec-first-server/MAX_DROPPED',
  'time until the client closes a connection after its last response':
    'spec-first-server/maxLinger',
  'nesting of JSON': 'openapi-document/MAX_DEPTH',
  'parts of a form': 'spec-first-server/MAX_PARTS',
  token: 'spec-first-server/MAX_TOKEN_LENGTH',
  'characters of requests that wait for the store': 'group-commit/MAX_WAITING_SIZE',
  'requests in flight': 'spec-first-server/stopTimeout',
  'all steps but the second': 'spec-first-server/STOP_LIMIT',
  'the last lines of the log': 'spec-first-server/FLUSH_LIMIT',
  'until keys are fetched again, in the background': 'spec-first-server/refreshAfter',
  'use of known keys while the key server is down or publishes no keys; tokens of other keys get 401 or 503':
    'spec-first-server/cacheMaxAge',
  '`max`': 'group-commit/max',
  '`connect_timeout`': 'group-commit/connect_timeout',
  '`statement_timeout`': 'group-commit/statement_timeout',
  'silence, before an event stream gets a comment': 'spec-first-server/HEARTBEAT_MS',
  'silence, before `serve` cuts any other stream': 'spec-first-server/idleTimeout',
  'difference between the clocks of issuer and service': 'spec-first-server/CLOCK_TOLERANCE',
};

/** Constants in seconds; all others are in milliseconds, bytes or plain numbers. */
const IN_SECONDS = new Set(['group-commit/connect_timeout', 'spec-first-server/CLOCK_TOLERANCE']);

test.each(Object.entries(CONSTANTS))('%s: the documentation has the value of %s', (label, name) => {
  expect(documented.has(label)).toBe(true);
  expect(amount(documented.get(label) ?? '')).toBe(
    constant(name) * (IN_SECONDS.has(name) ? 1000 : 1),
  );
});

const HEAP = 'JavaScript heap, with the command `spec-first-server`';

test('the documented limit of the heap is that of the start command', () => {
  const [, megabytes = ''] = /--max-heap-size=(\d+)/.exec(readFileSync(START, 'utf8')) ?? [];
  expect(documented.get(HEAP)).toBe(`${megabytes} MiB`);
});
