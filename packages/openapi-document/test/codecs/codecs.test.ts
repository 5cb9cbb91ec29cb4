import { expect, test } from '@jest/globals';
import type { BodyFormat, Codec, CodecFacts } from '../../src/codecs/codec.ts';
import { Codecs } from '../../src/codecs/codecs.ts';
import { Schemas } from '../../src/schema/schemas.ts';

type Unit = CodecFacts['unit'];

const items: BodyFormat['items'] = { data: 'text' };
const outlineOf = (schema: object) => new Schemas({ Row: { type: 'object' } }).outline(schema);

test.each<[type: string, unit: Unit, unitWithItems: Unit]>([
  ['application/json', 'value', 'value'],
  ['Application/Problem+JSON; charset=utf-8', 'value', 'value'],
  ['application/x-www-form-urlencoded', 'form', 'form'],
  ['multipart/form-data; boundary=a', 'parts', 'parts'],
  ['image/png', 'bytes', 'bytes'],
  ['text/event-stream; charset=utf-8', 'bytes', 'items'],
  ['application/jsonl', 'bytes', 'items'],
  ['Application/NDJSON', 'bytes', 'items'],
  ['application/geo+json-seq', 'bytes', 'items'],
  ['multipart/mixed; boundary=a', 'bytes', 'items'],
  ['application/jsonlx', 'bytes', 'bytes'],
  ['application/a/b+json-seq', 'bytes', 'bytes'],
])('a body of %s has the unit %s, and %s with an itemSchema', (type, unit, unitWithItems) => {
  const codecs = new Codecs();
  expect(codecs.factsOf({ type }).unit).toBe(unit);
  expect(codecs.factsOf({ type, items }).unit).toBe(unitWithItems);
});

test.each<[schema: object, unit: Unit]>([
  [{ type: 'string' }, 'value'],
  [{ type: 'array' }, 'bytes'],
  [{ $ref: '#/Row' }, 'bytes'],
])('a text with the schema %j has the unit %s', (schema, unit) => {
  expect(new Codecs().factsOf({ type: 'text/csv', outline: outlineOf(schema) }).unit).toBe(unit);
});

test.each<[range: string, contentType: string, unit: Unit]>([
  ['*/*', 'application/vnd.a+json', 'value'],
  ['*/*', 'text/plain', 'bytes'],
  ['text/*', 'text/json', 'value'],
  ['text/*', 'text/csv', 'value'],
  ['*/*', 'application/x-own; version=1', 'items'],
])('of the range %s, bodies of %s have the unit %s', (type, contentType, unit) => {
  expect(new Codecs([own]).factsOf({ type }, contentType).unit).toBe(unit);
});

const own: Codec = {
  match: (type) => type === 'application/x-own',
  unit: 'items',
  read: (chunks) => chunks,
  write: String,
};

test('own codecs take precedence, and need not be loaded', () => {
  const codecs = new Codecs([{ ...own, match: () => true }]);
  expect(codecs.of({ type: 'application/json' }).unit).toBe('items');
});

test('the codecs of a range are its own one and that of JSON', async () => {
  const codecs = new Codecs();
  const range = { type: '*/*' };
  expect(() => codecs.of(range)).toThrow('the codec of */* is not loaded');
  await codecs.load([range]);
  expect([codecs.of(range).unit, codecs.of(range, 'text/json').unit]).toEqual(['bytes', 'value']);
});
