import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { createFramer } from '../../src/postgres/messages.ts';

function message(type: string, content: Buffer): Buffer {
  const header = Buffer.from(`${type}    `);
  header.writeUInt32BE(4 + content.length, 1);
  return Buffer.concat([header, content]);
}

/** A message of each type, with its content in hexadecimal digits. */
const MESSAGES = Object.entries({
  1: '',
  2: '',
  3: '',
  A: '00000001 6e00 7000',
  C: '53454c454354203100',
  D: '0003 00000001 61 ffffffff 00000000',
  E: '53 4500 43 5858303030 00 4d 00 00',
  G: '00 0001 0000',
  H: '00 0002 0000 0001',
  I: '',
  N: '53 4e00 00',
  S: '6100 6200',
  T: '0002 6100 000000000000000000170004ffffffff0000 00 000000000000000000170004ffffffff0000',
  Z: '49',
  c: '',
  n: '',
  s: '',
  t: '0001 00000017',
}).map(([type, digits]) => ({ type, content: Buffer.from(digits.replaceAll(' ', ''), 'hex') }));

/** Messages whose content has no end of its own: its minimum length in bytes. */
const OPEN_ENDED = [
  { type: 'K', minimum: 8 },
  { type: 'R', minimum: 4 },
  { type: 'd', minimum: 0 },
];

const ALL = Buffer.concat(MESSAGES.map(({ type, content }) => message(type, content)));

test('complete messages are returned, whatever the chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(ALL.length)), (cuts) => {
      const take = createFramer();
      const ends = [...cuts.sort((a, b) => a - b), ALL.length];
      const taken = ends.map((end, index) => take(ALL.subarray(ends[index - 1] ?? 0, end)));
      expect(Buffer.concat(taken)).toEqual(ALL);
    }),
    randomValues(200),
  );
  const take = createFramer();
  expect(take(ALL.subarray(0, -1))).toEqual(ALL.subarray(0, -message('t', Buffer.alloc(6)).length));
});

describe('is malformed:', () => {
  test.each(MESSAGES)(
    'a message $type that is cut off, or has a further byte',
    ({ type, content }) => {
      for (let length = 0; length < content.length; length += 1)
        expect(() => createFramer()(message(type, content.subarray(0, length)))).toThrow();
      const longer = Buffer.concat([content, Buffer.of(0)]);
      expect(() => createFramer()(message(type, longer))).toThrow();
    },
  );

  test.each(OPEN_ENDED)(
    'a message $type that is shorter than $minimum bytes',
    ({ type, minimum }) => {
      for (let length = 0; length < 12; length += 1) {
        const take = () => createFramer()(message(type, Buffer.alloc(length)));
        if (length < minimum) expect(take).toThrow();
        else expect(take()).toHaveLength(5 + length);
      }
    },
  );

  test.each([
    ['an unknown type', '7800000004'],
    ['a length of 3', '3100000003'],
    ['a length that PostgreSQL cannot send', '4440000001'],
  ])('a message with %s', (_name, digits) => {
    expect(() => createFramer()(Buffer.from(digits, 'hex'))).toThrow();
  });
});
