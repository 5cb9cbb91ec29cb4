import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { createEovAjv } from '../../../src/core/validation/eov.ts';

const require = createRequire(import.meta.url);
const create = (direction: 'request' | 'response', formats = {}) =>
  createEovAjv({ direction, allErrors: true, formats });

describe('express-openapi-validator', () => {
  test('has the exact version whose internal modules validation/eov.ts imports', () => {
    const { version } = require('express-openapi-validator/package.json');
    const { dependencies } = require('spec-first-server/package.json');
    expect([version, dependencies['express-openapi-validator']]).toEqual(['5.6.2', '5.6.2']);
  });

  test.each(['request', 'response'] as const)(
    'compiles schemas of JSON Schema 2020-12 for a %s',
    (direction) => {
      const ajv = create(direction).addSchema({ type: 'integer' }, '#/$defs/Id');
      const validate = ajv.compile({
        type: 'object',
        properties: {
          id: { $ref: '#/$defs/Id' },
          pair: { prefixItems: [{ type: 'integer' }], items: false },
          day: { type: 'string', format: 'date' },
          data: { type: 'string', format: 'byte' },
        },
        unevaluatedProperties: false,
      });
      expect(validate({ id: 1, pair: [1], day: '2024-02-29', data: 'YQ==' })).toBe(true);
      expect(validate({ id: '1', pair: [1, 2], day: '2023-02-29', data: '?', other: 1 })).toBe(
        false,
      );
      const violations = validate.errors?.map(
        ({ keyword, instancePath }) => `${instancePath} ${keyword}`,
      );
      expect(violations?.sort()).toEqual([
        ' unevaluatedProperties',
        '/data format',
        '/day format',
        '/id type',
        '/pair items',
      ]);
    },
  );

  // Fails if createEovAjv returns a plain Ajv: Ajv and ajv-formats have neither.
  test.each([
    ['request', 'readOnly', 'is read-only'],
    ['response', 'writeOnly', 'is write-only'],
  ] as const)('has the keywords and formats of EOV: in a %s, %s', (direction, keyword, message) => {
    const ajv = create(direction);
    expect(Object.keys(ajv.formats)).toContain('media-range');
    const validate = ajv.compile({ properties: { id: { [keyword]: true } } });
    validate({ id: 1 });
    expect(validate.errors).toEqual([expect.objectContaining({ keyword, message })]);
  });

  test('accepts the formats of a service', () => {
    const validate = create('request', { even: (text: string) => text.length % 2 === 0 }).compile({
      format: 'even',
    });
    expect([validate('ab'), validate('a'), validate(1)]).toEqual([true, false, true]);
  });

  test('does not change values: no defaults, no coercion, no removal', () => {
    const validate = create('request').compile({
      type: 'object',
      properties: { a: { default: 1 }, b: { type: 'integer' }, c: { type: 'string' } },
      additionalProperties: false,
    });
    for (const value of [{}, { b: '1' }, { b: 1, c: 'x', d: 1 }]) {
      const before = structuredClone(value);
      validate(value);
      expect(value).toEqual(before);
    }
  });

  test.each<[string, object, unknown, boolean]>([
    ['an inherited member is missing', { required: ['constructor'] }, {}, false],
    ['an own member is present', { required: ['constructor'] }, { constructor: 1 }, true],
    ['a tuple may be shorter', { type: 'array', prefixItems: [{}, {}] }, [1], true],
    ['a pattern may have flags', { pattern: '(?i)^a$' }, 'A', true],
    ['a pattern is checked', { pattern: '(?i)^a$' }, 'B', false],
    ['a date-time is checked in full', { format: 'date-time' }, '2024-02-30T12:00:00Z', false],
    ['a string is not a number', { type: 'integer' }, '1', false],
  ])('%s', (_title, schema, value, isValid) => {
    expect(create('request').compile(schema)(value)).toBe(isValid);
    expect(create('response').compile(schema)(value)).toBe(isValid);
  });

  test('reports only the first violation without allErrors', () => {
    const options = { direction: 'request', allErrors: false, formats: {} } as const;
    const validate = createEovAjv(options).compile({ required: ['a', 'b'] });
    validate({});
    expect(validate.errors).toHaveLength(1);
    const validateAll = create('request').compile({ required: ['a', 'b'] });
    validateAll({});
    expect(validateAll.errors).toHaveLength(2);
  });

  test.each([
    ['request', true],
    ['response', false],
  ] as const)(
    'limits integers without a format to the safe range in a %s: %s',
    (direction, isLimited) => {
      const validate = create(direction).compile({ numeric: { type: ['integer'] } });
      expect(validate(2n ** 60n)).toBe(!isLimited);
    },
  );
});
