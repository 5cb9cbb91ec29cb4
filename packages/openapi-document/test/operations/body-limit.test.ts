import { describe, expect, test } from '@jest/globals';
import { Codecs } from '../../src/codecs/codecs.ts';
import { bodyLimitOf, parseSize } from '../../src/operations/body-limit.ts';
import { documentOf } from '../support/operations.ts';

async function mediaOf(type: string, media: object) {
  const content = { [type]: media };
  const { operations } = await documentOf({ '/a': { post: { requestBody: { content } } } });
  const [first] = operations.flatMap(({ requestBody }) => requestBody?.media ?? []);
  if (first === undefined) throw new Error('the document has no media type');
  return first;
}

describe('parseSize', () => {
  test.each([
    ['1', 1],
    ['100kb', 102_400],
    ['10 MB', 10_485_760],
    ['256mb', 268_435_456],
  ])('reads %j as %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(['', '0', '-1', '1.5', '1gb', '257mb', '1e3'])('rejects %j', (text) => {
    expect(() => parseSize(text)).toThrow('a size from 1b to 256mb, such as 500, 100kb or 10mb');
  });

  test('accepts larger sizes with another maximum', () => {
    expect(parseSize('3000mb', Number.MAX_SAFE_INTEGER)).toBe(3_145_728_000);
    expect(parseSize('999999999999999', Number.MAX_SAFE_INTEGER)).toBe(999_999_999_999_999);
    for (const text of ['0', '9999999999999999', '999999999999999mb'])
      expect(() => parseSize(text, Number.MAX_SAFE_INTEGER)).toThrow(
        'a size of at least 1b, such as 500, 100kb or 10mb',
      );
  });
});

describe('bodyLimitOf', () => {
  const binary = { type: 'string', format: 'binary', maxLength: 30 };
  test.each<[string, string, object, number]>([
    ['the usual limit', 'application/json', { schema: {} }, 10],
    [
      'the usual limit, not the length of a text',
      'text/plain',
      { schema: { type: 'string', maxLength: 30 } },
      10,
    ],
    [
      'the usual limit of an item',
      'application/x-ndjson',
      { itemSchema: {}, schema: { maxLength: 30 } },
      10,
    ],
    ['the usual limit of bytes without maxLength', 'image/png', { schema: {} }, 10],
    ['maxLength of bytes', 'image/png', { schema: binary }, 30],
    ['x-body-limit', 'application/json', { 'x-body-limit': 20 }, 20],
    ['x-body-limit with a unit', 'application/json', { 'x-body-limit': '1kb' }, 1024],
    ['x-body-limit before maxLength', 'image/png', { schema: binary, 'x-body-limit': 20 }, 20],
    ['a large x-body-limit of bytes', 'image/png', { 'x-body-limit': 3e9 }, 3e9],
    [
      'a large x-body-limit of a form',
      'multipart/form-data',
      { 'x-body-limit': '1000mb' },
      1_048_576_000,
    ],
  ])('returns %s: %s with %j', async (_title, type, media, limit) => {
    const declared = await mediaOf(type, media);
    expect(bodyLimitOf(declared, new Codecs().factsOf(declared), 10)).toBe(limit);
  });
});
