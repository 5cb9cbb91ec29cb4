import { describe, expect, test } from '@jest/globals';
import { checkNames } from '../../src/checks/check-names.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import { findingsOf } from '../support/findings.ts';

const ROOT = {
  components: { schemas: { Base: { properties: { id: {} }, additionalProperties: false } } },
};

const findingsIn = (schema: object): string[] =>
  findingsOf((report) => checkNames(new Schemas(ROOT), { ...schema }, '/s', report));

const BASE = { $ref: '#/components/schemas/Base' };

test.each([
  ['requierd', 'required'],
  ['maxlength', 'maxLength'],
  ['oneof', 'oneOf'],
  ['ref', '$ref'],
  ['item', 'items'],
])('the keyword %s is misspelled', (keyword, similar) => {
  expect(findingsIn({ [keyword]: 1 })).toEqual([
    `notice /s/${keyword} ${keyword} is not a keyword of a schema: it is ignored. Use ${similar}`,
  ]);
});

test.each(['x-requierd', 'unit', 'comment', 'of', 'definitions'])(
  'the keyword %s is allowed',
  (keyword) => {
    expect(findingsIn({ [keyword]: 1 })).toEqual([]);
  },
);

describe('a required name without a valid value', () => {
  const impossible = (name: string) =>
    `notice /s no object is valid: ${name} is required, but additionalProperties is false and properties does not declare it`;

  test.each<[title: string, schema: object, names: readonly string[]]>([
    [
      'in one schema',
      { required: ['a', 'b'], properties: { a: {} }, additionalProperties: false },
      ['b'],
    ],
    ['beside a reference', { ...BASE, required: ['id', 'a'] }, ['a']],
    ['in parts of allOf', { allOf: [BASE, { required: ['a'], properties: { a: {} } }] }, ['a']],
    ['in an open schema', { required: ['a'], additionalProperties: true }, []],
    [
      'with a pattern',
      { required: ['a'], patternProperties: { a: {} }, additionalProperties: false },
      [],
    ],
    ['in an alternative', { ...BASE, anyOf: [{ required: ['a'] }] }, []],
  ])('%s', (_title, schema, names) => {
    expect(findingsIn(schema)).toEqual(names.map(impossible));
  });

  test('is reported once, not where the schema is referenced', () => {
    const Wrong = { required: ['a'], additionalProperties: false };
    expect(findingsIn({ allOf: [Wrong] })).toEqual([]);
  });
});
