import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { schemaTypes } from '../src/schema-types.ts';
import { formatted } from '../src/type-text.ts';

/** The text of types, each on one line, without comments. */
const linesOf = (types: readonly string[]) =>
  formatted(types.map((type) => `type X = ${type};\n`).join(''))
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .split('type X = ')
    .slice(1)
    .map((line) => line.trim().replace(/;$/, ''));

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

const BETWEEN = '\n===\n';

function typesOf(sources: readonly unknown[], schemas: object = {}, isServer = true) {
  const { typeOf, nameTypes } = schemaTypes({ components: { schemas } }, isServer);
  const used = [
    ...sources.map((source) => typeOf(source, 'response')),
    ...sources.map((source) => typeOf(source, 'request')),
  ];
  const { types, text } = nameTypes(used.join(BETWEEN));
  const lines = linesOf(text.split(BETWEEN));
  return {
    replies: lines.slice(0, sources.length),
    requests: lines.slice(sources.length),
    types: types.map(({ name, alias, type }) => {
      expect(name).toBe(alias);
      return `${name} = ${linesOf([type])}`;
    }),
  };
}

interface Types {
  readonly request: string | undefined;
  readonly reply: string | undefined;
}

function typeOf(schema: unknown, schemas: object = {}, isServer = true): Types {
  const { requests, replies } = typesOf([schema], schemas, isServer);
  return { request: requests[0], reply: replies[0] };
}

test.each(
  withText<unknown, [type: string]>([
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [text, 'string'],
    [{ type: 'string', format: 'dates' }, 'string'],
    [number, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'null' }, 'null'],
    [{ type: ['string', 'integer', 'null'] }, 'string | number | null'],
    [{ type: 'unheard-of' }, 'unknown'],
    [integer, 'number'],
    [{ type: 'integer', format: 'int32' }, 'number'],
    [wide, 'Int64'],
    [{ type: ['string', 'integer'], format: 'int64' }, 'string | Int64'],
    [{ ...wide, minimum: 0 }, 'Int64'],
    [{ ...wide, maximum: 10 }, 'Int64'],
    [{ ...wide, minimum: 0, maximum: 2 ** 53 - 1 }, 'number'],
    [{ ...wide, exclusiveMinimum: 0, exclusiveMaximum: 10 }, 'number'],
    [{ ...wide, minimum: 0, maximum: 2n ** 63n }, 'Int64'],
    [{ const: 'a', type: 'string' }, '"a"'],
    [{ const: null }, 'null'],
    [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
    [{ enum: [1, 2n ** 60n, 2n ** 61n] }, '1 | Int64'],
    [{ type: 'array' }, 'unknown[]'],
    [arrayOf(arrayOf(text)), 'string[][]'],
  ]),
)('the type of %s is %s', (_text, type, schema) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

const PAIR = { type: 'array', prefixItems: [text, number] };

test.each<[schema: object, type: string]>([
  [PAIR, '[ string?, number?, ...unknown[] ]'],
  [{ ...PAIR, minItems: 1, items: text }, '[ string, number?, ...string[] ]'],
  [{ ...PAIR, minItems: 2, items: false }, '[ string, number ]'],
  [{ ...PAIR, minItems: 2, unevaluatedItems: false }, '[ string, number ]'],
  [{ ...PAIR, minItems: 2, maxItems: 2 }, '[ string, number ]'],
  [{ ...PAIR, minItems: 2, maxItems: 3, items: text }, '[ string, number, ...string[] ]'],
])('the type of the tuple %j is %s', (schema, type) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

const ADDITIONAL = { type: 'object', additionalProperties: text };

test.each<[schema: object, type: string]>([
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', additionalProperties: false }, 'Record<string, unknown>'],
  [{ properties: { a: text } }, '{ a?: string; }'],
  [{ type: ['object', 'null'], properties: { a: text } }, '{ a?: string; } | null'],
  [{ required: ['a', 'b c'], properties: { 'b c': text } }, '{ "b c": string; a: unknown; }'],
  [ADDITIONAL, '{ [key: string]: string; }'],
  [{ type: 'object', additionalProperties: true }, '{ [key: string]: unknown; }'],
  [
    { ...ADDITIONAL, required: ['n'], properties: { n: number } },
    '{ n: number; [key: string]: string | number; }',
  ],
  [
    { ...ADDITIONAL, properties: { n: number } },
    '{ n?: number; [key: string]: string | number | undefined; }',
  ],
  [{ ...ADDITIONAL, required: ['n'] }, '{ n: unknown; [key: string]: unknown; }'],
  [
    { additionalProperties: false, patternProperties: { '^n': number, '^t': text } },
    '{ [key: string]: number | string; }',
  ],
])('the type of the object %j is %s', (schema, type) => {
  expect(typeOf(schema)).toEqual({ request: type, reply: type });
});

const BASE = { Base: record({ id: integer, name: text }), Deep: { allOf: [ref('Base')] } };

test.each<[schema: object, type: string]>([
  [ref('Base'), 'Base'],
  [{ ...ref('Base'), description: 'A base.' }, 'Base'],
  [{ ...ref('Base'), required: ['x'] }, '{ x: unknown; } & Base'],
  [{ allOf: [ref('Base'), { required: ['id'] }] }, 'Base & { id: number; }'],
  [{ allOf: [ref('Deep')], required: ['name'] }, '{ name: string; } & Deep'],
  [{ allOf: [text, { minLength: 1 }] }, 'string'],
  [{ type: 'string', allOf: [{ minLength: 1 }] }, 'string'],
  [{ oneOf: [text, ref('Base')] }, 'string | Base'],
  [{ anyOf: [text, { type: 'null' }], oneOf: [text] }, 'string & (string | null)'],
  [{ type: 'object', oneOf: [ref('Base')] }, 'Base'],
  [{ type: ['object', 'null'], oneOf: [ref('Base')] }, 'Base'],
  [{ type: ['string', 'null'], oneOf: [text] }, '(string | null) & string'],
  [{ properties: { a: text }, anyOf: [ref('Base')] }, '{ a?: string; } & Base'],
])('the type of the composed schema %j is %s', (schema, type) => {
  expect(typeOf(schema, BASE)).toEqual({ request: type, reply: type });
});

test.each<[schema: object, server: Types, client: Types]>([
  [day, { request: 'string', reply: 'string | Date' }, { request: 'string', reply: 'string' }],
  [
    { type: ['string', 'null'], format: 'date-time' },
    { request: 'string | null', reply: 'string | Date | null' },
    { request: 'string | null', reply: 'string | null' },
  ],
  [
    { type: 'array', prefixItems: [time], items: day },
    { request: '[ string?, ...string[] ]', reply: '[ (string | Date)?, ...(string | Date)[] ]' },
    { request: '[ string?, ...string[] ]', reply: '[ string?, ...string[] ]' },
  ],
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
    { properties: { n: { const: 3, default: 3 }, m: text } },
    { request: '{ n: 3; m?: string; }', reply: '{ n?: 3; m?: string; }' },
    { request: '{ n?: 3; m?: string; }', reply: '{ n?: 3; m?: string; }' },
  ],
])('the types of %j are %j for a server and %j for a client', (schema, server, client) => {
  expect(typeOf(schema)).toEqual(server);
  expect(typeOf(schema, {}, false)).toEqual(client);
});

describe('the properties of a form', () => {
  const schemas = {
    Form: record({ photo: binary, photos: arrayOf(binary), scan: {}, note: text }),
    Photos: arrayOf(binary),
    Loop: { allOf: [ref('Loop'), ref('Form')] },
  };
  const formType = (schema: object, direction: 'request' | 'response', encoding?: object) => {
    const types = schemaTypes({ components: { schemas } }, true);
    const type = types.typeOf(schema, direction, encoding && { ...encoding });
    return linesOf([types.nameTypes(type).text])[0];
  };
  const FILES = '{ photo?: File; photos?: File[]; scan?: File; note?: string; }';

  test.each<[schema: object, encoding: object, type: string]>([
    [schemas.Form, {}, FILES],
    [ref('Form'), {}, FILES],
    [{ allOf: [ref('Form'), record({ all: ref('Photos') })] }, {}, `${FILES} & { all?: File[]; }`],
    [
      ref('Form'),
      { scan: { contentType: 'application/json' } },
      FILES.replace('scan?: File', 'scan?: unknown'),
    ],
    [ref('Form'), { note: { contentType: 'image/png' } }, FILES],
    [record({ form: ref('Form') }), {}, '{ form?: Form; }'],
    [ref('Loop'), {}, FILES],
  ])('%j with the encoding %j have the type %s in requests', (schema, encoding, type) => {
    expect(formType(schema, 'request', encoding)).toBe(type);
  });

  test('are not files if the schema is not that of a form', () => {
    expect(formType(ref('Form'), 'request')).toBe('Form');
  });

  test('are blobs in replies', () => {
    expect(formType(ref('Form'), 'response', {})).toBe(FILES.replaceAll('File', 'Blob'));
  });
});

const componentTypes = (schemas: object, uses: readonly string[], isServer = true) =>
  typesOf(uses.map(ref), schemas, isServer);

describe('a named type', () => {
  test('has a suffix in requests if it differs there, or if it contains a type that differs', () => {
    const schemas = {
      Team: record({ users: arrayOf(ref('User')) }),
      User: record({ id, secret }),
      Plain: record({ a: text }),
    };
    expect(componentTypes(schemas, ['Team', 'Plain'])).toEqual({
      replies: ['Team', 'Plain'],
      requests: ['TeamWritable', 'Plain'],
      types: [
        'Team = { users?: User[]; }',
        'User = { id?: number; }',
        'Plain = { a?: string; }',
        'TeamWritable = { users?: UserWritable[]; }',
        'UserWritable = { secret?: string; }',
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
    const types = [
      'Filled = { count?: number; note?: string; }',
      'Required = { count: number; }',
      'Whole = { count?: number; }',
    ];
    expect(componentTypes(schemas, names)).toEqual({
      replies: names,
      requests: ['FilledWritable', 'Required', 'Whole'],
      types: [...types, 'FilledWritable = { count: number; note?: string; }'],
    });
    expect(componentTypes(schemas, names, false)).toEqual({
      replies: names,
      requests: names,
      types,
    });
  });

  test('has a suffix in the replies of a server if it has dates, or if it contains a type with dates', () => {
    const schemas = {
      Day: record({ day }),
      List: record({ parts: arrayOf({ oneOf: [ref('Part'), text] }) }),
      Part: { allOf: [ref('Day')] },
      Tree: record({ parts: arrayOf(ref('Tree')), top: { enum: [null] } }),
    };
    const types = [
      'Day = { day?: string; }',
      'List = { parts?: (Part | string)[]; }',
      'Part = Day',
      'Tree = { parts?: Tree[]; top?: null; }',
    ];
    expect(componentTypes(schemas, ['List', 'Tree'])).toEqual({
      replies: ['ListReply', 'Tree'],
      requests: ['List', 'Tree'],
      types: [
        ...types,
        'ListReply = { parts?: (PartReply | string)[]; }',
        'PartReply = DayReply',
        'DayReply = { day?: string | Date; }',
      ],
    });
    expect(componentTypes(schemas, ['List', 'Tree'], false)).toEqual({
      replies: ['List', 'Tree'],
      requests: ['List', 'Tree'],
      types,
    });
  });

  test('gets a number if its name with a suffix is the name of another schema', () => {
    const schemas = { A: record({ id, day }), AWritable: text, AReply: text };
    expect(componentTypes(schemas, ['A', 'AReply'])).toEqual({
      replies: ['AReply2', 'AReply'],
      requests: ['AWritable2', 'AReply'],
      types: [
        'A = { id?: number; day?: string; }',
        'AWritable = string',
        'AReply = string',
        'AReply2 = { id?: number; day?: string | Date; }',
        'AWritable2 = { day?: string; }',
      ],
    });
  });

  test('gets a number if its name with a suffix is the name of a part of a schema', () => {
    const Part = { $ref: '#/components/schemas/A/properties/writable' };
    const schemas = { A: record({ id, writable: text }), Part };
    expect(componentTypes(schemas, ['A']).types).toEqual([
      'A = { id?: number; writable?: string; }',
      'Part = AWritable',
      'AWritable2 = { writable?: string; }',
      'AWritable = string',
    ]);
  });

  test('has no suffix if only requests contain it', () => {
    const schemas = { A: record({ secret }) };
    const types = schemaTypes({ components: { schemas } }, true);
    const { types: named, text } = types.nameTypes(types.typeOf(ref('A'), 'request'));
    expect(text).toBe('A');
    expect(linesOf(named.map(({ type }) => type))).toEqual(['{ secret?: string; }']);
  });

  test.each([
    ['a default that only requests have', { status: ref('Status') }],
    ['a constant that looks like a comment', { a: { const: '/**' }, b: { title: 'B' } }],
  ])('has no suffix for %s', (_, properties) => {
    const schemas = { A: record(properties), Status: { ...text, default: 'on' } };
    expect(componentTypes(schemas, ['A'], false)).toMatchObject({
      replies: ['A'],
      requests: ['A'],
    });
  });

  test('has a suffix if a member differs after a constant that looks like a comment', () => {
    const schemas = { A: record({ a: { const: '/**' }, secret, b: { title: 'B' } }) };
    expect(componentTypes(schemas, ['A'])).toMatchObject({
      replies: ['A'],
      requests: ['AWritable'],
    });
  });

  test('exists for a referenced part of another schema', () => {
    const $ref = '#/components/schemas/A/properties/parts/items';
    const schemas = { A: record({ parts: arrayOf(text) }), Part: { $ref } };
    expect(componentTypes(schemas, []).types).toEqual([
      'A = { parts?: string[]; }',
      'Part = APartsItems',
      'APartsItems = string',
    ]);
  });

  test('is unknown where a schema contains itself directly', () => {
    const schemas = { A: { oneOf: [ref('B')] }, B: { allOf: [ref('A'), { type: 'object' }] } };
    expect(componentTypes(schemas, ['A']).types).toEqual([
      'A = unknown',
      'B = Record<string, unknown>',
    ]);
  });

  test('contains the value of its discriminator', () => {
    const pet = { required: ['kind'], properties: { kind: text } };
    const discriminator = { propertyName: 'kind', mapping: { dog: ref('Dog').$ref } };
    const schemas = { Cat: pet, Dog: pet, Pet: { oneOf: [ref('Cat'), ref('Dog')], discriminator } };
    expect(componentTypes(schemas, ['Pet']).types).toContain(
      'Pet = (Cat & { kind: "Cat"; }) | (Dog & { kind: "dog"; })',
    );
  });

  test.each<[names: string[], aliases: string[]]>([
    [
      ['plant', 'Größe', '日本', '_a', 'x1'],
      ['plant', 'Größe', '日本', '_a', 'x1'],
    ],
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
      ['Handlers', 'Int64', 'string', 'default'],
      ['Handlers2', 'Int642', 'string2', 'default2'],
    ],
  ])('of the schemas %j is named %j in TypeScript', (names, aliases) => {
    const schemas = Object.fromEntries(names.map((name) => [name, text]));
    const { types } = schemaTypes({ components: { schemas } }, true).nameTypes('');
    expect(types.map(({ name }) => name)).toEqual(names);
    expect(types.map(({ alias }) => alias)).toEqual(aliases);
  });
});
