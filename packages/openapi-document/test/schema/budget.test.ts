import { expect, test } from '@jest/globals';
import { BudgetExceeded, spend } from '../../src/schema/budget.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import type { Json } from '../../src/source/document.ts';

const ROOT = { $ref: '#/components/schemas/Root' };

/** Returns the keywords that a request violates. */
function check(root: Json, value: unknown) {
  const schemas = new Schemas({ components: { schemas: { Root: root } } });
  return schemas
    .at(ROOT, 'request')
    .check(value)
    .violations?.map(({ keyword }) => keyword);
}

test('a budget can be spent to the last step', () => {
  const budget = { steps: 3 };
  spend(budget, 1);
  spend(budget, 2);
  expect(budget.steps).toBe(0);
  expect(() => spend(budget, 1)).toThrow(new BudgetExceeded());
});

test('a long list of distinct numbers is not too expensive', () => {
  const schema = new Schemas({}).at({ type: 'array', uniqueItems: true }, 'request');
  const list = Array.from({ length: 400_000 }, (_, index) => index);
  expect(schema.isValid(list)).toBe(true);
});

test.each([
  ['date-time', '2024-02-29T12:00:00.123+01:00'],
  ['email', 'first.last@example.com'],
  ['uri', 'https://www.example.com:8080/a/b?c=d#e'],
  ['uri-template', '/plants/{id}{?limit,offset}'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000'],
])('a long list of texts with the format %s is not too expensive', (format, text) => {
  const items = { type: 'string', format };
  expect(check({ type: 'array', items }, Array(20_000).fill(text))).toBeUndefined();
});

test.each(['anyOf', 'oneOf'])('a mismatch in nested %s takes linear time', (keyword) => {
  const node = { type: 'object', properties: { next: ROOT }, required: ['next'] };
  let value: unknown = { next: 1 };
  for (let depth = 0; depth < 200; depth += 1) value = { next: value };
  expect(check({ [keyword]: [node, { ...node, title: 'other' }] }, value)).toEqual([keyword]);
});

test('combinations of alternatives that a client chooses cost steps', () => {
  const names = Array.from({ length: 11 }, (_, index) => `name${index}`);
  const dependentSchemas = Object.fromEntries(
    names.map((name) => [name, { properties: { [`${name}Value`]: { type: 'string' } } }]),
  );
  const items = Array.from({ length: 2_048 }, (_, bits) =>
    Object.fromEntries(names.flatMap((name, index) => ((bits >> index) & 1 ? [[name, 1]] : []))),
  );
  const schema = { type: 'array', items: { dependentSchemas } };
  expect(check(schema, items.slice(0, 64))).toBeUndefined();
  expect(check(schema, items)).toEqual(['budget']);
});

test.each([{ not: ROOT }, { anyOf: [ROOT, { type: 'null' }] }])(
  'the test of a text against itself ends: %j',
  (schema) => {
    expect(check({ allOf: [schema, { if: ROOT }] }, 'a')).toEqual(['budget']);
  },
);

test('a number beyond all doubles is a multiple of nothing', () => {
  expect(check({ multipleOf: 5 }, Number.POSITIVE_INFINITY)).toEqual(['multipleOf']);
});

test.each<[schema: object, cheap: unknown, expensive: unknown]>([
  [{ multipleOf: 0.01 }, 12.34, 1e308],
  [{ enum: [{ a: 1 }] }, { a: 12.34 }, { a: 1e308 }],
])('numbers with many digits cost steps: %j', (schema, cheap, expensive) => {
  const stepsAfter = (value: unknown) => {
    const budget = { steps: 1_000 };
    new Schemas({}).at(schema, 'request').check(value, { budget });
    return budget.steps;
  };
  expect(stepsAfter(expensive)).toBeLessThan(stepsAfter(cheap));
});

test('many names that match no pattern are one member', () => {
  const schema = { patternProperties: { '^x-': { type: 'string' } } };
  const parts = Array.from({ length: 100 }, (_, index) => ({ properties: { [`p${index}`]: {} } }));
  const schemas = new Schemas({});
  const rules = schemas.at({ allOf: [schema, ...parts] }, 'request');
  expect(rules.member('a')?.isSame(rules.member('b') as never)).toBe(true);
});
