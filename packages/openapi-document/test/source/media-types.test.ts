import { expect, test } from '@jest/globals';
import { Schemas } from '../../src/schema/schemas.ts';
import { isJsonType, mediaTypeFor } from '../../src/source/media-types.ts';

test.each([
  ['application/json', true],
  ['Application/JSON; charset=utf-8', true],
  ['application/vnd.api+json', true],
  ['text/json', true],
  ['application/+json', false],
  ['application/jsonl', false],
  ['application/json+xml', false],
  ['x-application/json', false],
  ['text/x-json', false],
])('%s is JSON: %j', (type, isJson) => {
  expect(isJsonType(type)).toBe(isJson);
});

test.each<[schema: unknown, constrained: boolean]>([
  [undefined, false],
  [{}, false],
  [{ type: 'string', format: 'binary', description: 'bytes' }, false],
  [{ $ref: '#/Any' }, false],
  [false, true],
  [{ type: 'integer' }, true],
  [{ enum: ['a'] }, true],
  [{ minLength: 1 }, true],
  [{ properties: {} }, true],
  [{ not: {} }, true],
  [{ anyOf: [{}, { $ref: '#/Short' }] }, true],
])('the schema %j restricts text: %j', (schema, constrained) => {
  const root = { Any: {}, Short: { type: 'string', maxLength: 1 } };
  expect(new Schemas(root).outline(schema).restrictsBytes).toBe(constrained);
});

test.each([
  ['application/json', 'application/json'],
  ['Application/JSON; charset=UTF-8', 'application/json'],
  ['application/json;charset="utf-8"; version=2', 'application/json; version=2'],
  ['application/json; version="2"', 'application/json; version=2'],
  ['text/csv; header=absent; dialect=b', 'text/csv; dialect=b; header=absent'],
  ['application/json ;version=2', 'application/json; version=2'],
  ['application/json; version=3', 'application/json'],
  ['text/csv; header="present"', 'text/csv;header="present"'],
  ['text/csv; header=present', 'text/csv;header="present"'],
  ['text/csv', 'text/*'],
  ['text/plain', 'text/*'],
  ['image/png', '*/*'],
  ['application/vnd.api+json; version=2', 'application/*+json'],
])('a body of %s has the declared media type %s', (contentType, declared) => {
  const csvTypes = ['text/csv;header="present"', 'text/csv; dialect=b; header=absent'];
  const types = ['*/*', 'text/*', ...csvTypes];
  const jsonTypes = ['application/json', 'application/json; version=2', 'application/*+json'];
  const media = [...types, ...jsonTypes].map((type) => ({ type }));
  expect(mediaTypeFor(media, contentType)?.type).toBe(declared);
  expect(mediaTypeFor(media.slice(1, 2), 'application/json')).toBeUndefined();
});

test('a declared media type with a charset matches only bodies with exactly the same media type', () => {
  const media = ['text/csv', 'text/csv; charset=utf-8'].map((type) => ({ type }));
  const declared = (contentType: string) => mediaTypeFor(media, contentType)?.type;
  expect(declared('text/csv; charset=utf-8')).toBe('text/csv; charset=utf-8');
  expect(declared('text/csv;charset=UTF-8')).toBe('text/csv');
});
