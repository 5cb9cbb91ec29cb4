import { describe, expect, test } from '@jest/globals';
import { checkDiscriminator } from '../../src/checks/check-discriminator.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import { valueAt } from '../../src/source/document.ts';
import { findingsOf } from '../support/findings.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kindOf = (kind: object, name = 'kind') => ({ type: 'object', properties: { [name]: kind } });
const child = (name: string, kind: object) => ({ allOf: [ref(name), kindOf(kind)] });

const SCHEMAS = {
  Any: kindOf({ type: 'string' }),
  Cat: kindOf({ const: 'cat' }),
  Dog: kindOf({ enum: ['dog', 'wolf'] }),
  Puppy: kindOf({ const: 'dog' }),
  Open: {},
};

/** The findings of the schema `S`, or of the schema at a pointer. They begin at the discriminator. */
function findingsIn(schemas: object, pointer = '/components/schemas/S'): string[] {
  const root = { components: { schemas: { ...SCHEMAS, ...schemas } } };
  const schema = Object(valueAt(root, pointer));
  const findings = findingsOf((report) =>
    checkDiscriminator(new Schemas(root), schema, pointer, report),
  );
  return findings.map((finding) => finding.replace(`notice ${pointer}/discriminator`, ''));
}

const union = (names: readonly string[], discriminator: object) => ({
  oneOf: names.map(ref),
  discriminator: { propertyName: 'kind', ...discriminator },
});

const target = (name: string) => ref(name).$ref;

test.each<[title: string, schema: object]>([
  ['without a discriminator', { type: 'object' }],
  ['with constants', union(['Cat', 'Dog'], {})],
  ['with a mapping', union(['Cat', 'Dog', 'Any'], { mapping: { wolf: target('Dog') } })],
  ['with anyOf', { ...union([], {}), oneOf: undefined, anyOf: [ref('Any')] }],
  ['with alternatives of which one has the property', union(['Any', 'Open'], {})],
  ['that has the property itself', { ...SCHEMAS.Any, ...union(['Open'], {}) }],
  ['with a pattern for the property', { patternProperties: { k: {} }, ...union(['Open'], {}) }],
  ['with null', { ...union([], {}), oneOf: [ref('Cat'), { type: 'null' }] }],
  ['that no schema extends', { discriminator: { propertyName: 'kind' } }],
  ['without propertyName', { oneOf: [ref('Open')], discriminator: {} }],
  ['with defaultMapping', union(['Cat', 'Any'], { defaultMapping: target('Any') })],
])('a schema %s has no findings', (_title, S) => {
  expect(findingsIn({ S })).toEqual([]);
});

describe('a property that the schema does not have', () => {
  test('is reported, since objects without it are rejected, with a similar name', () => {
    expect(findingsIn({ S: union(['Cat', 'Dog'], { propertyName: 'kin' }) })).toEqual([
      '/propertyName the schema has no property kin: objects without it are rejected. Use kind',
    ]);
  });

  test('is reported, and the discriminator is ignored, if the alternatives have no names', () => {
    const S = { ...union([], {}), oneOf: [{ type: 'object' }] };
    expect(findingsIn({ S })).toEqual([
      '/propertyName the schema has no property kind: the discriminator is ignored',
    ]);
  });

  test('may be a property of the schemas that extend a schema', () => {
    const S = { type: 'object', discriminator: { propertyName: 'kind' } };
    expect(findingsIn({ S, Child: child('S', {}) })).toEqual([]);
    expect(findingsIn({ S, Child: { allOf: [ref('S')] } })).toEqual([
      '/propertyName the schema has no property kind: objects without it are rejected',
    ]);
  });
});

describe('a mapping', () => {
  test.each<[title: string, discriminator: object, findings: readonly string[]]>([
    [
      'to a missing schema',
      { mapping: { 'a/b': target('None'), c: 'Dog' }, defaultMapping: target('None') },
      [
        `/mapping/a~1b the mapping is ignored, since the schema ${target('None')} does not exist`,
        '/mapping/c the mapping is ignored, since the schema Dog does not exist',
        `/defaultMapping the mapping is ignored, since the schema ${target('None')} does not exist`,
      ],
    ],
    [
      'to another schema',
      { mapping: { any: target('Any') } },
      [
        `/mapping/any the mapping is ignored, since the schema ${target('Any')} is not an alternative`,
      ],
    ],
  ])('%s is reported', (_title, discriminator, findings) => {
    expect(findingsIn({ S: union(['Cat', 'Dog'], discriminator) })).toEqual(findings);
  });
});

test.each<[title: string, schema: object]>([
  ['constants', union(['Dog', 'Puppy'], {})],
  ['a mapping and a name', union(['Any', 'Open'], { mapping: { Open: target('Any') } })],
  ['no names', { ...union([], {}), oneOf: [{ ...SCHEMAS.Any }] }],
])('a discriminator that selects no alternative is reported: %s', (_title, S) => {
  expect(findingsIn({ S })).toEqual([
    ' the discriminator is ignored: its values do not select one schema each',
  ]);
});
