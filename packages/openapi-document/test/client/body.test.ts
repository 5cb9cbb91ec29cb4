import { expect, test } from '@jest/globals';
import { encodeBody, readBody } from '../../src/client/body.ts';
import { Codecs } from '../../src/codecs/codecs.ts';

const codecs = new Codecs();

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

test('items are closed if one of them cannot be written', async () => {
  let isClosed = false;
  async function* source() {
    try {
      yield 1;
      yield () => 0;
    } finally {
      isClosed = true;
    }
  }
  const { body } = await encodeBody(codecs, { type: 'application/jsonl', items }, source());
  await expect(new Response(body).text()).rejects.toThrow(TypeError);
  expect(isClosed).toBe(true);
});

const read = async (type: string, body: string) => {
  await codecs.load([{ type }]);
  const response = new Response(body);
  return { response, value: await readBody(codecs.of({ type }), { type }, response) };
};

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
