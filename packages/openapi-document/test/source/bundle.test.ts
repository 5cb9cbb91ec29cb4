import { describe, expect, test } from '@jest/globals';
import { bundle } from '../../src/source/bundle.ts';
import { asObject } from '../../src/source/document.ts';
import { originOf, parseFile } from '../../src/source/parse.ts';

function bundled(files: Readonly<Record<string, string>>) {
  const source = asObject(parseFile('openapi.yaml', files['openapi.yaml'] ?? ''));
  const { root, origins, problems, notices } = bundle('openapi.yaml', source, (file) => {
    if (file === 'openapi.yaml') return { value: source };
    const text = files[file];
    if (text === undefined) return { reason: 'the file does not exist' };
    return { value: file.endsWith('.md') ? text : parseFile(file, text) };
  });
  const originsOf = (pointers: readonly string[]) =>
    Object.fromEntries(
      pointers.map((pointer) => {
        const origin = originOf('openapi.yaml', root, origins, pointer);
        return [pointer, `${origin.file}#${origin.pointer}`];
      }),
    );
  return { root: Object(root), originsOf, hasOrigins: origins.size > 0, problems, notices };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const at = '/components/schemas';

describe('an index file of schemas', () => {
  const { root, originsOf, problems, notices } = bundled({
    'openapi.yaml': `
paths: { /a: { get: { responses: { '200': { $ref: 'shared.yaml#/pet' } } } } }
components: { schemas: { $ref: './schemas/_index.yaml' } }`,
    'shared.yaml':
      "pet: { description: it, content: { application/json: { schema: { $ref: './schemas/_index.yaml#/Pet' } } } }",
    'schemas/_index.yaml': 'Pet: { $ref: ./Pet.yaml }\nCat: { $ref: ./Cat.yaml }',
    'schemas/Pet.yaml':
      'oneOf: [{ $ref: ./_index.yaml#/Cat }]\ndiscriminator: { mapping: { cat: ./Cat.yaml } }',
    'schemas/Cat.yaml': 'properties: { friend: { $ref: ./Pet.yaml } }',
  });

  test('names the components', () => {
    expect(root.paths['/a'].get.responses).toEqual({
      200: { $ref: '#/components/responses/pet' },
    });
    expect(root.components).toEqual({
      schemas: {
        Pet: { oneOf: [ref('Cat')], discriminator: { mapping: { cat: ref('Cat').$ref } } },
        Cat: { properties: { friend: ref('Pet') } },
      },
      responses: {
        pet: { description: 'it', content: { 'application/json': { schema: ref('Pet') } } },
      },
    });
    expect(Object.keys(root.components.schemas)).toEqual(['Pet', 'Cat']);
    expect([problems, notices]).toEqual([[], []]);
  });

  test('is not the origin of components that it references', () => {
    const origins = {
      [at]: 'schemas/_index.yaml#',
      [`${at}/Pet`]: 'schemas/Pet.yaml#',
      [`${at}/Cat/properties`]: 'schemas/Cat.yaml#/properties',
      '/components/responses/pet': 'shared.yaml#/pet',
    };
    expect(originsOf(Object.keys(origins))).toEqual(origins);
  });
});

test('an index file of paths or webhooks is copied', () => {
  const { root, originsOf, notices } = bundled({
    'openapi.yaml': 'paths: { $ref: paths/_index.yaml }\nwebhooks: { $ref: paths/_index.yaml }',
    'paths/_index.yaml': '/a: { $ref: a.yaml }',
    'paths/a.yaml': 'get: { callbacks: { c: { d: { $ref: b.yaml } } } }',
    'paths/b.yaml': 'put: { operationId: b }',
  });
  const item = { get: { callbacks: { c: { d: { put: { operationId: 'b' } } } } } };
  expect(root).toEqual({ paths: { '/a': item }, webhooks: { '/a': item } });
  const origins = {
    '/paths/~1a/get': 'paths/a.yaml#/get',
    '/webhooks/~1a/get/callbacks/c/d/put': 'paths/b.yaml#/put',
  };
  expect(originsOf(Object.keys(origins))).toEqual(origins);
  expect(notices).toEqual([]);
});

describe('a path item that is a reference', () => {
  test('is replaced by a copy', () => {
    const { root, originsOf, notices } = bundled({
      'openapi.yaml': `
paths:
  /a: { $ref: a.yaml }
  /b: { $ref: '#/components/pathItems/b', summary: B }
  /c: { $ref: '#/paths/~1a' }
components: { pathItems: { b: { summary: x, put: { operationId: b } } } }`,
      'a.yaml': 'get: { operationId: a }',
    });
    expect(root.paths).toEqual({
      '/a': { get: { operationId: 'a' } },
      '/b': { summary: 'B', put: { operationId: 'b' } },
      '/c': { get: { operationId: 'a' } },
    });
    const origins = {
      '/paths/~1a/get': 'a.yaml#/get',
      '/paths/~1b/put': 'openapi.yaml#/components/pathItems/b/put',
      '/paths/~1b/summary': 'openapi.yaml#/paths/~1b/summary',
      '/paths/~1c/get': 'a.yaml#/get',
    };
    expect(originsOf(Object.keys(origins))).toEqual(origins);
    expect(notices).toEqual([]);
  });

  test.each([
    ['none.yaml', '$ref: none.yaml cannot be read: the file does not exist'],
    ['#/paths/~1none', '$ref: #/paths/~1none does not exist'],
    [
      'https://example.com/a.yaml',
      '$ref: https://example.com/a.yaml is not fetched: only files are read. Save it beside the document and reference the file, or bundle it: npx @redocly/cli bundle',
    ],
  ])('with the broken reference %s keeps its other members', (target, message) => {
    const { root, problems } = bundled({
      'openapi.yaml': `paths: { /a: { $ref: '${target}', summary: A }, /b: {} }`,
      'a.yaml': '{}',
    });
    expect(root.paths).toEqual({ '/a': { summary: 'A' }, '/b': {} });
    expect(problems).toEqual([{ pointer: '/paths/~1a', message }]);
  });
});

test('path items that lead to each other in a circle are reported', () => {
  const { root, problems, notices } = bundled({
    'openapi.yaml': `
paths:
  /a: { $ref: '#/paths/~1b' }
  /b: { $ref: '#/paths/~1c' }
  /c: { $ref: '#/paths/~1a' }
  /d: { $ref: '#/paths/~1d', summary: D }`,
  });
  expect(root.paths).toEqual({ '/d': { summary: 'D' } });
  expect(problems).toEqual([]);
  expect(notices).toEqual([
    { pointer: '/paths/~1a', message: '$ref: #/paths/~1b is circular: it has no effect here' },
    { pointer: '/paths/~1b', message: '$ref: #/paths/~1c is circular: it has no effect here' },
    { pointer: '/paths/~1c', message: '$ref: #/paths/~1a is circular: it has no effect here' },
    { pointer: '/paths/~1d', message: '$ref: #/paths/~1d is circular: it has no effect here' },
  ]);
});

test.each([
  ['schemas', 'a schema', "{ A: { $ref: '#/components/schemas/A' } }", '/A'],
  [
    'schemas',
    'properties',
    "{ A: { properties: { $ref: '#/components/schemas/A/properties' } } }",
    '/A/properties',
  ],
  ['examples', 'an index', "{ $ref: '#/components/examples' }", ''],
])('in %s, %s that refers to itself is a problem', (group, _title, members, place) => {
  const { problems } = bundled({ 'openapi.yaml': `components: { ${group}: ${members} }` });
  expect(problems).toEqual([
    {
      pointer: `/components/${group}${place}`,
      message: expect.stringMatching(/ is circular: it has no effect here$/),
    },
  ]);
});

test('a callback may lead to the path item that declares it', () => {
  const callback = "callbacks: { again: { '{$url}': { $ref: '#/paths/~1a' } } }";
  const { root, problems, notices } = bundled({
    'openapi.yaml': `paths: { /a: { post: { operationId: a, ${callback} } } }`,
  });
  const inside = { post: { operationId: 'a', callbacks: { again: {} } } };
  expect(root.paths).toEqual({
    '/a': { post: { operationId: 'a', callbacks: { again: { '{$url}': inside } } } },
  });
  expect(problems).toEqual([]);
  expect(notices.map(({ message }) => message)).toEqual([
    '$ref: #/paths/~1a is circular: it has no effect here',
  ]);
});

test('a part of another file becomes a component of its kind', () => {
  const { root, notices } = bundled({
    'openapi.yaml': `
paths:
  /a:
    parameters: [{ $ref: 'parts.yaml#/q' }]
    get:
      requestBody: { $ref: 'parts.yaml#/body' }
      responses:
        '200':
          headers: { A: { $ref: 'parts.yaml#/header' } }
          links: { L: { $ref: 'parts.yaml#/link' } }
          content: { text/plain: { examples: { e: { $ref: 'parts.yaml#/example' } } } }
      callbacks: { done: { $ref: 'parts.yaml#/callback' } }
components: { securitySchemes: { key: { $ref: 'parts.yaml#/scheme' } } }`,
    'parts.yaml': `
q: { name: q, schema: { $ref: '#/n' } }
body: { content: { text/csv: { $ref: '#/media' } } }
media: { itemSchema: { $ref: '#/n' } }
header: { schema: { $ref: '#/n' } }
link: { operationId: a }
example: { value: 1 }
callback: { '{$url}': { post: {} } }
scheme: { type: http }
n: { type: integer }`,
  });
  expect(root.components).toEqual({
    securitySchemes: { key: { type: 'http' } },
    parameters: { q: { name: 'q', schema: ref('n') } },
    schemas: { n: { type: 'integer' } },
    requestBodies: { body: { content: { 'text/csv': { $ref: '#/components/mediaTypes/media' } } } },
    mediaTypes: { media: { itemSchema: ref('n') } },
    headers: { header: { schema: ref('n') } },
    links: { link: { operationId: 'a' } },
    examples: { example: { value: 1 } },
    callbacks: { callback: { '{$url}': { post: {} } } },
  });
  expect(root.paths['/a'].parameters).toEqual([{ $ref: '#/components/parameters/q' }]);
  expect(notices).toEqual([]);
});

test('components may refer to each other, and to themselves', () => {
  const { root } = bundled({
    'openapi.yaml': `
components:
  schemas:
    S: { $ref: tree.yaml, title: S }
    A: { $ref: '#/components/schemas/B' }
    B: { items: { $ref: '#/components/schemas/A' } }`,
    'tree.yaml':
      'properties: { child: { $ref: tree.yaml }, leaf: { $ref: leaf.yaml } }\ntitle: tree',
    'leaf.yaml': 'items: { $ref: tree.yaml }',
  });
  expect(root.components.schemas).toEqual({
    S: { properties: { child: ref('S'), leaf: ref('leaf') }, title: 'S' },
    A: ref('B'),
    B: { items: ref('A') },
    leaf: { items: ref('S') },
  });
});

test('parts of other files get distinct, valid names', () => {
  const files = {
    'my schema (1).yaml': '{ title: spaces }',
    'a/pet.yaml': '{ title: a, items: { $ref: ../c/pet.yaml } }',
    'b/pet.yaml': '{ title: b }',
    'Known.yaml': '{ title: other }',
    'parts.yaml#/a~1b c': '{ a/b c: { title: part }, $defs: { Deep: { title: deep } } }',
    'parts.yaml#/$defs/Deep': '',
  };
  const list = Object.keys(files).map((file) => `{ $ref: '${file}' }`);
  const { root, notices } = bundled({
    'openapi.yaml': `components: { schemas: { Known: {}, S: { anyOf: [${list}] } } }`,
    ...files,
    'c/pet.yaml': '{ title: c }',
    'parts.yaml': files['parts.yaml#/a~1b c'],
  });
  const { S, Known, ...others } = root.components.schemas;
  expect(Known).toEqual({});
  expect(others).toEqual({
    my_schema__1_: { title: 'spaces' },
    pet: { title: 'a', items: ref('pet2') },
    pet2: { title: 'c' },
    pet3: { title: 'b' },
    Known2: { title: 'other' },
    a_1b_c: { title: 'part' },
    Deep: { title: 'deep' },
  });
  const names = Object.keys(others).filter((name) => name !== 'pet2');
  expect(S.anyOf).toEqual(names.map(ref));
  expect(notices).toEqual([]);
});

test('a schema of the document is referenced by its pointer', () => {
  const schemas = `{
    'a #%': { properties: { n: { $anchor: n, type: integer } } },
    S: { anyOf: [{ $ref: '#/components/schemas/a%20%23%25' }, { $ref: '#n' }, { $ref: '#t' }] },
    T: { $dynamicAnchor: t, items: { $dynamicRef: '#t' } } }`;
  const { root, problems, notices } = bundled({
    'openapi.yaml': `components: { schemas: ${schemas} }`,
  });
  expect(root.components.schemas).toMatchObject({
    S: {
      anyOf: [
        { $ref: '#/components/schemas/a%20%23%25' },
        { $ref: '#/components/schemas/a%20%23%25/properties/n' },
        ref('T'),
      ],
    },
    T: { items: ref('T') },
  });
  expect([problems, notices]).toEqual([[], []]);
});

test.each<[title: string, media: string, message: string | undefined, copy: object]>([
  [
    'properties',
    "schema: { type: object, properties: { $ref: 'parts.yaml#/members', m: {} } }",
    undefined,
    { schema: { type: 'object', properties: { n: { type: 'integer' }, m: {} } } },
  ],
  [
    'a list',
    "schema: { allOf: { $ref: 'parts.yaml#/list' } }",
    undefined,
    { schema: { allOf: [{ title: 'A' }, ref('B')] } },
  ],
  [
    'the examples of a media type',
    "examples: { $ref: 'parts.yaml#/examples' }",
    undefined,
    { examples: { one: { value: 1 } } },
  ],
  [
    'a title',
    "schema: { title: { $ref: 'parts.yaml#/text' } }",
    undefined,
    { schema: { title: 'Hello' } },
  ],
  [
    'a description in Markdown',
    "schema: { description: { $ref: 'text.md' } }",
    undefined,
    { schema: { description: '# Hello: [world' } },
  ],
  [
    'a description that is missing',
    "schema: { description: { $ref: 'none.md' }, type: string }",
    '$ref: none.md cannot be read: the file does not exist',
    { schema: { type: 'string' } },
  ],
  [
    'a property named title, which is a schema',
    "schema: { properties: { title: { $ref: '#/components/schemas/B' } } }",
    undefined,
    { schema: { properties: { title: ref('B') } } },
  ],
])(
  '$ref in the place of %s is replaced or removed with a notice, unless a schema is allowed there',
  (_title, media, message, copied) => {
    const { root, notices } = bundled({
      'openapi.yaml': `
paths: { /a: { get: { responses: { '200': { content: { application/json: { ${media} } } } } } } }
components: { schemas: { B: {} } }`,
      'parts.yaml': `
members: { n: { type: integer } }
examples: { one: { value: 1 } }
text: Hello
list: [{ title: A }, { $ref: 'openapi.yaml#/components/schemas/B' }]`,
      'text.md': '# Hello: [world',
    });
    const { content } = root.paths['/a'].get.responses[200];
    expect(content['application/json']).toStrictEqual(copied);
    expect(notices.map((notice) => notice.message)).toEqual(message === undefined ? [] : [message]);
  },
);

test('references in extensions, examples, defaults and constants stay the same', () => {
  const data = '{ $ref: "nowhere.yaml#/a" }';
  const text = `
x-b: ${data}
servers: [{ url: /, x-c: ${data} }]
paths:
  x-e: { get: ${data} }
  /a: { x-d: { parameters: [${data}] }, get: { responses: { x-f: ${data} } } }
components:
  schemas: { S: { x-a: ${data}, default: ${data}, example: ${data}, examples: [${data}], const: ${data}, enum: [${data}] } }
  examples: { E: { value: ${data} } }`;
  const { root, problems, notices } = bundled({ 'openapi.yaml': text });
  expect(root).toEqual(parseFile('', text));
  expect([problems, notices]).toEqual([[], []]);
});

test('$ref in info and servers is replaced by a copy', () => {
  const { root, notices } = bundled({
    'openapi.yaml':
      "info: { $ref: 'parts.yaml#/info' }\nservers: { $ref: 'parts.yaml#/servers' }\ntags: [{ $ref: 'parts.yaml#/tag' }]",
    'parts.yaml': 'info: { title: A }\nservers: [{ url: / }]\ntag: { name: t }',
  });
  expect(root).toEqual({ info: { title: 'A' }, servers: [{ url: '/' }], tags: [{ name: 't' }] });
  expect(notices).toEqual([]);
});

describe('a reference', () => {
  /** Bundles a document whose schema S is this reference. */
  const withRef = (schema: string, files: Readonly<Record<string, string>> = {}) => {
    const { root, problems, notices } = bundled({
      'openapi.yaml': `
paths: { /a: { get: { parameters: [{ schema: ${schema} }] } } }
components:
  schemas:
    A: { $ref: '#/components/schemas/B%20%23' }
    'B #': { properties: { n: { type: number } } }
    B: { properties: { n: { type: integer } } }
    X: { $dynamicAnchor: x }
    Y: { $dynamicAnchor: x }
    text: text`,
      ...files,
    });
    return {
      schema: root.paths['/a'].get.parameters[0].schema,
      problems: problems.filter(({ pointer }) => pointer.startsWith('/paths')),
      notices,
    };
  };
  const pointer = '/paths/~1a/get/parameters/0/schema';

  test.each([
    [
      '#components/schemas/B',
      '$ref: #components/schemas/B has no slash after #: it is read as #/components/schemas/B',
      ref('B'),
    ],
    [
      '#/components/schemas/A/properties/n',
      '$ref: #/components/schemas/A/properties/n points through another $ref: it is read as #/components/schemas/B%20%23/properties/n',
      ref('B%20%23/properties/n'),
    ],
  ])('%s is corrected, with a notice', (target, message, expected) => {
    const { schema, problems, notices } = withRef(`{ $ref: '${target}' }`);
    expect(schema).toEqual(expected);
    expect(problems).toEqual([]);
    expect(notices).toEqual([{ pointer, message }]);
  });

  test.each([
    ["$ref: '#/components/schemas/None'", '$ref: #/components/schemas/None does not exist'],
    ["$ref: '#none'", '$ref: #none does not exist: no schema has this $anchor'],
    [
      "$ref: 'https://example.com/a'",
      expect.stringContaining('https://example.com/a is not fetched'),
    ],
    ["$dynamicRef: '#x'", '$dynamicRef: #x may lead to several schemas: use $ref to select one'],
    [
      "$dynamicRef: 'openapi.yaml#x'",
      '$dynamicRef: openapi.yaml#x may lead to several schemas: use $ref to select one',
    ],
  ])('{ %s } is removed, with a problem', (members, message) => {
    const { schema, problems } = withRef(`{ ${members}, title: T }`, { 'parts.yaml': '{}' });
    expect(schema.$ref).toBeUndefined();
    expect(schema.title).toBe('T');
    expect(problems).toEqual([expect.objectContaining({ pointer, message })]);
  });

  test('that is circular is removed in one place', () => {
    const { root, problems } = bundled({
      'openapi.yaml':
        "components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } }",
    });
    expect(root.components.schemas).toEqual({ A: {}, B: ref('A') });
    expect(problems).toEqual([
      {
        pointer: `${at}/A`,
        message: expect.stringMatching(/^\$ref: #\S+ is circular$/),
      },
    ]);
  });
});

test('the mapping of a discriminator contains names, or references to schemas', () => {
  const mapping =
    "{ a: A, b: b.yaml, c: '#/components/schemas/A', d: none.yaml, e: None, f: a.b, g: 1, h: 'x/y' }";
  const { root, problems } = bundled({
    'openapi.yaml': `components: { schemas: { A: {}, a.b: {}, x/y: {}, S: { discriminator: { mapping: ${mapping}, defaultMapping: A } } } }`,
    'b.yaml': '{}',
  });
  expect(root.components.schemas.S.discriminator).toEqual({
    mapping: {
      a: ref('A').$ref,
      b: ref('b').$ref,
      c: ref('A').$ref,
      d: 'none.yaml',
      e: 'None',
      f: ref('a.b').$ref,
      g: 1,
      h: ref('x~1y').$ref,
    },
    defaultMapping: ref('A').$ref,
  });
  expect(problems).toEqual([]);
});
