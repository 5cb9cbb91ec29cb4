import { describe, expect, test } from '@jest/globals';
import { checkSchemas } from '../../src/checks/check-schemas.ts';
import type { Formats } from '../../src/schema/formats.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import { findingsOf } from '../support/findings.ts';

const PLACE = '/components/schemas/S';

/** The findings of a schema, with pointers that begin at the schema. */
function findingsIn(S: unknown, formats?: Formats): string[] {
  const schemas = new Schemas({ components: { schemas: { S } } }, { formats });
  const findings = findingsOf((report) => checkSchemas(schemas, report));
  return findings.map((finding) => finding.replace(` ${PLACE}`, ' '));
}

test.each<[schema: object, findings: readonly string[]]>([
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
  [
    { type: 'string', default: null },
    ['notice /default the default is ignored, since it does not fit its schema: must be string'],
  ],
  [{ type: 'string', default: '' }, []],
  [
    { properties: { a: {} } },
    ['notice  properties restrict only objects: add type: object to reject other values'],
  ],
  [{ allOf: [{ properties: { a: {} } }, { type: ['object', 'null'] }] }, []],
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
  [{ type: 'object', properties: { a: { writeOnly: true, items: { writeOnly: true } } } }, []],
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
    findingsOf((report) => checkSchemas(new Schemas(root), report)).filter((finding) =>
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
  const parameters = { P: { type: 5, pattern: '(', format: 'colour' } };
  expect(
    findingsOf((report) => checkSchemas(new Schemas({ components: { parameters } }), report)),
  ).toEqual([]);
});

test('each unknown format is reported once', () => {
  const schema = {
    type: ['array', 'object'],
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
  expect(findingsOf((report) => checkSchemas(new Schemas(root), report))).toEqual(
    isKnown ? [] : [`notice /jsonSchemaDialect ${message}`],
  );
});

describe('a schema that refers to itself for the same value is a problem', () => {
  const T = { $ref: '#/components/schemas/T' };
  const self = { $ref: `#${PLACE}` };
  const check = (schemas: object) =>
    findingsOf((report) => checkSchemas(new Schemas({ components: { schemas } }), report));
  const cycle = (pointer: string, path: string) =>
    `problem ${pointer} the schema refers to itself for the same value, so validation would not end: ${path}`;

  test.each<[schemas: object, findings: readonly string[]]>([
    [{ S: { anyOf: [{}, self] } }, [cycle(PLACE, 'S → S')]],
    [{ S: { not: self } }, [cycle(PLACE, 'S → S')]],
    [{ S: { dependentSchemas: { a: self } } }, [cycle(PLACE, 'S → S')]],
    [
      { S: { oneOf: [{}, T] }, T: { anyOf: [{ not: self }] } },
      [cycle('/components/schemas/T', 'T → S → T')],
    ],
  ])('in %j', (schemas, findings) => {
    expect(check(schemas)).toEqual(findings);
  });

  test('through its base schema, whose discriminator selects it', () => {
    const discriminator = { propertyName: 'kind' };
    const Base = { discriminator, type: 'object', properties: { kind: {} } };
    const base = { $ref: '#/components/schemas/Base' };
    expect(check({ Base, S: { allOf: [base], anyOf: [base] } })).toContain(
      cycle('/components/schemas/Base', 'Base → Base'),
    );
  });

  test('but may refer to itself for a part of the value', () => {
    expect(
      findingsIn({
        type: ['array', 'object'],
        items: self,
        properties: { a: self },
        $defs: { a: self },
      }),
    ).toEqual([]);
  });
});
