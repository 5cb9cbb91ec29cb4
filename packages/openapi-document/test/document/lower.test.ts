import { describe, expect, test } from '@jest/globals';
import { schemas } from '../../src/index.ts';

type Schemas = Readonly<Record<string, unknown>>;

/** Lowers a component in both directions, with the definitions that it needs. */
function lowered(declared: Schemas, name: string, extension = {}) {
  const root = { ...extension, components: { schemas: declared } };
  const inDirection = (direction: schemas.Direction) => {
    const { $defs, lower } = schemas.lower(root, direction);
    return { schema: lower({ $ref: `#/components/schemas/${name}` }), $defs };
  };
  return { request: inDirection('request'), response: inDirection('response') };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const def = (name: string) => ({ $ref: `#/$defs/${name}` });

describe('references', () => {
  test('keep the names of components, and name other schemas after their pointers', () => {
    const inner = { $ref: '#/components/schemas/A/properties/b/items' };
    const declared = {
      A: { type: 'object', properties: { b: { type: 'array', items: { type: 'string' } } } },
      'x y/z': { properties: { inner, again: ref('x y~1z') } },
    };
    const { request } = lowered(declared, 'x%20y~1z');
    expect(request).toEqual({
      schema: { $ref: '#/$defs/x%20y~1z' },
      $defs: {
        'x y/z': { properties: { inner: def('ABItems'), again: { $ref: '#/$defs/x%20y~1z' } } },
        ABItems: { type: 'string' },
      },
    });
    expect(schemas.definitionName('#/$defs/x%20y~1z')).toBe('x y/z');
  });

  test('are lowered once for each document and direction', () => {
    const root = { components: { schemas: { A: { type: 'string' } } } };
    expect(schemas.lower(root, 'request')).toBe(schemas.lower(root, 'request'));
    expect(schemas.lower(root, 'request')).not.toBe(schemas.lower(root, 'response'));
  });
});

describe('members of the other direction', () => {
  const declared = {
    A: {
      type: 'object',
      required: ['id', 'secret', 'name'],
      properties: { id: ref('Id'), secret: { type: 'string', writeOnly: true }, name: {} },
    },
    Id: { type: 'integer', readOnly: true },
    B: { allOf: [ref('A'), { required: ['id'] }] },
  };

  test('are removed, even if another schema requires them', () => {
    const { request, response } = lowered(declared, 'B');
    expect(request.$defs.A).toEqual({
      type: 'object',
      required: ['secret', 'name'],
      properties: { secret: { type: 'string' }, name: {} },
      'x-dropped': ['id'],
    });
    expect(request.$defs.B).toEqual({ allOf: [def('A'), {}] });
    expect(response.$defs.A).toMatchObject({ required: ['id', 'name'], 'x-dropped': ['secret'] });
    expect(response.$defs.B).toEqual({ allOf: [def('A'), { required: ['id'] }] });
  });

  test('are rejected with x-read-only: reject', () => {
    const { request } = lowered(declared, 'A', { 'x-read-only': 'reject' });
    expect(request.$defs.A).toMatchObject({ properties: { id: false } });
    const one = { A: { properties: { id: { readOnly: true, 'x-read-only': 'reject' } } } };
    expect(lowered(one, 'A').request.$defs.A).toEqual({ properties: { id: false } });
  });
});

describe('a discriminator', () => {
  const kinds = (member: string) => ({
    type: 'object',
    required: ['kind', member],
    properties: { kind: { type: 'string' }, [member]: {} },
  });
  const tag = (value: string) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { enum: [value] } },
  });

  test('becomes the values that each alternative requires', () => {
    const declared = {
      Cat: kinds('lives'),
      Dog: kinds('bark'),
      Pet: {
        oneOf: [ref('Cat'), ref('Dog')],
        discriminator: { propertyName: 'kind', mapping: { dog: '#/components/schemas/Dog' } },
      },
    };
    expect(lowered(declared, 'Pet').response.$defs.Pet).toEqual({
      oneOf: [{ allOf: [def('Cat'), tag('Cat')] }, { allOf: [def('Dog'), tag('dog')] }],
      'x-tag': { name: 'kind', values: [['Cat'], ['dog']] },
    });
  });

  test('adds only x-tag if the alternatives have constants', () => {
    const constant = (value: string) => ({
      type: 'object',
      required: ['kind'],
      properties: { kind: { const: value } },
    });
    const declared = { Pet: { anyOf: [constant('a'), constant('b'), { type: 'null' }] } };
    expect(lowered(declared, 'Pet').response.$defs.Pet).toEqual({
      anyOf: [constant('a'), constant('b'), { type: 'null' }],
      'x-tag': { name: 'kind', values: [['a'], ['b'], 'null'] },
    });
  });

  test('of a schema selects the schemas that extend it by allOf', () => {
    const extended = (member: string) => ({
      allOf: [ref('Pet'), { type: 'object', required: [member] }],
    });
    const declared = {
      Pet: { ...kinds('name'), discriminator: { propertyName: 'kind' } },
      Cat: extended('lives'),
      Cow: extended('milk'),
    };
    const { $defs } = lowered(declared, 'Pet').request;
    expect($defs.Pet).toEqual({
      oneOf: [
        { allOf: [def('Cat'), tag('Cat')] },
        { allOf: [def('Cow'), tag('Cow')] },
        { allOf: [def('PetBase'), tag('Pet')] },
      ],
      'x-tag': { name: 'kind', values: [['Cat'], ['Cow'], ['Pet']] },
    });
    expect($defs.PetBase).toEqual(kinds('name'));
    expect($defs.Cow).toEqual({ allOf: [def('PetBase'), { type: 'object', required: ['milk'] }] });
  });

  test('selects nothing with x-selects: false', () => {
    const discriminator = { propertyName: 'kind', 'x-selects': false };
    const declared = {
      Cat: kinds('lives'),
      Pet: { oneOf: [ref('Cat')], discriminator },
    };
    expect(lowered(declared, 'Pet').request.$defs.Pet).toEqual({ oneOf: [def('Cat')] });
  });
});

test('an integer has format int64 if a schema of the same value allows one beyond 2^53', () => {
  const declared = {
    Wide: { allOf: [{ type: 'integer' }, { maximum: 9007199254740993n }] },
    Both: { anyOf: [ref('Plain'), { type: 'integer', format: 'int64' }] },
    Plain: { type: 'integer' },
  };
  const wide = { type: 'integer', format: 'int64' };
  expect(lowered(declared, 'Wide').request.$defs.Wide).toEqual({
    allOf: [wide, { maximum: 9007199254740993n }],
  });
  expect(lowered(declared, 'Both').request.$defs).toEqual({ Both: { anyOf: [wide, wide] } });
});

test('the default of a referenced schema is copied to the property of a request if it fits', () => {
  const declared = {
    A: { properties: { n: ref('Count'), m: { allOf: [ref('Count')], default: 'many' } } },
    Count: { type: 'integer', default: 1 },
  };
  expect(lowered(declared, 'A').request.$defs.A).toEqual({
    properties: { n: { ...def('Count'), default: 1 }, m: { allOf: [def('Count')] } },
  });
});

test('dependencies of older drafts become dependentRequired and dependentSchemas', () => {
  const declared = { A: { dependencies: { a: ['b'], c: { required: ['d'] } } } };
  expect(lowered(declared, 'A').request.$defs.A).toEqual({
    dependentRequired: { a: ['b'] },
    dependentSchemas: { c: { required: ['d'] } },
  });
});
