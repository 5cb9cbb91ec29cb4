import { describe, expect, test } from '@jest/globals';
import { examplesOf, mediaOf } from '../../src/operations/media.ts';
import { Schemas } from '../../src/schema/schemas.ts';

function mediaType(type: string, source: unknown, root: object = {}) {
  const [media] = mediaOf(new Schemas({ ...root }), { [type]: source }, '/at');
  if (media === undefined) throw new Error('there is no media type');
  return media;
}

test('a Media Type Object may be a reference, or not an object', () => {
  const root = { Text: { schema: { type: 'string' } } };
  expect(mediaType('text/plain', { $ref: '#/Text' }, root)).toMatchObject({
    schema: { type: 'string' },
  });
  expect(mediaType('text/plain', null)).toMatchObject({ schema: undefined, source: {} });
  expect(mediaOf(new Schemas({}), undefined, '')).toEqual([]);
});

test('only the data of events is decoded', () => {
  const data = { contentMediaType: 'application/json' };
  const source = { itemSchema: { properties: { data } } };
  expect(mediaType('text/event-stream', source).items?.data).toBe('json');
  expect(mediaType('application/jsonl', source).items).toEqual({
    schema: source.itemSchema,
    data: 'text',
  });
});

describe('examples', () => {
  test('are values, serialized values or references', () => {
    const source = {
      examples: {
        inline: { value: 1, dataValue: 2 },
        data: { dataValue: { a: 1 }, serializedValue: '5' },
        serialized: { serializedValue: '{"a":2}' },
        'a/b': { $ref: '#/Shared' },
        none: { externalValue: 'x.json' },
        null: { value: null },
        wrong: null,
      },
      example: null,
    };
    const at = '#/at/examples';
    expect(examplesOf({ Shared: { value: false } }, { source, pointer: '/at' })).toEqual([
      { name: 'inline', value: 1, pointer: `${at}/inline` },
      { name: 'data', value: { a: 1 }, pointer: `${at}/data` },
      { name: 'serialized', value: { a: 2 }, pointer: `${at}/serialized` },
      { name: 'a/b', value: false, pointer: `${at}/a~1b` },
      { name: 'null', value: null, pointer: `${at}/null` },
      { value: null, pointer: '#/at/example' },
    ]);
    expect(examplesOf({}, { source: {}, pointer: '' })).toEqual([]);
  });

  test.each<[title: string, data: object, text: string, value: unknown]>([
    ['JSON', { contentMediaType: 'application/json' }, '{"a":1}', { a: 1 }],
    ['invalid JSON', { contentMediaType: 'application/json' }, '{"a"', '{"a"'],
    ['text', { type: 'string' }, '{"a":1}', '{"a":1}'],
    [
      'JSON or text',
      { anyOf: [{ contentMediaType: 'application/json' }, { const: '5' }] },
      '5',
      '5',
    ],
    [
      'objects or text',
      { anyOf: [{ contentMediaType: 'application/json' }, { const: '5' }] },
      '{"a":1}',
      { a: 1 },
    ],
  ])('of events have decoded data, if possible: %s', (_title, data, text, value) => {
    const itemSchema = { type: 'object', properties: { data } };
    const valuesOf = (example: unknown) =>
      mediaType('text/event-stream', { itemSchema, example }).examples.map((each) => each.value);
    expect(valuesOf([{ event: 'a', data: text }, { data: 1 }, 5])).toEqual([
      [{ event: 'a', data: value }, { data: 1 }, 5],
    ]);
    expect(valuesOf({ data: text })).toEqual([[{ data: value }]]);
    expect(valuesOf(`data: ${text}\n\n`)).toEqual([`data: ${text}\n\n`]);
  });
});
