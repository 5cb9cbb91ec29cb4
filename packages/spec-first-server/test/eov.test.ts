import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { eovCompiler } from '../src/validation/eov.ts';

const require = createRequire(import.meta.url);
const compile = (direction: 'request' | 'response', schemas = {}) =>
  eovCompiler(direction, schemas, { allErrors: true });

describe('express-openapi-validator', () => {
  test('is of the exact version whose inside validation/eov.ts relies on: read that file before you change it', () => {
    const { version } = require('express-openapi-validator/package.json');
    const { peerDependencies } = require('spec-first-server/package.json');
    expect([version, peerDependencies['express-openapi-validator']]).toEqual(['5.6.2', '5.6.2']);
  });

  test.each(['request', 'response'] as const)('compiles schemas of JSON Schema 2020-12 for a %s', (direction) => {
    const validate = compile(direction, { Id: { type: 'integer' } })({
      type: 'object',
      properties: {
        id: { $ref: '#/components/schemas/Id' },
        pair: { prefixItems: [{ type: 'integer' }], items: false },
        day: { type: 'string', format: 'date' },
        data: { type: 'string', format: 'byte' },
      },
      unevaluatedProperties: false,
    });
    expect(validate({ id: 1, pair: [1], day: '2024-02-29', data: 'YQ==' })).toBe(true);
    expect(validate({ id: '1', pair: [1, 2], day: '2023-02-29', data: '?', more: 1 })).toBe(false);
    const found = validate.errors?.map(({ keyword, instancePath }) => `${instancePath} ${keyword}`);
    expect(found?.sort()).toEqual([' unevaluatedProperties', '/data format', '/day format', '/id type', '/pair items']);
  });

  test('changes no value: it fills in no default, coerces no type, and removes nothing', () => {
    const validate = compile('request')({
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
});
