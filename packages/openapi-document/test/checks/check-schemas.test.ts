import { describe, expect, test } from '@jest/globals';
import { checkSchemas } from '../../src/checks/check-schemas.ts';
import type { Formats } from '../../src/schema/formats.ts';
import { createSchemas } from '../../src/schema/schemas.ts';
import { findingsOf } from '../support/findings.ts';

const PLACE = '/components/schemas/S';
const S = { $ref: `#${PLACE}` };

const check = (schemas: object, formats?: Formats) =>
  findingsOf((report) =>
    checkSchemas(createSchemas({ components: { schemas } }, { formats }), report),
  );

/** The findings of a schema, with pointers that begin at the schema. */
const findingsIn = (schema: unknown, formats?: Formats) =>
  check({ S: schema, Other: {} }, formats).map((finding) => finding.replace(` ${PLACE}`, ' '));

const bodyWith = (name: string, others = {}) => ({
  type: 'object',
  properties: { [name]: { type: 'string' }, code: { type: 'integer' } },
  ...others,
});
const OVERLAP = [
  'notice /oneOf no value is valid: a value with the members of one alternative also matches another one. Use anyOf, or require other members',
];

test.each<[schema: object, findings: readonly string[]]>([
  [{ oneOf: [bodyWith('message'), bodyWith('error')] }, OVERLAP],
  [{ oneOf: [bodyWith('message', { required: ['code'] }), bodyWith('error')] }, []],
  [{ oneOf: [bodyWith('message'), { ...bodyWith('error'), additionalProperties: false }] }, []],
  [{ oneOf: [{ properties: { code: { type: 'string' } } }, bodyWith('error')] }, []],
  [{ oneOf: [{ type: 'string' }, bodyWith('error')] }, []],
  [
    { items: { $ref: '#' } },
    [
      'problem /items $ref: "#" is the whole OpenAPI document, not a schema: use #/components/schemas/NAME',
    ],
  ],
  [
    { $dynamicRef: '#a', unevaluatedItems: true, dependencies: {}, contentEncoding: 'base64' },
    [
      'notice  $dynamicRef is read as $ref',
      'notice  dependencies is ignored: use dependentRequired or dependentSchemas',
      'notice  contentEncoding is not checked',
    ],
  ],
  ...[
    ['minimum', 'maximum'],
    ['exclusiveMinimum', 'exclusiveMaximum'],
    ['minLength', 'maxLength'],
    ['minItems', 'maxItems'],
    ['minContains', 'maxContains'],
    ['minProperties', 'maxProperties'],
  ].flatMap(([min = '', max = '']): [object, string[]][] => [
    [{ [min]: 5, [max]: 4 }, [`notice /${min} no value is valid: ${min} is greater than ${max}`]],
    [{ [min]: 5, [max]: 5 }, []],
  ]),
  [
    { minimum: 2n ** 63n, maximum: 2n ** 62n },
    ['notice /minimum no value is valid: minimum is greater than maximum'],
  ],
  [{ minimum: 5 }, []],
  [{ enum: [] }, ['notice  enum is empty: no value is valid']],
  [{ enum: [1] }, []],
  [
    { type: 'string', default: null },
    ['notice /default the default is ignored, since it does not fit its schema: must be string'],
  ],
  [{ type: 'string', default: '' }, []],
])('the keywords of the schema %j have the findings %j', (schema, findings) => {
  expect(findingsIn(schema)).toEqual(findings);
});

test.each<[schema: object, findings: readonly string[]]>([
  [{ pattern: '[' }, ['problem  [ is not a valid regular expression (ECMA-262)']],
  [{ pattern: '^a{2}\\p{L}$' }, []],
  [
    { pattern: '^a\\-b$' },
    ['notice  ^a\\-b$ is not a valid regular expression with the flag u: it is read as /^a\\-b$/'],
  ],
  [
    { patternProperties: { '(?i)a': {}, '(': {}, b: {} } },
    [
      'notice  (?i)a is not a valid regular expression with the flag u: it is read as /a/iu',
      'problem  ( is not a valid regular expression (ECMA-262)',
    ],
  ],
])('the patterns of the schema %j have the findings %j', (schema, findings) => {
  expect(findingsIn(schema)).toEqual(findings);
});

test.each<[schema: object, places: readonly string[]]>([
  [{ items: { writeOnly: true } }, ['/items']],
  [{ prefixItems: [{}, { anyOf: [{ writeOnly: true }] }] }, ['/prefixItems']],
  [
    { additionalProperties: { writeOnly: true }, patternProperties: { a: { writeOnly: true } } },
    [],
  ],
  [{ properties: { a: { writeOnly: true, items: { writeOnly: true } } } }, []],
  [{ items: { readOnly: true } }, []],
])('of the schema %j, writeOnly items are not removed at %j', (schema, places) => {
  const message = 'writeOnly items are not removed from responses: set writeOnly on the array';
  expect(findingsIn(schema)).toEqual(places.map((place) => `notice ${place} ${message}`));
});

test('the headers of parts of a body are not checked', () => {
  const part = { headers: { 'X-Sum': { required: true, schema: {} } } };
  const body = { encoding: { a: part, b: { headers: {} }, c: {} }, itemEncoding: part };
  const mixed = { prefixEncoding: [{ encoding: { a: part } }] };
  const root = { components: { mediaTypes: { body, mixed } } };
  expect(
    findingsOf((report) => checkSchemas(createSchemas(root), report)).filter((finding) =>
      /parts/.test(finding),
    ),
  ).toEqual(
    ['body/encoding/a', 'body/itemEncoding', 'mixed/prefixEncoding/0/encoding/a'].map(
      (place) =>
        `notice /components/mediaTypes/${place}/headers the headers of parts are not checked`,
    ),
  );
});

test('only schemas are checked', () => {
  const parameters = { P: { type: 5, pattern: '(', format: 'colour', enum: [] } };
  expect(
    findingsOf((report) => checkSchemas(createSchemas({ components: { parameters } }), report)),
  ).toEqual([]);
});

test('each unknown format is reported once', () => {
  const schema = {
    format: 'colour',
    items: { format: 'colour' },
    properties: { a: { format: 'date' }, b: { format: 'size' }, c: { format: 'iban' } },
  };
  expect(findingsIn(schema, { iban: () => true })).toEqual([
    'notice  the format colour is unknown: it is not checked',
    'notice /properties/b the format size is unknown: it is not checked',
  ]);
});

test.each<[dialect: string, isKnown: boolean]>([
  ['https://json-schema.org/draft/2020-12/schema', true],
  ['https://spec.openapis.org/oas/3.1/dialect/base', true],
  ['https://spec.openapis.org/oas/3.2/dialect/2025-09-17', true],
  ['https://spec.openapis.org/oas/3.0/dialect', false],
  ['http://json-schema.org/draft-07/schema#', false],
])('the dialect %s is known: %p', (dialect, isKnown) => {
  const message = `${dialect} is read as JSON Schema 2020-12`;
  expect(findingsIn({ $schema: dialect })).toEqual(isKnown ? [] : [`notice /$schema ${message}`]);
  const root = { jsonSchemaDialect: dialect };
  expect(findingsOf((report) => checkSchemas(createSchemas(root), report))).toEqual(
    isKnown ? [] : [`notice /jsonSchemaDialect ${message}`],
  );
});

describe('a schema that refers to itself for the same value is a problem', () => {
  const cycle = (pointer: string, path: string) => [
    `problem ${pointer} the schema refers to itself for the same value, so validation would not end: ${path}`,
  ];

  test.each(['allOf', 'anyOf', 'oneOf'])('in %s', (keyword) => {
    expect(findingsIn({ [keyword]: [{}, S] })).toEqual(cycle('', 'S → S'));
  });

  test.each(['not', 'if', 'then', 'else'])('in %s', (keyword) => {
    expect(findingsIn({ [keyword]: S })).toEqual(cycle('', 'S → S'));
  });

  test('in dependentSchemas', () => {
    expect(findingsIn({ dependentSchemas: { a: S } })).toEqual(cycle('', 'S → S'));
  });

  test('in several steps, which are one finding', () => {
    const T = { anyOf: [{ not: S }] };
    expect(check({ S: { oneOf: [{}, { $ref: '#/components/schemas/T' }] }, T })).toEqual(
      cycle('/components/schemas/T', 'T → S → T'),
    );
  });

  test('if other schemas refer to it', () => {
    expect(check({ R: { allOf: [{ ...S }] }, S: { allOf: [{}, S] } })).toEqual(
      cycle(PLACE, 'S → S'),
    );
  });

  test('beside another cycle', () => {
    const T = { $ref: '#/components/schemas/T' };
    expect(check({ S: { allOf: [S, T] }, T: { allOf: [T] } })).toEqual([
      ...cycle(PLACE, 'S → S'),
      ...cycle('/components/schemas/T', 'T → T'),
    ]);
  });

  test('inside another schema', () => {
    const inner = { $ref: `#${PLACE}/properties/p` };
    expect(findingsIn({ properties: { p: { anyOf: [{}, inner] } } })).toEqual(
      cycle('/properties/p', 'p → p'),
    );
  });

  test('through its base schema, whose discriminator selects it', () => {
    const discriminator = { propertyName: 'kind' };
    const Base = { discriminator, type: 'object', properties: { kind: {} } };
    const base = { $ref: '#/components/schemas/Base' };
    const problemsIn = (schemas: object) => check(schemas).filter((line) => /^problem/.test(line));
    expect(problemsIn({ Base, S: { allOf: [base], anyOf: [base] } })).toEqual(
      cycle('/components/schemas/Base', 'Base → Base'),
    );
    expect(problemsIn({ Base, S: { allOf: [base], properties: { a: base } } })).toEqual([]);
  });

  test('but may refer to itself for a part of the value', () => {
    const parts = {
      items: S,
      prefixItems: [S],
      contains: S,
      properties: { a: S },
      patternProperties: { a: S },
      additionalProperties: S,
      propertyNames: S,
      $defs: { a: S },
    };
    expect(findingsIn(parts)).toEqual([]);
  });
});
