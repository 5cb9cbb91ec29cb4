import { describe, expect, test } from '@jest/globals';
import { type Json, Schemas } from 'openapi-document';
import { withText } from 'test-support/titles';
import { schemaTypes, type Use } from '../src/schema-types.ts';
import type { Values } from '../src/type-text.ts';

/** The text of a type on one line, without comments. */
const lineOf = (type: string) =>
  type
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const ref = (name: string) => ({ $ref: `#/components/schemas/${encodeURIComponent(name)}` });
const record = (properties: object) => ({ type: 'object', properties });
const arrayOf = (items: object) => ({ type: 'array', items });

const text = { type: 'string' };
const number = { type: 'number' };
const integer = { type: 'integer' };
const day = { type: 'string', format: 'date' };
const time = { type: 'string', format: 'date-time' };
const binary = { type: 'string', format: 'binary' };
const wide = { type: 'integer', format: 'int64' };
const id = { type: 'integer', readOnly: true };
const secret = { type: 'string', writeOnly: true };

function typesOf(
  sources: readonly unknown[],
  components: object = {},
  { isServer = true, values = 'received' }: { isServer?: boolean; values?: Values } = {},
) {
  const schemas = new Schemas({ components: { schemas: components } });
  const uses = (['response', 'request'] as const).map((direction) =>
    sources.map((schema): Use => ({ schema, direction })),
  );
  const { typeOf: textOf, types } = schemaTypes(schemas, uses.flat(), isServer);
  const [replies = [], requests = []] = uses.map((list) =>
    list.map((use) => lineOf(textOf(use, values))),
  );
  return { replies, requests, types: types.map(({ declaration }) => lineOf(declaration)) };
}

interface Types {
  readonly request: string | undefined;
  readonly reply: string | undefined;
}

function typeOf(schema: unknown, schemas: object = {}, isServer = true): Types {
  const { requests, replies } = typesOf([schema], schemas, { isServer });
  return { request: requests[0], reply: replies[0] };
}

test.each(
  withText<unknown, [type: string]>([
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [text, 'string'],

    [{ type: ['null', 'string', 'integer'] }, 'number | string | null'],

    [integer, 'number'],

    [wide, 'Int64'],
    [{ type: ['string', 'integer'], format: 'int64' }, 'Int64 | string'],
    [{ type: 'number', format: 'int64' }, 'Int64'],
    [{ type: 'number', format: 'int64', minimum: 0, maximum: 9 }, 'number'],

    [{ ...wide, minimum: 0, maximum: 2 ** 53 - 1 }, 'number'],
    [{ ...wide, exclusiveMinimum: 0, exclusiveMaximum: 10 }, 'number'],

    [{ const: 'a', type: 'string' }, '"a"'],

    [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
    [{ enum: [1, 2n ** 60n, 2n ** 61n] }, '1 | Int64'],

    [arrayOf(arrayOf(text)), 'string[][]'],
  ]),
)('the type of %s is %s', (_text, type, schema) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

test('alternatives that only the other direction has are no part of a type', () => {
  const member = { anyOf: [{ ...text, readOnly: true }, integer, { ...wide, writeOnly: true }] };
  expect(typeOf({ ...record({ member }), required: ['member'] })).toEqual({
    request: '{ member: number | Int64; }',
    reply: '{ member: string | number; }',
  });
});

const PAIR = { type: 'array', prefixItems: [text, number] };

test.each<[schema: object, type: string]>([
  [PAIR, '[string?, number?, ...unknown[]]'],
  [{ ...PAIR, minItems: 1, items: text }, '[string, number?, ...string[]]'],
  [{ ...PAIR, minItems: 2, items: false }, '[string, number]'],

  [{ ...PAIR, minItems: 2, maxItems: 3, items: text }, '[string, number, ...string[]]'],
])('the type of the tuple %j is %s', (schema, type) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

const ADDITIONAL = { type: 'object', additionalProperties: text };

test.each<[schema: object, type: string]>([
  [{ type: 'object' }, 'Record<string, unknown>'],

  [{ properties: { a: text } }, '{ a?: string; }'],

  [{ required: ['a', 'b c'], properties: { 'b c': text } }, '{ "b c": string; a: unknown; }'],
  [ADDITIONAL, '{ [key: string]: string; }'],

  [
    { ...ADDITIONAL, required: ['n'], properties: { n: number } },
    '{ n: number; [key: string]: string | number; }',
  ],
  [
    { ...ADDITIONAL, properties: { n: number } },
    '{ n?: number; [key: string]: string | number | undefined; }',
  ],

  [
    { additionalProperties: false, patternProperties: { '^n': number, '^t': text } },
    '{ [key: string]: number | string; }',
  ],
])('the type of the object %j is %s', (schema, type) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

const PET = { required: ['kind'], properties: { kind: text } };
const BASE = {
  Base: record({ id: integer, name: text }),
  Deep: { allOf: [ref('Base')] },
  Size: { enum: ['s', 'm', 'l'] },
  Cat: { ...PET },
  Dog: { ...PET },
  Bird: record({ wings: integer }),
};
const discriminator = { propertyName: 'kind', mapping: { dog: ref('Dog').$ref } };

test.each<[schema: object, type: string]>([
  [ref('Base'), 'Base'],

  [{ ...ref('Base'), required: ['x'] }, 'Base & { x: unknown; }'],
  [{ allOf: [ref('Base'), { required: ['id'] }] }, 'Base & { id: number; }'],

  [{ allOf: [ref('Size'), { enum: ['m', 'l', 'x'] }] }, '"m" | "l"'],
  [{ type: 'string', enum: ['a', null] }, '"a"'],
  [{ oneOf: [text, ref('Base')] }, 'string | Base'],

  [{ anyOf: [text, { type: 'null' }], oneOf: [text] }, '(string | null) & string'],

  [{ type: ['object', 'null'], oneOf: [ref('Base')] }, 'Base'],

  [
    { properties: { a: text, b: integer }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    '{ a?: string; b?: number; } & ({ a: string; } | { b: number; })',
  ],
  [
    { oneOf: [ref('Cat'), ref('Dog')], discriminator },
    'Tagged<Cat, "kind", "Cat"> | Tagged<Dog, "kind", "dog">',
  ],
  [
    { oneOf: [ref('Cat'), ref('Bird')], discriminator },
    'Tagged<Cat, "kind", "Cat"> | (Bird & { kind: "Bird"; })',
  ],
])('the type of the composed schema %j is %s', (schema, type) => {
  expect(typeOf(schema, BASE)).toEqual({ request: type, reply: type });
});

test.each<[schema: object, server: Types, client: Types]>([
  [
    { required: ['id', 'secret'], properties: { id, secret } },
    { request: '{ secret: string; }', reply: '{ id: number; }' },
    { request: '{ secret: string; }', reply: '{ id: number; }' },
  ],
  [
    {
      properties: {
        id: { anyOf: [id, { type: 'null' }] },
        secret: { oneOf: [secret, { type: 'null' }] },
      },
    },
    { request: '{ secret?: string | null; }', reply: '{ id?: number | null; }' },
    { request: '{ secret?: string | null; }', reply: '{ id?: number | null; }' },
  ],
  [
    { properties: { n: { const: 3, default: 3 }, wrong: { type: 'integer', default: 'x' } } },
    { request: '{ n: 3; wrong?: number; }', reply: '{ n?: 3; wrong?: number; }' },
    { request: '{ n?: 3; wrong?: number; }', reply: '{ n?: 3; wrong?: number; }' },
  ],
])('the types of %j are %j for a server and %j for a client', (schema, server, client) => {
  expect(typeOf(schema)).toEqual(server);
  expect(typeOf(schema, {}, false)).toEqual(client);
});

describe('the properties of a form', () => {
  const components = {
    Form: record({ photo: binary, photos: arrayOf(binary), scan: {}, note: text }),
    Photos: arrayOf(binary),
    Loop: { allOf: [ref('Loop'), ref('Form')] },
  };
  const formType = (schema: object, direction: 'request' | 'response', form?: Json) => {
    const schemas = new Schemas({ components: { schemas: components } });
    const use = { schema, direction, form };
    return lineOf(schemaTypes(schemas, [use], true).typeOf(use, 'received'));
  };
  const FILES = '{ photo?: File; photos?: File[]; scan?: File; note?: string; }';

  test.each<[schema: object, form: Json, type: string]>([
    [ref('Form'), {}, FILES],
    [
      { allOf: [ref('Form'), record({ all: ref('Photos') })] },
      {},
      FILES.replace(' }', ' all?: File[]; }'),
    ],
    [
      ref('Form'),
      { scan: { contentType: 'application/json' } },
      FILES.replace('scan?: File', 'scan?: unknown'),
    ],

    [{ oneOf: [ref('Form'), record({ a: binary })] }, {}, `${FILES} | { a?: File; }`],
    [
      record({ a: { oneOf: [binary, { type: 'integer' }] } }),
      {},
      '{ a?: File | string | number; }',
    ],

    [ref('Loop'), {}, FILES],
  ])('%j with the encoding %j have the type %s in requests', (schema, form, type) => {
    expect(formType(schema, 'request', form)).toBe(type);
  });

  test('are blobs in replies', () => {
    expect(formType(ref('Form'), 'response', {})).toBe(FILES.replaceAll('File', 'Blob'));
  });
});

const componentTypes = (schemas: object, uses: readonly string[], isServer = true) =>
  typesOf(uses.map(ref), schemas, { isServer });

describe('a named type', () => {
  test('has a suffix in requests if it differs there, or if it contains a type that differs', () => {
    const schemas = {
      Team: record({ leader: ref('User') }),
      User: record({ id, secret }),
      Plain: record({ a: text }),
    };
    expect(componentTypes(schemas, ['Team', 'Plain'])).toEqual({
      replies: ['Team', 'Plain'],
      requests: ['TeamWritable', 'Plain'],
      types: [
        'Team = { leader?: User; }',
        'TeamWritable = { leader?: UserWritable; }',
        'User = { id?: number; }',
        'UserWritable = { secret?: string; }',
        'Plain = { a?: string; }',
      ],
    });
  });

  test('has a suffix in the requests of a server if defaults fill optional members', () => {
    const count = { type: 'integer', default: 1 };
    const schemas = {
      Filled: record({ count, note: text }),
      Required: { ...record({ count }), required: ['count'] },
      Whole: { ...record({ count: integer }), default: { count: 1 } },
    };
    const names = Object.keys(schemas);
    const [filled, ...types] = [
      'Filled = { count?: number; note?: string; }',
      'Required = { count: number; }',
      'Whole = { count?: number; }',
    ];
    expect(componentTypes(schemas, names)).toEqual({
      replies: names,
      requests: ['FilledWritable', 'Required', 'Whole'],
      types: [filled, 'FilledWritable = { count: number; note?: string; }', ...types],
    });
    expect(componentTypes(schemas, names, false)).toEqual({
      replies: names,
      requests: names,
      types: [filled, ...types],
    });
  });

  const DATED = {
    Day: record({ day, time, id }),
    List: record({ parts: arrayOf({ oneOf: [ref('Part'), text] }), pair: PAIR }),
    Part: { allOf: [ref('Day')] },
    Tree: { oneOf: [text, arrayOf(ref('Tree'))] },
    Plain: record({ a: text }),
  };
  const dated = (values: Values, isServer = true) =>
    typesOf(['List', 'Tree', 'Plain'].map(ref), DATED, { values, isServer });

  test('has a parameter for the form of its values if it is sent and has dates or lists', () => {
    const { types, ...server } = dated('sent');
    expect(server).toEqual({
      replies: ['List<Sent>', 'Tree<Sent>', 'Plain'],
      requests: ['ListWritable', 'Tree', 'Plain'],
    });
    expect(types).toEqual([
      "Day<out V extends Sent = Received> = { day?: V['date']; time?: V['date']; id?: number; }",
      'DayWritable = { day?: string; time?: string; }',
      'List<out V extends Sent = Received> = ' +
        '{ parts?: MaybeReadonly<(Part<V> | string)[], V>; pair?: MaybeReadonly<[string?, number?, ...unknown[]], V>; }',
      'ListWritable = ' +
        '{ parts?: (PartWritable | string)[]; pair?: [string?, number?, ...unknown[]]; }',
      'Part<V extends Sent = Received> = Day<V>',
      'PartWritable = DayWritable',
      'Tree<V extends Sent = Received> = ' +
        "string | Tree<V>[] | (readonly Tree<V>[] & V['list'])",
      'Plain = { a?: string; }',
    ]);
    expect(dated('generic').replies).toEqual(['List<V>', 'Tree<V>', 'Plain']);
    const { types: clientTypes, ...client } = dated('sent', false);
    expect(client).toEqual({
      replies: ['List', 'Tree', 'Plain'],
      requests: ['ListWritable<Sent>', 'Tree<Sent>', 'Plain'],
    });
    expect(clientTypes[0]).toBe('Day = { day?: string; time?: string; id?: number; }');
  });

  test('has all members of the schemas that it extends', () => {
    const schemas = {
      Base: { ...record({ id: integer, name: text }), required: ['id'] },
      Middle: { allOf: [ref('Base'), record({ name: { enum: ['a', 'b'] } })] },
      Top: { allOf: [ref('Middle'), { required: ['name'] }] },
    };
    expect(componentTypes(schemas, []).types).toEqual([
      'Base = { id: number; name?: string; }',
      'Middle = { id: number; name?: "a" | "b"; }',
      'Top = { id: number; name: "a" | "b"; }',
    ]);
  });

  const EXTENSIONS = {
    Cat: { allOf: [ref('Pet'), record({ lives: integer })] },
    Dog: { allOf: [ref('Pet'), record({ bark: text })] },
  };

  test('of a base with a discriminator is a union of the schemas that extend it', () => {
    const schemas = { Pet: { ...PET, discriminator: { propertyName: 'kind' } }, ...EXTENSIONS };
    expect(componentTypes(schemas, []).types).toEqual([
      'Pet = Tagged<Cat, "kind", "Cat"> | Tagged<Dog, "kind", "Dog"> | ' +
        'Tagged<{ kind: string; }, "kind", "Pet">',
      'Cat = { kind: string; lives?: number; }',
      'Dog = { kind: string; bark?: string; }',
    ]);
  });

  test('is unknown or never where a schema contains itself directly', () => {
    const schemas = {
      A: { oneOf: [ref('B')] },
      B: { allOf: [ref('A')], type: 'object' },
      Loop: { oneOf: [ref('Loop'), text] },
      Odd: record({ odd: { allOf: [ref('Odd')], required: ['odd'] } }),
    };
    expect(componentTypes(schemas, []).types).toEqual([
      'A = never',
      'B = never',
      'Loop = unknown | string',
      'Odd = { odd?: Odd & { odd: unknown; }; }',
    ]);
  });

  test.each<[names: string[], aliases: string[]]>([
    [
      ['a-b', 'x.y z', 'a--', '$c'],
      ['aB', 'xYZ', 'a', 'C'],
    ],
    [
      ['a-b', 'a b', 'aB', 'aB2'],
      ['aB', 'aB2', 'aB3', 'aB22'],
    ],
    [
      ['1st', '-', ''],
      ['Schema1st', 'Schema', 'Schema2'],
    ],
    [
      ['Handlers', 'Int64', 'string', 'default', 'Sent', 'V'],
      ['Handlers2', 'Int642', 'string2', 'default2', 'Sent2', 'V2'],
    ],
  ])('of the schemas %j is named %j in TypeScript', (names, aliases) => {
    const components = Object.fromEntries(names.map((name) => [name, { ...text }]));
    const schemas = new Schemas({ components: { schemas: components } });
    const { components: members } = schemaTypes(schemas, [], true);
    expect(members).toEqual(names.map((name, index) => ({ name, type: aliases[index] })));
  });
});
