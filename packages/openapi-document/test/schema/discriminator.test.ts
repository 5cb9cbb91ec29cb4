import { describe, expect, test } from '@jest/globals';
import { tagOfBase, tagOfUnion } from '../../src/schema/discriminator.ts';
import { SchemaTree } from '../../src/schema/tree.ts';
import { asArray, type Json } from '../../src/source/document.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const rootOf = (schemas: object) => ({ components: { schemas } });

const kindOf = (kind: object) => ({ type: 'object', required: ['kind'], properties: { kind } });
const cat = kindOf({ const: 'cat' });
const dog = kindOf({ const: 'dog' });

/** Returns the tag with the values that select each alternative. */
function tagOf(root: Json, alternatives: readonly Json[], discriminator: unknown) {
  const tag = tagOfUnion(new SchemaTree(root), alternatives, discriminator);
  if (tag === undefined) return undefined;
  const { name, allowsNull, others } = tag;
  const values = alternatives.map((schema) =>
    [...tag.values].flatMap(([value, selected]) => (selected === schema ? [value] : [])),
  );
  return { name, allowsNull, values, ...(others && { others: alternatives.indexOf(others) }) };
}

describe('the tag of a union', () => {
  const root = rootOf({
    Cat: kindOf({ const: 'cat' }),
    Kind: { enum: ['dog', 'wolf'] },
    Dog: { allOf: [ref('Pet'), { properties: { kind: ref('Kind') } }] },
    Pet: { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } },
    Any: {},
  });

  test.each<[title: string, alternatives: Json[], values: unknown[]]>([
    ['two objects', [cat, dog], [['cat'], ['dog']]],
    ['null and an object', [{ type: 'null' }, cat], [[], ['cat']]],
    [
      'a constant that several schemas restrict',
      [kindOf({ allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }), dog],
      [['b'], ['dog']],
    ],
  ])('is a required member with the constants of %s', (_title, alternatives, values) => {
    const allowsNull = values.some((list) => asArray(list).length === 0);
    const tag = { name: 'kind', values, allowsNull };
    expect(tagOf(root, alternatives, undefined)).toEqual(tag);
    expect(tagOf(root, alternatives, { propertyName: 'kind' })).toEqual(tag);
  });

  test.each<[title: string, alternatives: Json[]]>([
    ['with the same constant twice', [cat, dog, cat]],
    ['with an alternative without a constant', [cat, kindOf({ type: 'string' })]],
    ['with an optional member', [cat, { ...dog, required: [] }]],
    ['with an alternative that is not an object', [cat, { ...dog, type: undefined }]],
    ['with constants that are not strings', [kindOf({ const: 1 }), kindOf({ const: 2 })]],
    ['with a readOnly member', [cat, kindOf({ const: 'dog', readOnly: true })]],
  ])('does not exist in a union %s', (_title, alternatives) => {
    expect(tagOf(root, alternatives, undefined)).toBeUndefined();
  });
});

describe('the tag of a discriminator', () => {
  const root = rootOf({ Cat: {}, Dog: {}, Größe: {} });
  const alternatives = [ref('Cat'), ref('Dog')];
  const dogs = { dog: ref('Dog').$ref, wolf: ref('Dog').$ref };

  test.each<[title: string, members: object, alternatives: Json[], tag: object]>([
    ['the names of the schemas', {}, alternatives, { values: [['Cat'], ['Dog']] }],
    [
      'the values of the mapping',
      { mapping: dogs },
      alternatives,
      { values: [['Cat'], ['dog', 'wolf']] },
    ],
    ['names beyond ASCII', {}, [ref('Gr%C3%B6%C3%9Fe')], { values: [['Größe']] }],
    ['all other values', { defaultMapping: ref('Cat').$ref }, alternatives, { others: 0 }],
    ['null', {}, [...alternatives, { type: 'null' }], { allowsNull: true }],
  ])('has %s', (_title, members, schemas, tag) => {
    const discriminator = { propertyName: 'kind', ...members };
    expect(tagOf(root, schemas, discriminator)).toMatchObject({ name: 'kind', ...tag });
  });

  test('has constants instead of names that the schemas do not allow', () => {
    const optional = (kind: object) => ({ properties: { kind } });
    const schemas = {
      Cat: optional({ const: 'cat' }),
      Dog: optional({ enum: ['Dog', 'wolf'] }),
      Bird: optional({ const: 'bird' }),
    };
    const mapping = { fowl: ref('Bird').$ref };
    const discriminator = { propertyName: 'kind', mapping };
    expect(tagOf(rootOf(schemas), ['Cat', 'Dog', 'Bird'].map(ref), discriminator)).toMatchObject({
      name: 'kind',
      values: [['cat'], ['Dog'], ['fowl']],
    });
  });

  test('does not exist if an unmapped alternative has the same discriminator', () => {
    const union = (propertyName: string) => ({
      oneOf: [ref('Dog')],
      discriminator: { propertyName },
    });
    const schemas = { Cat: {}, Dog: {}, Same: union('kind'), Other: union('size') };
    const tag = (name: string, mapping: object) =>
      tagOf(rootOf(schemas), [ref('Cat'), ref(name)], { propertyName: 'kind', mapping });
    expect(tag('Same', {})).toBeUndefined();
    expect(tag('Same', { a: ref('Same').$ref })?.values).toEqual([['Cat'], ['a']]);
    expect(tag('Other', {})?.values).toEqual([['Cat'], ['Other']]);
  });

  test.each<[title: string, members: object, alternatives: Json[]]>([
    ['an alternative without a name', {}, [ref('Cat'), {}]],
    ['the same schema twice', {}, [ref('Cat'), ref('Cat')]],
  ])('does not exist with %s', (_title, members, schemas) => {
    expect(tagOf(root, schemas, { propertyName: 'kind', ...members })).toBeUndefined();
  });
});

describe('the tag of a schema that others extend', () => {
  const PET = ref('Pet').$ref;
  const pet = { ...kindOf({ type: 'string' }), discriminator: { propertyName: 'kind' } };
  const extend = (name: string, ...parts: object[]) => ({ allOf: [ref(name), ...parts] });

  /** Returns the name of the schema that each value selects. */
  function selectedBy(schemas: Readonly<Record<string, Json>>): unknown {
    const tree = new SchemaTree(rootOf(schemas));
    const tag = tagOfBase(tree, schemas.Pet ?? {});
    if (tag === undefined) return undefined;
    expect(tag.name).toBe('kind');
    const entries = [...tag.values].map(([value, schema]) => [
      value,
      tree.componentNames.get(schema),
    ]);
    return Object.fromEntries(entries);
  }

  const selectedByNames = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, name]));

  test('has the names of the schemas that extend it, and its own name', () => {
    expect(selectedBy({ Cat: extend('Pet'), Pet: pet, Dog: extend('Pet') })).toEqual(
      selectedByNames('Cat', 'Dog', 'Pet'),
    );
  });

  test('includes the children of its children, whether these have the same or another tag', () => {
    const tag = selectedBy({
      Pet: pet,
      Cat: { ...extend('Pet'), discriminator: { propertyName: 'kind' } },
      Persian: extend('Cat'),
      Dog: { ...extend('Pet'), discriminator: { propertyName: 'size' } },
      Poodle: extend('Dog'),
    });
    expect(tag).toEqual(selectedByNames('Cat', 'Persian', 'Dog', 'Poodle', 'Pet'));
  });

  test('has the values of the mapping, which may name schemas that do not extend it', () => {
    const mapping = {
      c: ref('Cat').$ref,
      d: ref('Dog').$ref,
      p: PET,
      x: ref('None').$ref,
      '%': '#/components/schemas/100%',
    };
    const tag = selectedBy({
      Pet: { ...pet, discriminator: { propertyName: 'kind', mapping } },
      Cat: extend('Pet'),
      Dog: {},
    });
    expect(tag).toEqual({ c: 'Cat', d: 'Dog', p: 'Pet' });
  });

  test('has the constants of the schemas instead of their names', () => {
    const tag = selectedBy({
      Pet: { ...pet, properties: { kind: { enum: ['cat', 'dog', 'pet'] } } },
      Cat: extend('Pet', { properties: { kind: { const: 'cat' } } }),
      Dog: extend('Pet', { properties: { kind: { enum: ['dog', 'wolf'] } } }),
      Cow: extend('Pet'),
    });
    expect(tag).toEqual({ cat: 'Cat', dog: 'Dog', Cow: 'Cow', pet: 'Pet' });
  });

  test.each<[title: string, schemas: Readonly<Record<string, Json>>]>([
    ['without a discriminator', { Pet: kindOf({}), Cat: extend('Pet') }],
    ['with oneOf', { Pet: { ...pet, oneOf: [{}] }, Cat: extend('Pet') }],
    [
      'with the same constant in two schemas',
      {
        Pet: pet,
        Cat: extend('Pet', { properties: { kind: { const: 'cat' } } }),
        Lion: extend('Pet', { properties: { kind: { const: 'cat' } } }),
      },
    ],
  ])('does not exist for a schema %s', (_title, schemas) => {
    expect(selectedBy(schemas)).toBeUndefined();
  });
});
