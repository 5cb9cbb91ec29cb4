import { expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { encodeBody, readBody } from '../../src/client/body.ts';
import { Codecs } from '../../src/codecs/codecs.ts';
import type { FormEncoding } from '../../src/parameters/write-parameter.ts';

const codecs = new Codecs();

test.each(
  withText<unknown, [type: string, encoding: FormEncoding, text: string]>([
    [{ n: 2n ** 60n }, 'application/json', {}, '{"n":1152921504606846976}'],
    ['a', 'application/vnd.a+json; version=2', {}, '"a"'],
    [{ a: [1, 'b c'] }, 'application/x-www-form-urlencoded', {}, 'a=1&a=b%20c'],
    [{ a: [1, 2] }, 'application/x-www-form-urlencoded', { a: { explode: false } }, 'a=1,2'],
    [{ a: 1 }, 'Application/X-WWW-Form-Urlencoded; charset=utf-8', {}, 'a=1'],
    ['a', 'text/plain', {}, 'a'],
    [5, 'text/plain', {}, '5'],
  ]),
)('the body %s of %s with the encoding %j is %j', async (_text, type, encoding, text, body) => {
  expect(await encodeBody(codecs, { type, encoding }, body)).toEqual({
    contentType: type,
    body: text,
  });
});

const items = { data: 'text' } as const;

test.each([
  { type: 'image/png' },
  { type: 'text/plain' },
  { type: 'application/jsonl', items },
  { type: 'multipart/mixed', items },
])('bytes and streams of %j are sent unchanged', async (format) => {
  for (const body of [new Blob(['a']), new ReadableStream()])
    expect((await encodeBody(codecs, format, body)).body).toBe(body);
});

const read = async (type: string, body: string) => {
  await codecs.load([{ type }]);
  const response = new Response(body);
  return { response, value: await readBody(codecs.of({ type }), { type }, response) };
};

test.each<[type: string, body: string, value: unknown]>([
  ['application/json', '{"n":9007199254740993}', { n: 9007199254740993n }],
  ['application/problem+json', '1', 1],
  ['text/json', '"a"', 'a'],
  ['text/html', 'é', 'é'],
])('a response of %s with the body %j is read as %p', async (type, body, value) => {
  expect((await read(type, body)).value).toEqual(value);
});

test.each(['image/png', 'text/event-stream', 'multipart/form-data'])(
  'a response of %s is a stream',
  async (type) => {
    const { response, value } = await read(type, 'a');
    expect(value).toBe(response.body);
  },
);

test('a response that declares JSON but is not JSON is an error', async () => {
  await expect(read('application/json', '<p>')).rejects.toThrow('the body must be JSON');
});
