import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { reasonOf } from 'openapi-document';

test.each<[object | boolean, unknown, string]>([
  [false, 1, 'must not be present'],
  [{ not: { type: 'number' } }, 1, 'must not match the schema in "not"'],
  [{ type: ['string', 'null'] }, 1, 'must be string or null'],
  [{ enum: ['a', 'b'] }, 1, 'must be equal to one of the allowed values: a, b'],
  [{ minimum: 2 }, 1, 'must be >= 2'],
])('the message of an error of %j is a predicate', (schema, value, reason) => {
  const validate = new Ajv2020({ strict: false }).compile(schema);
  validate(value);
  expect(validate.errors?.map(reasonOf)).toEqual([reason]);
});

test('the message of a long enum lists only its first values', () => {
  const validate = new Ajv2020({ strict: false }).compile({
    enum: Array.from({ length: 1_000 }, (_, n) => n),
  });
  validate('x');
  expect(validate.errors?.map(reasonOf)[0]).toMatch(/: 0, 1, .*49, …$/);
});
