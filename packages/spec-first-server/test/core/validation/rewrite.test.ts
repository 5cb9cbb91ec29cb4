import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { type Json, schemas } from 'openapi-document';
import { isBytes, plainJson, rewrite } from '../../../src/core/validation/rewrite.ts';
import { createShapes } from '../../../src/core/validation/shapes.ts';

function rewritten(
  direction: schemas.Direction,
  schema: schemas.LoweredSchema,
  value: unknown,
  files = false,
) {
  const dropped: string[] = [];
  const shapeOf = createShapes(schemas.lower({}, direction), direction, () => true);
  const onDrop = (name: string) => void dropped.push(name);
  return { value: rewrite({ shapeOf, files, onDrop }, schema, value), dropped };
}
const request = (schema: Json, value: unknown) => rewritten('request', schema, value).value;
const reply = (schema: Json, value: unknown) => rewritten('response', schema, value).value;

const PLANT = {
  type: 'object',
  properties: { name: { type: 'string' }, size: { type: 'number', default: 1 } },
};
const BED = { properties: { plants: { items: PLANT }, first: PLANT } };

describe('a request', () => {
  test.each<[string, Json, unknown, unknown]>([
    ['gets a default', PLANT, { name: 'a' }, { name: 'a', size: 1 }],
    ['keeps a value with a default', PLANT, { size: 2 }, { size: 2 }],
    ['keeps null with a default', PLANT, { size: null }, { size: null }],
    ['gets a default instead of undefined', PLANT, { size: undefined }, { size: 1 }],
    [
      'gets defaults in its parts',
      BED,
      { plants: [{ name: 'a' }, { size: 2 }] },
      { plants: [{ name: 'a', size: 1 }, { size: 2 }] },
    ],
    [
      'gets defaults in a default',
      { properties: { first: { ...PLANT, default: {} } } },
      {},
      { first: { size: 1 } },
    ],
    ['keeps undeclared members', PLANT, { other: 1, size: 1 }, { other: 1, size: 1 }],
    [
      'loses members of the other direction',
      { ...PLANT, 'x-dropped': ['id'] },
      { id: 1, size: 1 },
      { size: 1 },
    ],
    [
      'gets numbers instead of bigints',
      PLANT,
      { size: 9007199254740993n },
      { size: 9007199254740992 },
    ],
    [
      'keeps bigints of integers',
      { items: { type: 'integer' } },
      [9007199254740993n],
      [9007199254740993n],
    ],
    [
      'is unchanged if it is a date and a time',
      { format: 'date' },
      '2024-02-29T12:00:00Z',
      '2024-02-29T12:00:00Z',
    ],
    ['is unchanged if it is null', PLANT, null, null],
  ])('%s', (_title, schema, value, expected) => {
    expect(request(schema, value)).toEqual(expected);
  });

  test('gets a copy of the default, which handlers may change', () => {
    const schema = { properties: { tags: { default: ['a'] } } };
    Object(request(schema, {})).tags.push('b');
    expect(request(schema, {})).toEqual({ tags: ['a'] });
  });

  test('of the schema `true` is unchanged', () => {
    const value = { a: [1n] };
    expect(rewritten('request', true, value).value).toBe(value);
  });
});

describe('a reply', () => {
  const date = new Date('2024-02-29T12:00:00Z');
  test.each<[string, Json, unknown, unknown]>([
    ['loses undeclared members', PLANT, { name: 'a', password: 'b' }, { name: 'a' }],
    [
      'loses undeclared members of its parts',
      BED,
      { plants: [{ secret: 1 }], first: { secret: 1 } },
      { plants: [{}], first: {} },
    ],
    ['loses members that are undefined', PLANT, { name: undefined }, {}],
    ['keeps null', PLANT, { name: null }, { name: null }],
    ['gets no defaults', PLANT, {}, {}],
    ['keeps bigints', PLANT, { size: 1n }, { size: 1n }],
    [
      'has dates as JSON writes them',
      { items: { format: 'date-time' } },
      [date],
      ['2024-02-29T12:00:00.000Z'],
    ],
    ['has days without a time', { items: { format: 'date' } }, [date], ['2024-02-29']],
    [
      'has the members that toJSON returns',
      BED,
      { first: { toJSON: () => ({ name: 'a', secret: 1 }) } },
      { first: { name: 'a' } },
    ],
    ['is null if toJSON returns null', BED, { first: { toJSON: () => null } }, { first: null }],
    [
      'keeps a member named toJSON',
      { properties: { toJSON: {} } },
      { toJSON: 'a' },
      { toJSON: 'a' },
    ],
    ['loses functions and symbols', PLANT, { name: () => 1, size: Symbol('a') }, {}],
    ['has null instead of items that JSON omits', {}, [undefined, () => 1, 0], [null, null, 0]],
    [
      'has buffers as JSON writes them',
      { properties: { data: {} } },
      Buffer.from('ab'),
      { data: [97, 98] },
    ],
    [
      'has bytes as JSON writes them',
      { additionalProperties: {} },
      new Uint8Array([97]),
      { 0: 97 },
    ],
    ['loses the bytes of an object', PLANT, new Uint8Array([97]), {}],
    ['keeps all members of any object', { type: 'object' }, { a: { b: 1 } }, { a: { b: 1 } }],
  ])('%s', (_title, schema, value, expected) => {
    expect(reply(schema, value)).toEqual(expected);
  });

  test('reports each undeclared member, and no others', () => {
    const value = { name: undefined, password: 1, plants: [{ a: 1 }, { a: 1, b: 1 }] };
    const schema = { properties: { ...PLANT.properties, ...BED.properties } };
    expect(rewritten('response', schema, value).dropped).toEqual(['password', 'a', 'a', 'b']);
  });

  test('has the members of an error that JSON writes', () => {
    const schema = { properties: { code: {}, message: {} } };
    const value = reply(schema, Object.assign(new Error('secret'), { code: 'a' }));
    expect(Object.getOwnPropertyNames(value)).toEqual(['code']);
  });

  test('has the members of class instances, but not their getters', () => {
    class Row {
      name = 'a';
      get secret() {
        return 'b';
      }
    }
    expect(reply(PLANT, new Row())).toEqual({ name: 'a' });
  });
});

test.each<[string, schemas.Direction, Json, unknown]>([
  ['a complete request', 'request', BED, { plants: [{ name: 'a', size: 1 }] }],
  ['a declared reply', 'response', BED, { plants: [{ name: 'a' }], first: { size: 1 } }],
  ['bytes', 'response', PLANT, Buffer.from('a')],
  ['a file', 'request', PLANT, new File(['a'], 'a')],
])('%s is not copied', (_title, direction, schema, value) => {
  expect(rewritten(direction, schema, value, true).value).toBe(value);
});

test.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Africa/Cairo'])(
  'a Date at the start of a day, in local time or in UTC, is that day: %s',
  (TZ) => {
    // The second day starts at 01:00 in Cairo.
    const days = ['2024-01-15', '2024-04-26', '2024-12-31', '1970-01-01'];
    const script = `
      import { rewrite } from '${import.meta.resolve('../../../src/core/validation/rewrite.ts')}';
      const rewriting = { shapeOf: () => ({ isDay: true }), files: false };
      const dates = ${JSON.stringify(days)}.flatMap((day) => {
        const [year, month, date] = day.split('-').map(Number);
        return [new Date(year, month - 1, date), new Date(day)];
      });
      dates.push(new Date('2024-02-29T12:34:56Z'));
      console.log(JSON.stringify(dates.map((date) => rewrite(rewriting, {}, date))));
    `;
    const args = ['--no-warnings', '--input-type=module', '--eval', script];
    const output = execFileSync(process.execPath, args, { env: { ...process.env, TZ } });
    expect(JSON.parse(output.toString())).toEqual([
      ...days.flatMap((day) => [day, day]),
      '2024-02-29',
    ]);
  },
);

test('only the parts that change are copied', () => {
  const value = { plants: [{ name: 'a', size: 1 }, {}], first: { size: 1 } };
  const { plants, first } = Object(request(BED, value));
  expect([first === value.first, plants[0] === value.plants[0]]).toEqual([true, true]);
  expect(value).toEqual({ plants: [{ name: 'a', size: 1 }, {}], first: { size: 1 } });
});

test.each([
  ['a Buffer', true, Buffer.from('a')],
  ['a typed array', true, new Uint16Array(1)],
  ['a DataView', true, new DataView(new ArrayBuffer(1))],
  ['a Blob', true, new Blob([])],
  ['a File', true, new File([], 'a')],
  ['an object', false, {}],
  ['an object without a prototype', false, Object.create(null)],
  ['an array', false, []],
  ['a Date', false, new Date()],
  ['null', false, null],
  ['a string', false, 'a'],
])('isBytes of %s is %s', (_title, expected, value) => {
  expect(isBytes(value)).toBe(expected);
});

test('plainJson returns a value as JSON writes it', () => {
  const bytes = Buffer.from('a');
  const value = {
    date: new Date(0),
    list: [{ toJSON: () => ({ a: new Date(0), b: undefined }) }, undefined, 1n],
    missing: undefined,
    none: null,
    nothing: { toJSON: () => null },
    bytes,
  };
  expect(plainJson(value)).toStrictEqual({
    date: '1970-01-01T00:00:00.000Z',
    list: [{ a: '1970-01-01T00:00:00.000Z' }, undefined, 1n],
    none: null,
    nothing: null,
    bytes,
  });
  expect([plainJson('a'), plainJson(null), plainJson(undefined)]).toEqual(['a', null, undefined]);
});
