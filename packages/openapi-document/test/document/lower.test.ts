import { describe, expect, test } from '@jest/globals';
import {
  createLowering,
  type Direction,
  definitionName,
  definitionRef,
  reachedFrom,
} from '../../src/document/lower.ts';

type Schemas = Readonly<Record<string, unknown>>;

/** Lowers a component in both directions, with the definitions that it needs. */
function lowered(declared: Schemas, name: string, extension = {}) {
  const root = { ...extension, components: { schemas: declared } };
  const inDirection = (direction?: Direction) => {
    const fits = (_property: unknown, value: unknown) => typeof value === 'number';
    const { $defs, lower } = createLowering(
      root,
      direction,
      direction === 'request' ? fits : undefined,
    );
    return { schema: lower({ $ref: `#/components/schemas/${name}` }), $defs };
  };
  return {
    request: inDirection('request'),
    response: inDirection('response'),
    both: inDirection(),
  };
}

const inResponse = (schema: unknown, declared: Schemas = {}) =>
  createLowering({ components: { schemas: declared } }, 'response').lower(schema);

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const def = (name: string) => ({ $ref: `#/$defs/${name}` });

describe('references', () => {
  test('may form a long chain', () => {
    const names = Array.from({ length: 3_000 }, (_, index) => `S${index}`);
    const chain = names.map((name, index) => [
      name,
      { properties: { next: ref(names[index + 1] ?? 'S0') } },
    ]);
    const { request, response } = lowered(Object.fromEntries(chain), 'S0');
    for (const { $defs } of [request, response]) {
      expect(Object.keys($defs)).toEqual(names);
      expect($defs.S2998).toEqual({ properties: { next: def('S2999') } });
    }
  });

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
  });

  test('have siblings, which are lowered too', () => {
    const A = { properties: { b: { $ref: ref('B').$ref, title: 'T', items: ref('B') } } };
    expect(lowered({ A, B: {} }, 'A').response.$defs).toEqual({
      A: { properties: { b: { ...def('B'), title: 'T', items: def('B') } } },
      B: {},
    });
  });

  test('of other parts of the document have distinct names', () => {
    const inner = { properties: { b: { type: 'string' } } };
    const declared = { A: { $defs: { c: inner }, properties: { c: inner } }, AC: {}, AB: {} };
    const root = { components: { schemas: declared }, x: inner };
    const { $defs, lower } = createLowering(root, 'response');
    const targets = [
      '#/components/schemas/A/$defs/c',
      '#/components/schemas/A/properties/c/properties/b',
      '#/components/schemas/A/properties/c',
      '#/x/properties/b',
    ];
    expect(targets.map(($ref) => lower({ $ref }))).toEqual(['AC2', 'ACB', 'AC3', 'xB'].map(def));
    expect($defs).toMatchObject({ AC2: inner, ACB: { type: 'string' } });
  });

  test('may be circular', () => {
    const A = { properties: { next: ref('A') }, anyOf: [{ items: ref('B') }] };
    expect(lowered({ A, B: ref('A') }, 'A').request.$defs).toEqual({
      A: { properties: { next: def('A') }, anyOf: [{ items: def('B') }] },
      B: def('A'),
    });
  });
});

test.each<[schema: unknown, result: unknown]>([
  [undefined, true],
  [true, true],
  [false, false],
  [{}, {}],
  [
    { items: true, not: false },
    { items: true, not: false },
  ],
  [
    { required: ['a', 'b', 'a'], enum: [{ $ref: 1 }] },
    { required: ['a', 'b'], enum: [{ $ref: 1 }] },
  ],
  [{ required: [] }, {}],
  [
    { $id: 'a', $schema: 'b', $anchor: 'c', $dynamicAnchor: 'd', $defs: {}, title: 'T' },
    { title: 'T' },
  ],
  [{ readOnly: true, writeOnly: true, $dynamicRef: '#a' }, {}],
  [
    { prefixItems: [{ $id: 'a' }], $comment: 'c' },
    { prefixItems: [{}], $comment: 'c' },
  ],
])('the schema %j becomes %j', (schema, result) => {
  expect(inResponse(schema)).toEqual(result);
});

test('a schema is lowered once', () => {
  const { lower } = createLowering({}, 'response');
  const schema = { properties: { a: {} } };
  expect(lower(schema)).toBe(lower(schema));
  expect(lower({ ...schema })).not.toBe(lower(schema));
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
    expect(Object.keys(request.$defs)).toEqual(['B', 'A']);
    expect(response.$defs.A).toMatchObject({ required: ['id', 'name'], 'x-dropped': ['secret'] });
    expect(response.$defs.B).toEqual({ allOf: [def('A'), { required: ['id'] }] });
  });

  test.each(['anyOf', 'oneOf'])(
    'are removed if an alternative in %s is of the other direction',
    (keyword) => {
      const optional = (part: object) => ({ [keyword]: [part, { type: 'null' }] });
      const A = {
        required: ['id', 'secret'],
        properties: { id: optional(ref('Id')), secret: optional({ writeOnly: true }) },
      };
      const { request, response, both } = lowered({ A, Id: declared.Id }, 'A');
      expect(request.$defs.A).toMatchObject({ required: ['secret'], 'x-dropped': ['id'] });
      expect(response.$defs.A).toMatchObject({ required: ['id'], 'x-dropped': ['secret'] });
      expect(both.$defs.A).not.toHaveProperty('required');
      const Id = { ...declared.Id, 'x-read-only': 'reject' };
      const rejecting = lowered({ A: structuredClone(A), Id }, 'A');
      expect(rejecting.request.$defs.A).toMatchObject({ properties: { id: false } });
    },
  );

  test('that are not in the keyword properties are forbidden in responses', () => {
    const A = { patternProperties: { a: ref('Key') }, additionalProperties: ref('Key') };
    const Key = { type: 'string', writeOnly: true };
    const { request, response, both } = lowered({ A, Key }, 'A');
    const open = { patternProperties: { a: def('Key') }, additionalProperties: def('Key') };
    expect(request.$defs.A).toEqual(open);
    expect(both.$defs.A).toEqual(open);
    expect(response.$defs.A).toEqual({
      patternProperties: { a: false },
      additionalProperties: false,
    });
  });

  test('are kept, but not required, if the schema is lowered without a direction', () => {
    const { both } = lowered(declared, 'B');
    expect(both.$defs.A).toEqual({
      type: 'object',
      required: ['name'],
      properties: { id: def('Id'), secret: { type: 'string' }, name: {} },
    });
    expect(both.$defs.B).toEqual({ allOf: [def('A'), {}] });
  });

  test.each(['allOf', 'anyOf', 'oneOf'])(
    'are not required by the schemas in %s, except for references',
    (keyword) => {
      const A = {
        properties: { id: { readOnly: true } },
        [keyword]: [{ required: ['id'] }, ref('R')],
      };
      const { request, response } = lowered({ A, R: { required: ['id', 'b'] } }, 'A');
      expect(request.$defs.A).toEqual({
        properties: {},
        'x-dropped': ['id'],
        [keyword]: [{}, def('R')],
      });
      // A referenced schema is the same at each place of the reference.
      expect(request.$defs.R).toEqual({ required: ['id', 'b'] });
      expect(response.$defs.A).toMatchObject({ [keyword]: [{ required: ['id'] }, def('R')] });
    },
  );

  test('that one alternative declares may be required by the others, but not by the schema itself', () => {
    const other = { required: ['id'] };
    const A = { required: ['id'], anyOf: [{ properties: { id: { readOnly: true } } }, other] };
    expect(lowered({ A }, 'A').request.$defs.A).toEqual({
      anyOf: [{ properties: {}, 'x-dropped': ['id'] }, other],
    });
  });

  test('are no longer required by conditions, but still by schemas of properties and items', () => {
    const A = {
      properties: { id: { readOnly: true }, inner: { required: ['id'] } },
      not: { required: ['id', 'a'] },
      if: { required: ['id'] },
      ...JSON.parse('{ "then": { "required": ["id"] } }'),
      else: { required: ['id'] },
      dependentSchemas: { a: { required: ['id'] } },
      items: { required: ['id'] },
    };
    expect(lowered({ A }, 'A').request.$defs.A).toEqual({
      properties: { inner: { required: ['id'] } },
      'x-dropped': ['id'],
      not: { required: ['a'] },
      if: {},
      ...JSON.parse('{ "then": {} }'),
      else: {},
      dependentSchemas: { a: {} },
      items: { required: ['id'] },
    });
  });

  test('are rejected with x-read-only: reject', () => {
    const { request } = lowered(declared, 'A', { 'x-read-only': 'reject' });
    expect(request.$defs.A).toMatchObject({ properties: { id: false } });
    const one = { A: { properties: { id: { readOnly: true, 'x-read-only': 'reject' } } } };
    expect(lowered(one, 'A').request.$defs.A).toEqual({ properties: { id: false } });
    const secret = { A: { properties: { id: { writeOnly: true, 'x-read-only': 'reject' } } } };
    expect(lowered(secret, 'A').response.$defs.A).toEqual({ properties: {}, 'x-dropped': ['id'] });
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

  test('is not needed for x-tag if the alternatives have constants', () => {
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
    expect(Object.keys(Object($defs.Pet))).toEqual(['oneOf', 'x-tag']);
    expect($defs.PetBase).toEqual(kinds('name'));
    expect($defs.Cow).toEqual({ allOf: [def('PetBase'), { type: 'object', required: ['milk'] }] });
  });

  test('of a schema keeps the annotations of the schema, and its base gets a free name', () => {
    const declared = {
      Pet: {
        ...kinds('name'),
        title: 'T',
        description: 'D',
        deprecated: true,
        discriminator: { propertyName: 'kind' },
      },
      PetBase: {},
      Cat: { allOf: [ref('Pet')] },
      Owner: { properties: { pet: { allOf: [ref('Pet')] } } },
    };
    const { $defs } = lowered(declared, 'Owner').request;
    expect($defs.Owner).toEqual({ properties: { pet: { allOf: [def('Pet')] } } });
    expect($defs.Pet).toMatchObject({ title: 'T', description: 'D', deprecated: true });
    expect(Object.keys(Object($defs.Pet))).toEqual([
      'title',
      'description',
      'deprecated',
      'oneOf',
      'x-tag',
    ]);
    expect($defs.Cat).toEqual({ allOf: [def('PetBase2')] });
    expect($defs.PetBase2).toMatchObject(kinds('name'));
  });

  test('of a schema is ignored if allOf combines this schema with others; $ref keeps its siblings', () => {
    const declared = {
      Pet: { ...kinds('name'), discriminator: { propertyName: 'kind' } },
      Cat: { allOf: [{ ...ref('Pet'), title: 'T' }, ref('Other')] },
      Other: {},
    };
    const { $defs } = lowered(declared, 'Cat').request;
    expect($defs.Cat).toEqual({
      allOf: [{ ...def('PetBase'), title: 'T' }, def('Other')],
    });
    expect(Object.keys($defs)).toEqual(['Cat', 'PetBase', 'Other']);
    expect(inResponse({ allOf: [ref('Pet'), {}] }, declared)).toEqual({
      allOf: [def('PetBase'), {}],
    });
    expect(inResponse({ allOf: [ref('Pet')] }, declared)).toEqual({ allOf: [def('Pet')] });
  });

  test('with a default mapping accepts all other values', () => {
    const discriminator = { propertyName: 'kind', defaultMapping: ref('Dog').$ref };
    const declared = {
      Cat: kinds('lives'),
      Cow: kinds('milk'),
      Dog: kinds('bark'),
      Pet: { anyOf: [ref('Cat'), ref('Dog'), ref('Cow'), { type: 'null' }], discriminator },
    };
    expect(lowered(declared, 'Pet').response.$defs.Pet).toEqual({
      anyOf: [
        { allOf: [def('Cat'), tag('Cat')] },
        {
          allOf: [
            def('Dog'),
            {
              type: 'object',
              not: { required: ['kind'], properties: { kind: { enum: ['Cat', 'Cow'] } } },
            },
          ],
        },
        { allOf: [def('Cow'), tag('Cow')] },
        { type: 'null' },
      ],
      'x-tag': { name: 'kind', values: [['Cat'], 'others', ['Cow'], 'null'] },
    });
  });

  test('has no tag in the direction without its member', () => {
    const declared = {
      Cat: { ...kinds('lives'), properties: { kind: { readOnly: true } } },
      Pet: { oneOf: [ref('Cat')], discriminator: { propertyName: 'kind' } },
    };
    const { request, response } = lowered(declared, 'Pet');
    expect(request.$defs.Pet).toEqual({ oneOf: [def('Cat')] });
    expect(response.$defs.Pet).toMatchObject({ 'x-tag': { name: 'kind', values: [['Cat']] } });
  });

  test('may be beside anyOf and oneOf, of which the second becomes a part of allOf', () => {
    const declared = {
      Cat: kinds('lives'),
      Dog: kinds('bark'),
      Pet: {
        allOf: [{ title: 'A' }],
        anyOf: [ref('Cat')],
        oneOf: [ref('Dog')],
        discriminator: { propertyName: 'kind' },
      },
    };
    const union = (name: string) => [{ allOf: [def(name), tag(name)] }];
    expect(lowered(declared, 'Pet').response.$defs.Pet).toEqual({
      anyOf: union('Cat'),
      'x-tag': { name: 'kind', values: [['Cat']] },
      allOf: [
        { title: 'A' },
        { oneOf: union('Dog'), 'x-tag': { name: 'kind', values: [['Dog']] } },
      ],
    });
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

describe('an integer', () => {
  test.each<[title: string, schema: object]>([
    ['a format', { type: 'integer', format: 'int64' }],
    ['a bound', { type: ['integer', 'null'], maximum: 9007199254740993n }],
    ['a value', { type: 'integer', enum: [9007199254740993n] }],
  ])('has format int64 if its own schema has %s of 64 bits', (_title, schema) => {
    expect(inResponse(schema)).toEqual({ ...schema, format: 'int64' });
  });

  test.each<[title: string, schema: object]>([
    ['schemas of the same value', { allOf: [{ type: 'integer' }, { maximum: 2n ** 60n }] }],
    ['the schema of an object', { type: 'object', properties: { n: { type: 'integer' } } }],
    ['numbers', { type: 'number', format: 'int64' }],
  ])('has no format from %s', (_title, schema) => {
    expect(inResponse(schema)).toEqual(schema);
  });
});

describe('the default of a referenced schema', () => {
  const declared = {
    A: {
      properties: {
        n: ref('Count'),
        m: { allOf: [ref('Count')], default: 'many' },
        o: { ...ref('Count'), default: 2 },
        p: { default: null },
        q: false,
      },
      items: ref('Count'),
    },
    Count: { type: 'integer', default: 1 },
  };

  test('is copied to the property of a request if it fits', () => {
    expect(lowered(declared, 'A').request.$defs.A).toEqual({
      properties: {
        n: { ...def('Count'), default: 1 },
        m: { allOf: [def('Count')] },
        o: { ...def('Count'), default: 2 },
        p: {},
        q: false,
      },
      items: { ...def('Count'), default: 1 },
    });
  });

  test('stays in its place in a response', () => {
    expect(lowered(declared, 'A').response.$defs.A).toEqual({
      properties: {
        n: def('Count'),
        m: { allOf: [def('Count')], default: 'many' },
        o: { ...def('Count'), default: 2 },
        p: { default: null },
        q: false,
      },
      items: def('Count'),
    });
  });
});

test('dependencies of older drafts are ignored', () => {
  const declared = {
    A: { dependencies: { a: ['b'], c: ref('B') }, dependentSchemas: { g: ref('B') } },
    B: {},
  };
  expect(lowered(declared, 'A').request.$defs.A).toEqual({ dependentSchemas: { g: def('B') } });
});

test.each([
  ['Pet', '#/$defs/Pet'],
  ['x y/z', '#/$defs/x%20y~1z'],
  ['Größe#', '#/$defs/Gr%C3%B6%C3%9Fe%23'],
])('the definition %s has the $ref %s', (name, $ref) => {
  expect(definitionRef(name)).toBe($ref);
  expect(definitionName($ref)).toBe(name);
});

test('the definitions that a schema needs include those of its definitions', () => {
  const $defs = {
    A: { properties: { b: def('B') } },
    B: { anyOf: [def('A'), def('C')] },
    C: { type: 'string' },
    D: def('A'),
  };
  expect([...reachedFrom($defs, { items: def('A') })]).toEqual(['A', 'B', 'C']);
  expect([...reachedFrom($defs, true)]).toEqual([]);
});
