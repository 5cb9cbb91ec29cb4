import { describe, expect, test } from '@jest/globals';
import { CheckError, checkResponse, parsedBody } from '../../src/contract-tests/check-response.ts';
import { checkedOperation, documentOf, json, operationIn, responseOf } from './test-data.ts';

const text = { type: 'string' };
const JSON_TYPE = { 'content-type': 'application/json' };

const jsonResponse = (body: string, status = 200) => responseOf(status, JSON_TYPE, body);

async function checkerOf(responses: object, { isStrict = true, method = 'post' } = {}) {
  const document = await documentOf({
    paths: { '/a': { [method]: { operationId: 'call', responses } } },
  });
  const checked = checkedOperation(document, operationIn(document, 'call'));
  return (response: Parameters<typeof checkResponse>[1]) =>
    checkResponse(checked, response, isStrict).then(
      () => 'valid',
      (error: unknown) => {
        if (error instanceof CheckError) return `${error.check}: ${error.message}`;
        throw error;
      },
    );
}

const described = (members: object) => ({ description: '', ...members });

describe('a response', () => {
  test.each([
    [200, 'valid'],
    [404, 'valid'],
    [499, 'valid'],
    [201, 'each status is declared: the status 201 is not declared (200, 4XX)'],
    [500, 'each status is declared: the status 500 is not declared (200, 4XX)'],
  ])('must have a declared status: %i', async (status, expected) => {
    const responses = { '200': described({}), '4XX': described({}) };
    expect(await (await checkerOf(responses))(responseOf(status))).toBe(expected);
    expect(await (await checkerOf(responses, { isStrict: false }))(responseOf(status))).toBe(
      'valid',
    );
    expect(await (await checkerOf({}))(responseOf(status))).toBe('valid');
    expect(await (await checkerOf({ default: described({}) }))(responseOf(status))).toBe('valid');
  });

  test.each([
    [400, '422'],
    [422, '400'],
  ])('to an invalid request must not be %i if only %s is declared', async (status, key) => {
    const check = await checkerOf(
      { 200: described({}), [key]: described({}) },
      { isStrict: false },
    );
    expect(await check(responseOf(status))).toBe(
      `each status is declared: the status ${status} is not declared (200, ${key})`,
    );
    expect(await check(responseOf(404))).toBe('valid');
  });

  test.each([
    [{ 'x-count': '7', 'x-name': 'a' }, 'valid'],
    [{ 'x-count': '7' }, '/headers/x-name is required'],
    [{ 'x-count': 'a', 'x-name': 'a' }, '/headers/x-count must be integer'],
    [{ 'x-name': 'a', 'x-other': 'b' }, 'valid'],
    [{ 'x-name': 'a', 'x-data': '{' }, '/headers/x-data cannot be read: '],
  ])('must have the declared headers: %p', async (headers, expected) => {
    const declared = {
      'X-Count': { schema: { type: 'integer' } },
      'X-Name': { required: true, schema: text },
      'X-Data': json({ type: 'object' }),
      Constructor: { schema: { type: 'integer' } },
    };
    const check = await checkerOf({ '204': described({ headers: declared }) });
    const result = await check(responseOf(204, headers));
    const prefix = 'the headers are valid: the response 204 has headers that violate';
    if (expected === 'valid') expect(result).toBe('valid');
    else {
      expect(result).toMatch(new RegExp(`^${prefix} their schemas: `));
      expect(result.toLowerCase()).toContain(expected.split(' must')[0]);
    }
  });

  const problem = { 'application/problem+json': { schema: { type: 'object' } } };
  test.each([
    [{ 'content-type': 'application/json' }, 'valid'],
    [{ 'content-type': 'application/json; charset=utf-8' }, 'valid'],
    [{ 'content-type': 'application/problem+json' }, 'valid'],
    [
      { 'content-type': 'text/html' },
      'the media type is declared: the media type text/html of the response 200 is not declared (application/json, application/problem+json)',
    ],
    [
      {},
      'the media type is declared: the response 200 has no Content-Type (application/json, application/problem+json)',
    ],
  ])('must have a declared media type: with the headers %j', async (headers, expected) => {
    const { content } = json({ type: 'object' });
    const check = await checkerOf({ '200': described({ content: { ...content, ...problem } }) });
    expect(await check(responseOf(200, headers, '{}'))).toBe(expected);
  });

  test.each([
    ['', 'valid'],
    ['a', 'the body is valid: the body of the response 200 is not declared'],
  ])('must have no body if none is declared: "%s"', async (body, expected) => {
    expect(await (await checkerOf({ '200': described({}) }))(responseOf(200, {}, body))).toBe(
      expected,
    );
  });

  test.each([
    [204, 'post'],
    [205, 'post'],
    [304, 'post'],
    [200, 'head'],
  ])('with the status %i to %s has no body', async (status, method) => {
    const check = await checkerOf({ [status]: described(json(text)) }, { method });
    expect(await check(responseOf(status))).toBe('valid');
  });
});

describe('the body of a response', () => {
  const check = async (schema: unknown, body: string, type = 'application/json') =>
    (await checkerOf({ '200': described({ content: { [type]: { schema } } }) }))(
      responseOf(200, { 'content-type': type }, body),
    );
  const object = {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'integer', format: 'int64' },
      secret: { type: 'string', writeOnly: true },
    },
  };

  test.each([
    [object, '{"id":9223372036854775807}', 'valid'],
    [object, '{"id":9223372036854775808}', 'violates its schema: /body/id must be'],
    [object, '{"id":"1"}', 'violates its schema: /body/id must be integer in {"id":"1"}'],
    [object, '{"id":1,"secret":"a"}', 'violates its schema: /body/secret'],
    [object, '{"id":1', 'must be JSON'],
    [object, '', 'is missing'],
    [{ type: 'number', multipleOf: 0.01 }, '111848.18', 'valid'],
    [true, '{"a":1}', 'valid'],
    [{ type: 'null' }, 'null', 'valid'],
  ])('in JSON with the schema %j is checked: %s', async (schema, body, expected) => {
    const result = await check(schema, body);
    if (expected === 'valid') expect(result).toBe('valid');
    else expect(result).toContain(`the body is valid: the body of the response 200 ${expected}`);
  });

  test('is shown up to 500 characters', async () => {
    const result = await check({ type: 'integer' }, JSON.stringify('x'.repeat(2_000)));
    expect(result).toMatch(/ in "x{499}… \(2002 characters\)$/);
  });

  test.each([
    ['text/plain', { type: 'integer' }, '12', 'valid'],
    ['text/plain', { type: 'integer' }, 'a', expect.stringContaining('/body must be integer')],
    ['application/octet-stream', { type: 'string', maxLength: 1 }, 'bytes', 'valid'],
  ])('in %s with the schema %p is checked: %s', async (type, schema, body, expected) => {
    expect(await check(schema, body, type)).toEqual(expected);
  });

  test('in JSON without a schema is not checked', async () => {
    const checker = await checkerOf({ '200': described({ content: { 'application/json': {} } }) });
    expect(await checker(jsonResponse('{'))).toBe('valid');
  });

  const event = { type: 'object', properties: { data: text } };
  test.each([
    ['application/jsonl', { type: 'integer' }, '1\n2\n', 'valid'],
    [
      'application/jsonl',
      { type: 'integer' },
      '1\n"a"\n',
      expect.stringContaining('item 1 of the response 200 violates its schema: '),
    ],
    [
      'application/jsonl',
      { type: 'integer' },
      '1\n2\n{\n',
      expect.stringContaining('item 2 of the response 200 must be JSON'),
    ],
    ['text/event-stream', event, 'data: a\n\n', 'valid'],
  ])('in %s with the item schema %j is checked: %j', async (type, itemSchema, body, expected) => {
    const content = { [type]: { itemSchema } };
    const checker = await checkerOf({ '200': described({ content }) });
    expect(await checker(responseOf(200, { 'content-type': type }, body))).toEqual(expected);
  });

  test('may end within an item, if the stream was cut', async () => {
    const content = { 'application/jsonl': { itemSchema: { type: 'integer' } } };
    const checker = await checkerOf({ '200': described({ content }) });
    const response = responseOf(200, { 'content-type': 'application/jsonl' }, '1\n[');
    expect(await checker({ ...response, isCut: true })).toBe('valid');
    expect(await checker(response)).toContain('item 1 of the response 200 must be JSON');
    const wrong = { ...response, body: Buffer.from('"a"\n['), isCut: true };
    expect(await checker(wrong)).toContain('item 0 of the response 200 violates its schema');
  });

  test('may have bytes as items of a multipart stream', async () => {
    const content = { 'multipart/mixed': { itemSchema: { type: 'integer' } } };
    const checker = await checkerOf({ '200': described({ content }) });
    const part = '--b\r\nContent-Type: image/png\r\n\r\nbytes\r\n--b--\r\n';
    const headers = { 'content-type': 'multipart/mixed; boundary=b' };
    expect(await checker(responseOf(200, headers, part))).toBe('valid');
  });
});

test('the JSON value of a body has exact integers', () => {
  expect(parsedBody(jsonResponse('{"id":9007199254740993}'))).toEqual({ id: 9007199254740993n });
});

test.each(['{', ''])('the body "%s" has no JSON value', (body) => {
  expect(parsedBody(jsonResponse(body))).toBeUndefined();
});
