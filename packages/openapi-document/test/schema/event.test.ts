import { expect, test } from '@jest/globals';
import { decodedEvent, type EventData, eventDataOf } from '../../src/schema/event.ts';
import { SchemaTree } from '../../src/schema/tree.ts';
import type { Json } from '../../src/source/document.ts';

const JSON_TEXT = { type: 'string', contentMediaType: 'application/json' };
const eventOf = (data: unknown) => ({ type: 'object', properties: { data } });
const tree = new SchemaTree({ Data: JSON_TEXT, Event: eventOf({ $ref: '#/Data' }) });

test.each<[schema: unknown, data: 'json' | 'text' | 'mixed']>([
  [eventOf({ type: 'string' }), 'text'],
  [eventOf(JSON_TEXT), 'json'],
  [{ $ref: '#/Event' }, 'json'],
  [{ oneOf: [eventOf(JSON_TEXT), { properties: { event: { const: 'ping' } } }] }, 'json'],
  [eventOf({ anyOf: [JSON_TEXT, { 'x-type': 'a', contentEncoding: '', formats: 1 }] }), 'json'],
  [{ oneOf: [eventOf(JSON_TEXT), eventOf({ const: 'done' })] }, 'mixed'],
])('the data of events with the schema %j is %s', (schema, data) => {
  expect(eventDataOf(tree, schema)).toBe(data);
});

const contentSchema = { type: 'integer' };
const JSON_OR_PING = { anyOf: [{ ...JSON_TEXT, contentSchema }, { const: 'ping' }] };

test.each<[schema: Json, data: EventData, decoded: unknown]>([
  [eventOf({ ...JSON_TEXT, contentSchema }), 'json', eventOf(contentSchema)],
  [{ $ref: '#/Event' }, 'json', { allOf: [eventOf({ allOf: [{}] })] }],
  [
    eventOf(JSON_OR_PING),
    'mixed',
    eventOf({
      anyOf: [{ allOf: [contentSchema, { type: ['object', 'array'] }] }, { const: 'ping' }],
    }),
  ],
  [eventOf({ type: 'string' }), 'mixed', eventOf({})],
])('the schema %j of %s events becomes %j', (schema, data, decoded) => {
  expect(decodedEvent(tree, schema, data)).toEqual(decoded);
});
