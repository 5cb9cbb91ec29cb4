import { expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { Schemas } from '../../src/schema/schemas.ts';

const outlineOf = (schema: unknown, root = {}) => new Schemas(root).outline(schema);

test('an outline has the facts of a schema, its references and its alternatives, each once', () => {
  const root = {
    A: { const: 'A', allOf: [{ $ref: '#/B' }, { const: 'inline' }, true] },
    B: { const: 'B', $ref: '#/C', anyOf: [{ const: 'any' }] },
    C: { const: 'C', allOf: [{ $ref: '#/A' }] },
  };
  expect(outlineOf({ $ref: '#/A' }, root).constants).toEqual(['A', 'B', 'C', 'any', 'inline']);
  const schema = {
    const: 'top',
    anyOf: [{ const: 'any' }, { oneOf: [{ const: 'inner' }] }],
    oneOf: [{ const: 'one' }, true],
    if: { const: 'if' },
    ...JSON.parse('{ "then": { "const": "then" } }'),
    else: { const: 'else' },
    not: { const: 'not' },
    items: { const: 'item' },
  };
  expect(outlineOf(schema).constants).toEqual(['top', 'any', 'inner', 'one', 'then', 'else']);
});

test.each([undefined, true, null, 'text'])('an outline of %j describes nothing', (schema) => {
  expect(outlineOf(schema).isDescribed).toBe(false);
});

test.each(
  withText<unknown, [types: readonly string[]]>([
    [{ type: ['string', 'null', 5] }, ['string', 'null']],
    [
      { enum: ['a', 1, 1.5, 2n, true, null, [], {}] },
      ['number', 'string', 'boolean', 'array', 'object', 'null'],
    ],
    [{ type: 'string', enum: [1] }, ['string']],
    [{ prefixItems: [] }, ['array']],
    [{ properties: {} }, ['object']],
    [{ anyOf: [{ type: 'string' }, { $ref: '#/A' }] }, ['integer', 'string']],
  ]),
)('the types of %s are %j', (_text, types, schema) => {
  expect([...outlineOf(schema, { A: { type: 'integer' } }).types]).toEqual(types);
});
