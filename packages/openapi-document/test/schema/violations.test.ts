import { expect, test } from '@jest/globals';
import { Schemas } from '../../src/schema/schemas.ts';

const schemas = new Schemas({});
const violationsOf = (schema: object | boolean, value: unknown, maxViolations?: number) =>
  schemas.at(schema, 'example').check(value, { maxViolations }).violations ?? [];

const AB = { required: ['a', 'b'] };

test.each<[schema: object | boolean, value: unknown, messages: readonly string[]]>([
  [false, 1, [' must not be present']],
  [{ not: AB }, { a: 1, b: 2 }, [' must not have a and b together']],
  [{ not: { ...AB, maxProperties: 2 } }, { a: 1, b: 2 }, [' must not match the schema in "not"']],
  [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, {}, [' must have a or b']],
  [{ anyOf: [AB, { required: ['c'] }] }, { a: 1 }, [' must have b or c']],
  [{ oneOf: [AB, { minProperties: 2 }] }, {}, [' must match exactly one schema in oneOf']],
  [
    { properties: { a: { type: 'string' }, b: { not: { contains: { const: 1 } } } } },
    { a: 1, b: [2] },
    ['/a must be string'],
  ],
  [
    { propertyNames: { maxLength: 1 } },
    { ab: 1 },
    ['/ab has a name that is not valid: it must NOT have more than 1 characters'],
  ],
  [{ type: ['string', 'boolean', 'null'] }, 1, [' must be string or boolean or null']],
  [
    { enum: ['a', '', null, true, { b: [1] }] },
    1,
    [' must be equal to one of the allowed values: a, , null, true, {"b":[1]}'],
  ],
  [{ minimum: 2 }, 1, [' must be >= 2']],
  [{ required: ['a/b'] }, {}, ['/a~1b is required']],
  [
    { properties: JSON.parse('{"__proto__":{"type":"string"}}') },
    JSON.parse('{"__proto__":1}'),
    ['/__proto__ must be string'],
  ],
])('the schema %j and the value %j: %j', (schema, value, expected) => {
  const messages = violationsOf(schema, value).map(({ path, message }) => `${path} ${message}`);
  expect(messages).toEqual(expected);
});

test.each([
  [50, ', 48, 49'],
  [51, ', 48, 49, …'],
])('the message of an enum with %d values lists at most 50', (count, end) => {
  const values = Array.from({ length: count }, (_, index) => index);
  const [violation] = violationsOf({ enum: values }, 'x');
  expect(violation?.message).toMatch(/allowed values: 0, 1, /);
  expect(violation?.message.endsWith(end)).toBe(true);
});

test('long texts that differ in a lone surrogate are different', () => {
  const [first, second] = ['\ud800', '\ud801'].map((end) => 'a'.repeat(1001) + end);
  expect(violationsOf({ uniqueItems: true }, [first, second])).toEqual([]);
  expect(violationsOf({ enum: [first] }, second)).toHaveLength(1);
});

test('a check lists at most 20 violations, or as many as its caller wants', () => {
  const texts = { items: { type: 'string' } };
  const items = Array.from({ length: 50 }, () => 1);
  const counts = [undefined, 30, 60].map((limit) => violationsOf(texts, items, limit).length);
  expect(counts).toEqual([20, 30, 50]);
});

test.each([
  [0.01, 19.99, true],
  [0.01, 19.999, false],
  [0.3333333333333333, 1, false],
  [1e-8, 0.000_000_03, true],
  [1e20, 3e20, true],
  [3, 2n ** 60n, false],
])('multipleOf: %d is exact in decimals: %d is valid: %j', (multipleOf, value, isValid) => {
  expect(violationsOf({ multipleOf }, value)).toHaveLength(isValid ? 0 : 1);
});
