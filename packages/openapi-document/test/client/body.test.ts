import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { encodeBody, readBody } from '../../src/client/body.ts';
import type { FormEncoding } from '../../src/parameters/write-parameter.ts';

test.each(
  withText<unknown, [type: string, encoding: FormEncoding, text: string]>([
    [{ n: 2n ** 60n }, 'application/json', {}, '{"n":1152921504606846976}'],
    ['a', 'application/vnd.a+json; version=2', {}, '"a"'],
    [{ a: [1, 'b c'] }, 'application/x-www-form-urlencoded', {}, 'a=1&a=b%20c'],
    [{ a: [1, 2] }, 'application/x-www-form-urlencoded', { a: { explode: false } }, 'a=1,2'],
    [{ a: 1 }, 'Application/X-WWW-Form-Urlencoded; charset=utf-8', {}, 'a=1'],
    ['a', 'text/plain', {}, 'a'],
  ]),
)('the body %s of %s with the encoding %j is %j', (_text, type, encoding, text, body) => {
  expect(encodeBody(type, body, encoding)).toBe(text);
});

test('bytes are sent unchanged', () => {
  const blob = new Blob(['a']);
  expect(encodeBody('image/png', blob)).toBe(blob);
});

describe('a multipart form', () => {
  const formOf = async (fields: object, encoding?: FormEncoding) => {
    const form = encodeBody('multipart/form-data', fields, encoding);
    if (!(form instanceof FormData)) throw new TypeError('the body is not a form');
    const entries = [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : [value.name, value.type, await value.text()],
    ]);
    return Promise.all(entries);
  };
  const json = { a: { contentType: 'application/json' } };

  test.each(
    withText<object, [encoding: FormEncoding, entries: readonly unknown[]]>([
      [
        { a: 'b c+&=%', n: 1n, none: null, missing: undefined },
        {},
        [
          ['a', 'b c+&=%'],
          ['n', '1'],
          ['none', ''],
        ],
      ],
      [
        { 'a b': [1, { c: 2 }] },
        {},
        [
          ['a b', '1'],
          ['a b', '{"c":2}'],
        ],
      ],
      [{ a: [1, 2] }, { a: { explode: false } }, [['a', '1,2']]],
      [{ a: { b: 1 } }, { a: { style: 'deepObject' } }, [['a[b]', '1']]],
      [{ a: [1, 2n] }, json, [['a', ['blob', 'application/json', '[1,2]']]]],
      [{ a: 'x' }, { a: { contentType: 'text/plain' } }, [['a', 'x']]],
      [{ a: [1, 2] }, { a: { contentType: 'application/json', explode: false } }, [['a', '1,2']]],
      [{ a: undefined }, json, []],
    ]),
  )('of %s with the encoding %j has the fields %j', async (_text, encoding, entries, fields) => {
    expect(await formOf(fields, encoding)).toEqual(entries);
  });

  const named = new File(['a'], 'a.txt');
  const typed = new File(['b'], 'b', { type: 'text/csv' });

  test.each<[encoding: FormEncoding, type: string, textType: string]>([
    [{ files: { contentType: 'image/png' } }, 'image/png', 'image/png'],
    [{}, '', 'text/plain'],
    [{ files: { contentType: 'image/*' } }, '', 'image/*'],
    [{ files: { contentType: 'image/png, image/jpeg' } }, '', 'image/png, image/jpeg'],
  ])(
    'with the encoding %j has files of the type "%s" and texts of the type %s',
    async (encoding, type, textType) => {
      const fields = { files: [named, new Blob(['c']), typed, 'd'] };
      expect(await formOf(fields, encoding)).toEqual([
        ['files', ['a.txt', type, 'a']],
        ['files', ['blob', type, 'c']],
        ['files', ['b', 'text/csv', 'b']],
        ['files', ['blob', textType, 'd']],
      ]);
    },
  );

  test('may have one file', async () => {
    expect(await formOf({ file: typed })).toEqual([['file', ['b', 'text/csv', 'b']]]);
  });
});

test.each<[type: string, body: string, value: unknown]>([
  ['application/json', '{"n":9007199254740993}', { n: 9007199254740993n }],
  ['application/problem+json', '1', 1],
  ['text/json', '"a"', 'a'],
  ['text/html', 'é', 'é'],
])('a response of %s with the body %j is read as %p', async (type, body, value) => {
  expect(await readBody(new Response(body), type)).toEqual(value);
});

test('a response without a body or a media type has no value', async () => {
  expect(await readBody(new Response(null), 'text/plain')).toBeUndefined();
  expect(await readBody(new Response('a'), undefined)).toBeUndefined();
});

test.each(['image/png', 'text/event-stream'])('a response of %s is a stream', async (type) => {
  const response = new Response('a');
  expect(await readBody(response, type)).toBe(response.body);
});

test('a response that declares JSON but is not JSON is an error', async () => {
  await expect(readBody(new Response('<p>'), 'application/json')).rejects.toThrow(SyntaxError);
});
