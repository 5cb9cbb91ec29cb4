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
  test('is shown up to 500 characters', async () => {
    const result = await check({ type: 'integer' }, JSON.stringify('x'.repeat(2_000)));
    expect(result).toMatch(/ in "x{499}… \(2002 characters\)$/);
  });

  test('in JSON without a schema is not checked', async () => {
    const checker = await checkerOf({ '200': described({ content: { 'application/json': {} } }) });
    expect(await checker(jsonResponse('{'))).toBe('valid');
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
