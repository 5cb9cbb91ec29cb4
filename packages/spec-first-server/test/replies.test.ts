import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';
import type { AnyHandler } from '../src/core/handlers/types.ts';

/** Serves replies of a schema. Returns the response to each, and the lines of the log. */
async function repliesOf(schema: string, components = '{}', options = {}) {
  const text = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses: { '200': { description: it, content: { application/json: { schema: ${schema} } } } }
components: { schemas: ${components} }
`;
  let body: unknown;
  const a: AnyHandler = () => ({ status: 200, body });
  const { client, lines } = await withFiles({ 'openapi.yaml': text }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { a }, options),
  );
  return {
    lines,
    async reply(value: unknown) {
      body = value;
      const { status, body: answer } = await client.get('/a');
      return status === 200 ? answer : status;
    },
  };
}

const PLANT = 'type: object, required: [id], properties: { id: { type: integer } }';

describe('a reply without members that the document does not declare', () => {
  test.each<[title: string, schema: string, value: unknown, answer: unknown]>([
    ['an object', `{ ${PLANT} }`, { id: 1, hash: 'x' }, { id: 1 }],
    ['a closed object', `{ ${PLANT}, additionalProperties: false }`, { id: 1, b: 2 }, { id: 1 }],
    [
      'objects in lists and members',
      `{ type: array, items: { type: object, properties: { plant: { ${PLANT} } } } }`,
      [{ plant: { id: 1, b: 2 } }, { plant: { id: 2 }, c: 3 }],
      [{ plant: { id: 1 } }, { plant: { id: 2 } }],
    ],
    [
      'parts of an allOf',
      `{ allOf: [{ ${PLANT} }, { type: object, properties: { n: {} } }], unevaluatedProperties: false }`,
      { id: 1, n: 2, m: 3 },
      { id: 1, n: 2 },
    ],
    [
      'the alternative that matches',
      '{ oneOf: [{ type: object, required: [a], properties: { a: {}, x: {} } }, { type: object, required: [b], properties: { b: {}, y: {} } }] }',
      { b: 1, x: 2, y: 3, z: 4 },
      { b: 1, y: 3 },
    ],
    [
      'closed alternatives, of which the larger one is meant',
      '{ oneOf: [{ type: object, properties: { a: {} }, additionalProperties: false }, { type: object, required: [b], properties: { a: {}, b: {} }, additionalProperties: false }] }',
      { a: 1, b: 2, c: 3 },
      { a: 1, b: 2 },
    ],
    [
      'all alternatives of an anyOf that match',
      '{ anyOf: [{ type: object, properties: { a: {} } }, { type: object, properties: { b: {} } }] }',
      { a: 1, b: 2, c: 3 },
      { a: 1, b: 2 },
    ],
    [
      'the alternative that a constant names',
      '{ oneOf: [{ type: object, required: [k], properties: { k: { const: a }, x: {} } }, { type: object, required: [k], properties: { k: { const: b }, y: {} } }] }',
      { k: 'b', x: 1, y: 2 },
      { k: 'b', y: 2 },
    ],
    [
      'members that a condition declares',
      '{ type: object, properties: { k: {} }, if: { properties: { k: { const: 1 } } }, then: { properties: { a: {} } }, else: { properties: { b: {} } } }',
      { k: 1, a: 1, b: 2 },
      { k: 1, a: 1 },
    ],
    ['a map', '{ type: object, additionalProperties: true }', { a: { b: 1 } }, { a: { b: 1 } }],
    [
      'a map of objects',
      `{ ${PLANT}, additionalProperties: { ${PLANT} } }`,
      { id: 1, next: { id: 2, b: 3 } },
      { id: 1, next: { id: 2 } },
    ],
    [
      'members by pattern',
      '{ type: object, patternProperties: { ^x-: {} } }',
      { 'x-a': 1, b: 2 },
      { 'x-a': 1 },
    ],
    ['an object of any members', '{ type: object }', { a: { b: 1 } }, { a: { b: 1 } }],
    ['any value', '{}', { a: { b: 1 } }, { a: { b: 1 } }],
    ['a member __proto__', `{ ${PLANT} }`, JSON.parse('{"id":1,"__proto__":{"b":2}}'), { id: 1 }],
  ])('%s', async (_title, schema, value, answer) => {
    const before = structuredClone(value);
    const { reply } = await repliesOf(schema);
    expect(await reply(value)).toEqual(answer);
    expect(value).toEqual(before);
  });

  test('that is written of a class', async () => {
    class Row {
      id = 1;
      hash = 'x';
      get secret() {
        return 's';
      }
    }
    const { reply } = await repliesOf(`{ ${PLANT} }`);
    expect(await reply(new Row())).toEqual({ id: 1 });
  });

  test('is logged once for an operation in development, and not otherwise', async () => {
    const { reply, lines } = await repliesOf(`{ ${PLANT} }`, '{}', { inDevelopment: true });
    await reply({ id: 1, hash: 'x' });
    await reply({ id: 1, other: 'x' });
    expect(lines.filter(({ member }) => member !== undefined)).toEqual([
      expect.objectContaining({ operationId: 'a', member: 'hash' }),
    ]);
    const quiet = await repliesOf(`{ ${PLANT} }`);
    await quiet.reply({ id: 1, hash: 'x' });
    expect(JSON.stringify(quiet.lines)).not.toContain('hash');
  });
});

describe('a reply with values that JSON writes as others', () => {
  const TIMES =
    '{ type: object, properties: { at: { type: string, format: date-time }, day: { type: string, format: date }, link: { type: string, format: uri }, money: { type: integer } } }';

  test('is validated and written as JSON writes it', async () => {
    const { reply } = await repliesOf(TIMES);
    const at = new Date('2024-02-29T12:00:00Z');
    const link = new URL('https://example.com/a');
    expect(await reply({ at, day: at, link, money: { toJSON: () => 5 } })).toEqual({
      at: '2024-02-29T12:00:00.000Z',
      day: '2024-02-29',
      link: 'https://example.com/a',
      money: 5,
    });
  });

  test('is rejected where that does not fit', async () => {
    const { reply } = await repliesOf(TIMES);
    expect(await reply({ at: new Date(Number.NaN) })).toBe(500);
    expect(await reply({ money: { toJSON: () => 'five' } })).toBe(500);
  });

  test('matches the alternative that it is written as', async () => {
    const { reply } = await repliesOf(
      '{ anyOf: [{ type: object, required: [at], properties: { at: { type: string, format: date-time } } }, { type: object, properties: { b: {} } }] }',
    );
    const answer = await reply({ at: new Date(0), c: undefined, d: 1 });
    expect(answer).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  });
});

describe('formats of a service', () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };

  test('are checked in requests and replies', async () => {
    const text = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { type: string, format: even } } } }
      responses: { '200': { description: it, content: { application/json: { schema: { type: string, format: even } } } } }
`;
    const a: AnyHandler = ({ body }) => ({ status: 200, body: body === 'four' ? 'odd' : body });
    const { client, lines } = await withFiles({ 'openapi.yaml': text }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { a }, { formats }),
    );
    const post = (body: string) =>
      client.post('/a').set('Content-Type', 'application/json').send(JSON.stringify(body));
    await post('ab').expect(200);
    const { body } = await post('abc').expect(400);
    expect(body.message).toBe('/body must match format "even"');
    await post('four').expect(500);
    expect(JSON.stringify(lines)).not.toContain('format even is not known');
  });
});
