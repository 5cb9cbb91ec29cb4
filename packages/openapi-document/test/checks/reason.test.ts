import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { reasonOf } from '../../src/checks/reason.ts';

test.each<[schema: object | boolean, value: unknown, reason: string]>([
  [false, 1, 'must not be present'],
  [{ not: { type: 'number' } }, 1, 'must not match the schema in "not"'],
  [{ type: 'string' }, 1, 'must be string'],
  [{ type: ['string', 'boolean', 'null'] }, 1, 'must be string or boolean or null'],
  [{ enum: ['a', 'b, c'] }, 1, 'must be equal to one of the allowed values: a, b, c'],
  [
    { enum: ['a', '', null, true, { b: [1] }] },
    1,
    'must be equal to one of the allowed values: a, , null, true, {"b":[1]}',
  ],
  [{ minimum: 2 }, 1, 'must be >= 2'],
  [{ required: ['a,b'] }, {}, "must have required property 'a,b'"],
])('the error of the schema %j for %j has the reason: %s', (schema, value, reason) => {
  const validate = new Ajv2020({ strict: false }).compile(schema);
  validate(value);
  expect(validate.errors?.map(reasonOf)).toEqual([reason]);
});

test.each([
  [50, ', 48, 49'],
  [51, ', 48, 49, …'],
])('the reason of an enum with %d values lists at most 50', (count, end) => {
  const values = Array.from({ length: count }, (_, index) => index);
  const validate = new Ajv2020({ strict: false }).compile({ enum: values });
  validate('x');
  const [reason = ''] = validate.errors?.map(reasonOf) ?? [];
  expect(reason).toMatch(/allowed values: 0, 1, /);
  expect(reason.endsWith(end)).toBe(true);
});
