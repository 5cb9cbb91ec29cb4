import { describe, expect, test } from '@jest/globals';
import {
  type RequestPart,
  requestPartsOf,
  valuesByName,
} from '../../src/contract-tests/request-parts.ts';
import { checkedOperation, documentOf, operationIn } from './test-data.ts';

async function partsIn(members: object, schemas: object = {}, path = '/a') {
  const operation = { operationId: 'call', responses: {}, ...members };
  const document = await documentOf({
    paths: { [path]: { post: operation } },
    components: { schemas },
  });
  return requestPartsOf(checkedOperation(document, operationIn(document, 'call')));
}

const parameterIn = async (where: string, schema: object, members: object = {}) => {
  const parameter = { name: 'p', in: where, schema, required: where === 'path', ...members };
  const { parameters } = await partsIn(
    { parameters: [parameter] },
    {},
    where === 'path' ? '/a/{p}' : '/a',
  );
  return parameters[0];
};
const bodyOf = async (type: string, media: object, schemas: object = {}) => {
  const { bodies } = await partsIn({ requestBody: { content: { [type]: media } } }, schemas);
  return bodies[0];
};

const text = { type: 'string' };
type Verdict = 'valid' | 'rejected' | 'cannot be sent';
type Examples = Partial<Record<Verdict, readonly unknown[]>>;

function expectVerdicts(part: RequestPart | undefined, examples: Examples) {
  for (const [verdict, values] of Object.entries(examples)) {
    for (const value of values) {
      const violation = part?.violation(value);
      const sent = violation === '' ? 'valid' : 'rejected';
      expect([value, violation === undefined ? 'cannot be sent' : sent]).toEqual([value, verdict]);
    }
  }
}

describe('a value of a parameter', () => {
  const closed = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };
  const withDefault = { type: 'object', properties: { a: {}, b: { type: 'integer', default: 3 } } };
  const deep = { style: 'deepObject' };
  test.each<[where: string, schema: object, members: object, examples: Examples]>([
    [
      'query',
      { type: 'integer', minimum: 1 },
      {},
      { valid: [1], rejected: [0], 'cannot be sent': ['1'] },
    ],
    ['query', text, {}, { valid: ['', 'ä ', ' '], 'cannot be sent': [1] }],
    ['query', closed, deep, { valid: [{ a: 1 }], rejected: [{ a: 'b' }] }],
    ['query', withDefault, deep, { valid: [{ a: '1' }] }],
    ['path', text, {}, { valid: ['...', 'a.'], 'cannot be sent': ['', '.', '..'] }],
    ['path', { type: 'integer' }, {}, { valid: [7], rejected: ['a'] }],
    [
      'header',
      text,
      {},
      { valid: ['a b', '~'], 'cannot be sent': ['', ' a', 'a ', 'aä', 'äa', 'a\n'] },
    ],
    ['cookie', text, {}, { valid: ['a', ' ä'], 'cannot be sent': [{ a: null }] }],
  ])(
    'in %s with the schema %j (%j) is valid, rejected or cannot be sent',
    async (where, schema, members, examples) => {
      const part = await parameterIn(where, schema, members);
      expect(part).toMatchObject({ in: where, name: 'p', required: where === 'path' });
      expectVerdicts(part, examples);
    },
  );

  test('has the same violations as in the server, and none of other parameters', async () => {
    const { parameters } = await partsIn({
      parameters: [
        { name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 9 } },
        { name: 'color', in: 'query', required: true, schema: { enum: ['red'] } },
      ],
    });
    const violations = parameters.map((part) => part.violation('10'));
    expect(violations).toEqual([
      expect.stringMatching(/^\/query\/limit must be <= 9/),
      expect.stringMatching(/^\/query\/color/),
    ]);
  });
});

describe('a value of a body', () => {
  const object = {
    type: 'object',
    properties: { a: { type: ['string', 'number', 'array', 'null'] } },
  };
  const event = { type: 'object', properties: { data: text, id: text } };
  const texts = { type: 'object', properties: { a: { type: 'string', maxLength: 3 } } };
  const file = { type: 'string', format: 'binary', maxLength: 1 };
  const files = {
    type: 'object',
    properties: { a: file, c: { type: 'array', items: { ...file, maxLength: 2 }, maxItems: 2 } },
    required: ['a'],
  };
  const nested = {
    type: 'object',
    properties: {
      a: { type: 'object', required: ['b'], properties: { b: { type: 'integer' } } },
      c: { type: 'array', items: { type: 'object' } },
    },
    required: ['a'],
  };
  const form = 'application/x-www-form-urlencoded';
  test.each<[type: string, schema: unknown, examples: Examples]>([
    [
      'application/json',
      { type: 'integer', format: 'int64' },
      { valid: [2 ** 62], rejected: [2 ** 63, '1'] },
    ],
    ['application/json', { type: 'null' }, { valid: [undefined, null] }],
    ['application/xml', true, { valid: ['a'], 'cannot be sent': ['', {}] }],
    [
      'text/plain',
      { ...text, maxLength: 2 },
      { valid: ['a'], rejected: ['abc'], 'cannot be sent': ['', {}, []] },
    ],
    [
      form,
      object,
      {
        valid: [{ a: 'b' }, { a: ['b'] }],
        'cannot be sent': [
          ...[{}, { a: [] }, { a: null }, { a: ['b', {}] }, { a: 'b', c: null }],
          ...['a', ['a']],
        ],
      },
    ],
    [
      form,
      texts,
      {
        valid: [{ a: '1' }, { a: 'b', c: 'd' }],
        rejected: [{ a: 'long' }, { a: ['b', 'c'] }],
        'cannot be sent': [{ a: 1 }],
      },
    ],
    [
      form,
      nested,
      {
        valid: [{ a: { b: 1 } }, { a: { b: 1 }, c: [{ d: 'e' }] }],
        rejected: [{ a: { b: 'c' } }, { a: {} }, { a: 'b' }, { a: null }, { c: [] }],
      },
    ],
    [
      'multipart/form-data',
      object,
      { valid: [{ a: 'b' }], 'cannot be sent': [{ a: null }, undefined] },
    ],
    ['multipart/form-data', texts, { valid: [{ a: '1' }], 'cannot be sent': [{ a: 1 }] }],
    ['multipart/form-data', nested, { valid: [{ a: { b: 1 } }], rejected: [{ a: { b: 'c' } }] }],
    [
      'multipart/form-data',
      files,
      {
        valid: [{ a: 'b' }, { a: 'b', c: ['d', 'ä'] }],
        rejected: [{ a: 'ä' }, { a: 'b', c: ['d', 'e', 'f'] }],
      },
    ],
  ])(
    'in %s with the schema %j is valid, rejected or cannot be sent',
    async (type, schema, examples) => {
      const part = await bodyOf(type, { schema });
      expect(part).toMatchObject({ in: 'body', name: '', required: false, media: { type } });
      expectVerdicts(part, examples);
    },
  );

  test('in a form is rejected if the server cannot parse it', async () => {
    const encoding = { a: { style: 'form', explode: true } };
    const part = await bodyOf(form, { schema: texts, encoding });
    expectVerdicts(part, { valid: [{ a: 'b' }], rejected: [{ a: ['b', 'c'] }] });
  });

  test.each<[type: string, itemSchema: object, item: unknown, examples: Examples]>([
    ['text/event-stream', event, { data: 'a' }, { 'cannot be sent': [{ id: 'a\nb' }] }],
    ['text/event-stream', event, { data: 'a', id: '1' }, { rejected: [{ data: 1 }] }],
    ['application/jsonl', { type: 'integer' }, 1, { rejected: ['a', [1]] }],
  ])(
    'is one item of a stream in %s with the schema %j: %j',
    async (type, itemSchema, item, examples) => {
      const part = await bodyOf(type, { itemSchema, examples: { one: { value: [item, item] } } });
      expectVerdicts(part, { ...examples, valid: [item] });
      expect(part?.examples).toEqual([item, item]);
      expect(part?.samples).not.toContain('text');
    },
  );
});

describe('the values of a part', () => {
  test('are its valid examples, and samples of its schema', async () => {
    const schema = { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 };
    const examples = { one: { value: ['a', 'b'] }, wrong: { value: ['c'] } };
    const inQuery = await parameterIn('query', schema, { examples });
    const inBody = await bodyOf('application/json', { schema, examples });
    expect([inQuery?.examples, inBody?.examples]).toEqual([[['a', 'b']], [['a', 'b']]]);
    for (const value of [...(inQuery?.samples ?? []), ...(inBody?.samples ?? [])])
      expect(inBody?.violation(value)).toBe('');
    expect(inBody?.samples).toContainEqual(['a']);
  });

  test('are at most twelve samples', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `value-${index}`);
    expect((await bodyOf('application/json', { schema: { enum: names } }))?.samples).toHaveLength(
      12,
    );
  });

  test('have at most twelve digits, or are exact integers', async () => {
    const samples = (
      await bodyOf('application/json', { schema: { type: 'number', minimum: 1 / 3 } })
    )?.samples;
    for (const sample of samples ?? []) expect(String(sample).length).toBeLessThan(16);
    const large = await bodyOf('application/json', { schema: { const: 2n ** 53n + 1n } });
    expect(new Set(large?.samples)).toEqual(new Set([2n ** 53n + 1n]));
  });

  test.each([
    ['application/json', true, ['text', 1, true, {}]],
    ['application/xml', { description: 'XML.' }, ['text', '🌵']],
    ['application/xml', { type: 'string', enum: ['a'] }, ['a']],
    ['text/plain', true, ['text', 1, true]],
  ])('are fixed for %s with the schema %j', async (type, schema, samples) => {
    const part = await bodyOf(type, { schema });
    expect(new Set(part?.samples)).toEqual(new Set(samples));
  });

  test('include each alternative of a discriminator', async () => {
    const kind = (name: string) => ({
      type: 'object',
      required: ['petType', name],
      properties: { petType: text, [name]: text },
    });
    const body = await bodyOf(
      'application/json',
      { schema: { $ref: '#/components/schemas/Pet' } },
      {
        Pet: {
          oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
          discriminator: { propertyName: 'petType', mapping: { dog: 'Dog' } },
        },
        Cat: kind('name'),
        Dog: kind('bark'),
      },
    );
    const types = body?.samples.map((value) => Object(value).petType);
    expect(new Set(types)).toEqual(new Set(['Cat', 'dog']));
  });
});

const IMPOSSIBLE = { type: 'string', pattern: '^a$', minLength: 5 };

describe('a part without a valid sample', () => {
  const possible = { schema: text };
  const impossible = { schema: IMPOSSIBLE };
  const parameter = (name: string, required: boolean, schema: object) => ({
    parameters: [{ name, in: 'query', required, schema }],
  });

  test('is left out, if it is optional', async () => {
    const content = { 'application/json': impossible, 'text/plain': possible };
    const requestBody = { required: true, content };
    const some = await partsIn({ ...parameter('a', false, IMPOSSIBLE), requestBody });
    expect(some.parameters).toEqual([]);
    expect(some.bodies.map(({ media, required }) => [media?.type, required])).toEqual([
      ['text/plain', true],
    ]);
    const optional = { content: { 'application/json': impossible } };
    expect((await partsIn({ requestBody: optional })).bodies).toEqual([]);
    expect(await partsIn(parameter('a', true, text))).toMatchObject({ bodies: [] });
  });

  test.each([
    ['the query parameter a', parameter('a', true, IMPOSSIBLE)],
    ['the body', { requestBody: { required: true, content: { 'application/json': impossible } } }],
  ])('is an error, if %s is required', async (place, members) => {
    await expect(partsIn(members)).rejects.toThrow(
      `No valid value was found for ${place}. ` +
        'Add an example to the document, or check that a value can satisfy the schema.',
    );
  });

  test('may have an example', async () => {
    const schema = { type: 'string', pattern: '^(?=a)b?a$' };
    const part = await parameterIn('query', schema, { example: 'a' });
    expect(part?.examples).toEqual(['a']);
  });
});

test('values are found by place and name', async () => {
  const { parameters } = await partsIn({
    parameters: [
      { name: 'a', in: 'query', schema: text },
      { name: 'b', in: 'query', schema: text },
      { name: 'a', in: 'header', schema: text },
    ],
  });
  const values = new Map(parameters.map((part, index) => [part, index]));
  expect(valuesByName(values, 'query')).toEqual({ a: 0, b: 1 });
  expect(valuesByName(values, 'header')).toEqual({ a: 2 });
});
