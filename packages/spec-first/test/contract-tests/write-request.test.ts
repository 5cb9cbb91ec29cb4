import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import type { Secret } from '../../src/contract-tests/credentials.ts';
import {
  curlLine,
  type RequestDraft,
  writeRequest,
} from '../../src/contract-tests/write-request.ts';
import { checkedOperation, documentOf, operationIn, requestValues } from './test-data.ts';

const text = { type: 'string' };

async function sentRequest(
  members: object,
  values: Readonly<Record<string, unknown>>,
  deviations: Omit<RequestDraft, 'values'> = {},
  secrets: readonly Secret[] = [],
  path = '/a',
) {
  const document = await documentOf({
    paths: { [path]: { post: { operationId: 'call', responses: {}, ...members } } },
  });
  const operation = operationIn(document, 'call');
  return writeRequest(
    checkedOperation(document, operation),
    { values: requestValues(operation, values), ...deviations },
    secrets,
  );
}

const parameter = (where: string, name: string) => ({ name, in: where, schema: text });
const secret = (where: Secret['in'], name: string, value: string): Secret => ({
  ...{ scheme: 'key', in: where, name, value, placeholder: 'TOKEN' },
});
const bodyOf = (type: string, media: object = {}) => ({
  requestBody: { content: { [type]: media } },
});

describe('a request', () => {
  test('has the parameters in their places', async () => {
    const members = {
      parameters: [
        { ...parameter('path', 'id'), required: true },
        parameter('query', 'id'),
        parameter('header', 'X-Id'),
        parameter('cookie', 'id'),
      ],
    };
    const values = { 'path id': 'a/b', 'query id': 'c d', 'header X-Id': 'e', 'cookie id': 'f' };
    expect(await sentRequest(members, values, {}, [], '/a/{id}')).toEqual({
      method: 'POST',
      url: '/a/a%2Fb?id=c%20d',
      headers: { 'X-Id': 'e', Cookie: 'id=f' },
      body: undefined,
    });
  });

  test.each([
    [{}, {}, [], '/a'],
    [{ 'query q': '1' }, {}, [], '/a?q=1'],
    [{}, { undeclaredQuery: 'x=y' }, [], '/a?x=y'],
    [{}, {}, [secret('query', 'k&', 'v=')], '/a?k%26=v%3D'],
    [{ 'query q': '1' }, { undeclaredQuery: 'x=y' }, [secret('query', 'k', 'v')], '/a?q=1&x=y&k=v'],
  ])(
    'with the values %j, the deviations %j and the secrets %j has the URL %s',
    async (values, deviations, secrets, url) => {
      const members = { parameters: [parameter('query', 'q')] };
      const sent = await sentRequest(members, values, deviations, secrets);
      expect(sent).toEqual({ method: 'POST', url, headers: {}, body: undefined });
    },
  );

  test('has secrets in headers and cookies, beside the parameters', async () => {
    const secrets = [
      secret('header', 'Authorization', 'Bearer x'),
      secret('cookie', 'session', 's'),
      secret('cookie', 'other', 'o'),
    ];
    const members = { parameters: [parameter('cookie', 'id')] };
    const { headers } = await sentRequest(members, { 'cookie id': 'f' }, {}, secrets);
    expect(headers).toEqual({ Authorization: 'Bearer x', Cookie: 'id=f; session=s; other=o' });
  });

  test.each(
    withText<unknown, [type: string, deviations: object, body: string]>([
      [
        { id: 2n ** 60n, name: 'ä' },
        'application/json',
        {},
        '{"id":1152921504606846976,"name":"ä"}',
      ],
      ['text', 'application/json', {}, '"text"'],
      [null, 'application/merge-patch+json', {}, 'null'],
      ['a b', 'text/plain', {}, 'a b'],
      [7, 'text/plain', {}, '7'],
      ['<a/>', 'application/xml', {}, '<a/>'],
      [{ a: 'b c', d: ['e', 'f'] }, 'application/x-www-form-urlencoded', {}, 'a=b%20c&d=e&d=f'],
      [{ a: 1 }, 'application/json', { rawBody: '{"' }, '{"'],
    ]),
  )(
    'with the value %s of %s and the deviations %j has the body %s',
    async (_text, type, deviations, body, value) => {
      const sent = await sentRequest(bodyOf(type, { schema: true }), { body: value }, deviations);
      expect([sent.headers, String(sent.body)]).toEqual([{ 'Content-Type': type }, body]);
    },
  );

  test.each([
    ['text/*', 'text/plain'],
    ['*/*', 'application/octet-stream'],
    ['application/*', 'application/octet-stream'],
    ['image/*', 'image/png'],
    ['audio/*', 'audio/mpeg'],
    ['video/*', 'video/mp4'],
    ['model/*', 'model/plain'],
  ])('has a media type in the range %s', async (range, type) => {
    const sent = await sentRequest(bodyOf(range), { body: 'a' });
    expect(sent.headers).toEqual({ 'Content-Type': type });
  });

  test('may have another media type than the declared one', async () => {
    const sent = await sentRequest(bodyOf('application/json'), { body: 1 }, { contentType: 'a/b' });
    expect([sent.headers, String(sent.body)]).toEqual([{ 'Content-Type': 'a/b' }, '1']);
  });

  test('has one item of a stream', async () => {
    const items = { itemSchema: { type: 'object' } };
    const line = await sentRequest(bodyOf('application/jsonl', items), { body: { a: 1 } });
    expect([line.headers, String(line.body)]).toEqual([
      { 'Content-Type': 'application/jsonl' },
      '{"a":1}\n',
    ]);
    const mixed = await sentRequest(bodyOf('multipart/mixed', items), { body: { a: 1 } });
    const [, boundary = ''] = /boundary=(.+)/.exec(mixed.headers['Content-Type'] ?? '') ?? [];
    expect(String(mixed.body)).toMatch(
      new RegExp(`^--${boundary}\\r\\n[^]*{"a":1}\\r\\n--${boundary}--`),
    );
  });
});

describe('a form with files', () => {
  const file = { type: 'string', format: 'binary' };
  const schema = {
    type: 'object',
    properties: {
      file,
      files: { type: 'array', items: file },
      title: text,
      any: file,
      range: file,
    },
  };
  const encoding = {
    file: { contentType: 'image/png, image/jpeg' },
    range: { contentType: 'audio/*' },
  };
  const formOf = async (value: object, index?: number) => {
    const deviations = index === undefined ? {} : { index };
    const members = bodyOf('multipart/form-data', { schema, encoding });
    const { headers, body = Buffer.alloc(0) } = await sentRequest(
      members,
      { body: value },
      deviations,
    );
    return new Response(new Uint8Array(body), { headers }).formData();
  };

  test('has files where the schema has binary strings', async () => {
    const form = await formOf({
      file: 'bytes',
      title: 'a',
      open: 'o',
      files: ['b', 'c'],
      any: 'd',
      range: 'e',
    });
    expect([form.get('title'), form.get('open')]).toEqual(['a', 'o']);
    const fileAt = async (value: unknown) =>
      value instanceof File && [await value.text(), value.type, value.name];
    expect(await fileAt(form.get('file'))).toEqual(['bytes', 'image/png', 'file']);
    expect(await Promise.all(form.getAll('files').map(fileAt))).toEqual([
      ['b', 'application/octet-stream', 'file'],
      ['c', 'application/octet-stream', 'file'],
    ]);
    expect(await fileAt(form.get('any'))).toEqual(['d', 'application/octet-stream', 'file']);
    expect(await fileAt(form.get('range'))).toEqual(['e', 'audio/mpeg', 'file']);
  });

  test('has each declared media type of a file in two successive requests', async () => {
    const forms = await Promise.all([0, 1, 2, 3, 4].map((index) => formOf({ file: 'a' }, index)));
    const types = forms.map((form) => Object(form.get('file')).type);
    expect(types).toEqual(['image/png', 'image/png', 'image/jpeg', 'image/jpeg', 'image/png']);
  });
});

test.each([
  ["curl -i 'http://a/b?c=d'", { method: 'GET', url: '/b?c=d', headers: {} }],
  ["curl -i -I 'http://a/b'", { method: 'HEAD', url: '/b', headers: {} }],
  // `--data-binary` would read the file `b`.
  [
    "curl -i -X PUT 'http://a/b' --data-raw '@b'",
    { method: 'PUT', url: '/b', headers: {}, body: Buffer.from('@b') },
  ],
  [
    `curl -i -X POST 'http://a/b' -H 'X-A: it'\\''s' -H 'X-B: c' --data-raw '{"a":"'\\''"}'`,
    {
      method: 'POST',
      url: '/b',
      headers: { 'X-A': "it's", 'X-B': 'c' },
      body: Buffer.from('{"a":"\'"}'),
    },
  ],
  [
    "curl -i -X PUT 'http://a/b' --data-raw ''",
    { method: 'PUT', url: '/b', headers: {}, body: Buffer.from('') },
  ],
])('a request is shown as %s', (line, request) => {
  expect(curlLine('http://a', request)).toBe(line);
});
