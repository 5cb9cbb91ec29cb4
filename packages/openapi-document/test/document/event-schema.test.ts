import { expect, test } from '@jest/globals';
import { decodedData, type EventData, eventItems } from '../../src/document/event-schema.ts';

const JSON_TEXT = { type: 'string', contentMediaType: 'application/json' };
const eventOf = (data: unknown) => ({ type: 'object', properties: { data } });
const root = { Data: JSON_TEXT, Event: eventOf({ $ref: '#/Data' }) };

test.each<[schema: unknown, data: 'json' | 'text' | 'mixed']>([
  [eventOf({ type: 'string' }), 'text'],
  [eventOf({ contentMediaType: 'text/html' }), 'text'],
  [{}, 'text'],
  [eventOf(JSON_TEXT), 'json'],
  [eventOf({ contentMediaType: 'Application/JSON; charset=utf-8' }), 'json'],
  [{ $ref: '#/Event' }, 'json'],
  [{ oneOf: [eventOf(JSON_TEXT), { properties: { event: { const: 'ping' } } }] }, 'json'],
  [eventOf({ anyOf: [JSON_TEXT, { 'x-type': 'a', contentEncoding: '', formats: 1 }] }), 'json'],
  [{ oneOf: [eventOf(JSON_TEXT), eventOf({ const: 'done' })] }, 'mixed'],
  [eventOf({ anyOf: [JSON_TEXT, { description: 'text', minLength: 1 }] }), 'mixed'],
])('the data of events with the schema %j is %s', (schema, data) => {
  expect(eventItems(root, schema)).toEqual({
    schema: data === 'text' ? schema : { allOf: [schema], 'x-event-data': data },
    data,
  });
});

const contentSchema = { type: 'integer' };

test.each<[schema: object, data: EventData, lowered: unknown]>([
  [{ ...JSON_TEXT, contentSchema }, 'json', contentSchema],
  [JSON_TEXT, 'json', {}],
  [
    { ...JSON_TEXT, contentSchema },
    'mixed',
    { allOf: [contentSchema, { type: ['object', 'array'] }] },
  ],
  [{ type: 'string' }, 'json', {}],
  [{ type: 'string' }, 'mixed', {}],
])('the schema %j of %s data becomes %j', (schema, data, lowered) => {
  expect(decodedData({ ...schema }, data)).toEqual(lowered);
});

test.each([[{ type: 'string', maxLength: 5 }], [{ type: 'integer' }]])(
  'the schema %j of json data stays the same',
  (schema) => {
    expect(decodedData(schema, 'json')).toBeUndefined();
  },
);
