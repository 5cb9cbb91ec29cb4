import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkDocument, type Document, loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/files';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
const OK = "'200': { description: done }";

/** Loads a document made of these files, and describes its findings. */
const load = (files: Readonly<Record<string, string>>) =>
  withFiles(files, async (folder) => {
    const document = await loadDocument(join(folder, 'openapi.yaml'));
    const { problems, broken, notices } = checkDocument(document);
    const describeFindings = (findings: Parameters<Document['describe']>[0]) =>
      document.describe(findings).replaceAll(`${folder}/`, '').split('\n').filter(Boolean);
    return {
      document,
      root: Object(document.root),
      problems: describeFindings(problems),
      broken: Object.fromEntries(
        [...broken].map(([id, findings]) => [id, describeFindings(findings)]),
      ),
      notices: describeFindings(notices),
    };
  });

/** A document with these operations, by path. */
const paths = (responses: Readonly<Record<string, string>>) =>
  `${HEAD}paths:\n${Object.entries(responses)
    .map(([name, list]) => `  /${name}:\n    get:\n      operationId: ${name}\n      ${list}\n`)
    .join('')}`;

describe('an index file of schemas', () => {
  const files = {
    'openapi.yaml': `${paths({
      a: `responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } } }`,
      b: `responses: { '200': { $ref: 'shared.yaml#/pet' } }`,
    })}components: { schemas: { $ref: './schemas/_index.yaml' } }\n`,
    'shared.yaml':
      "pet: { description: it, content: { application/json: { schema: { $ref: './schemas/_index.yaml#/Pet' } } } }\n",
    'schemas/_index.yaml': 'Pet: { $ref: ./Pet.yaml }\nCat: { $ref: ./Cat.yaml }\n',
    'schemas/Pet.yaml':
      'oneOf: [{ $ref: ./_index.yaml#/Cat }]\ndiscriminator: { propertyName: kind, mapping: { cat: ./Cat.yaml } }\n',
    'schemas/Cat.yaml':
      'type: object\nproperties: { kind: { const: cat }, friend: { $ref: ./Pet.yaml }, name: { type: strin } }\n',
  };

  test('names the components', async () => {
    const { root } = await load(files);
    const pet = { schema: { $ref: '#/components/schemas/Pet' } };
    expect(root.components).toMatchObject({
      schemas: {
        Pet: {
          oneOf: [{ $ref: '#/components/schemas/Cat' }],
          discriminator: { mapping: { cat: '#/components/schemas/Cat' } },
        },
        Cat: { properties: { friend: { $ref: '#/components/schemas/Pet' } } },
      },
      responses: { pet: { content: { 'application/json': pet } } },
    });
    expect(Object.keys(root.components.schemas)).toEqual(['Pet', 'Cat']);
  });

  test('is not named in findings, but the file with the mistake is', async () => {
    const { broken } = await load(files);
    expect(broken).toEqual({
      a: [expect.stringMatching(/^schemas\/Cat\.yaml:2:75 must be equal to one of/)],
      b: [expect.stringMatching(/^schemas\/Cat\.yaml:2:75 must be equal to one of/)],
    });
  });
});

describe('a path item that is a reference', () => {
  const item = 'get: { operationId: a, responses: { 5: { description: it } } }\n';

  test('is part of the path', async () => {
    const { root, document } = await load({
      'openapi.yaml': `${HEAD}paths:\n  /a: { $ref: a.yaml }\n  /b: { $ref: '#/components/pathItems/b', summary: B }\n  /c: { $ref: '#/paths/~1a' }\ncomponents: { pathItems: { b: { summary: x, put: { operationId: b, responses: { ${OK} } } } } }\n`,
      'a.yaml': `get: { operationId: a, responses: { ${OK} } }\n`,
    });
    expect(root.paths).toMatchObject({
      '/a': { get: { operationId: 'a' } },
      '/b': { summary: 'B', put: { operationId: 'b' } },
      '/c': { get: { operationId: 'a' } },
    });
    expect(JSON.stringify(root)).not.toContain('$ref');
    expect(document.operations.map(({ id, path }) => [id, path])).toEqual([
      ['a', '/a'],
      ['b', '/b'],
      ['a2', '/c'],
    ]);
  });

  test('has a mistake in one place only', async () => {
    const { broken, problems, notices } = await load({
      'openapi.yaml': `${HEAD}paths:\n  /a: { $ref: '#/components/pathItems/a' }\ncomponents: { pathItems: { a: { get: { operationId: a, requestBody: 1, responses: { ${OK} } } } } }\n`,
    });
    expect(problems).toEqual([]);
    expect(broken).toEqual({ a: [expect.stringMatching(/^openapi\.yaml:5:/)] });
    expect(notices).toEqual([]);
  });

  test('keeps the positions of its members', async () => {
    const { broken, problems, notices } = await load({
      'openapi.yaml': `${HEAD}paths:\n  /a: { $ref: a.yaml }\n`,
      'a.yaml': item,
    });
    expect([problems, broken, notices]).toEqual([
      [],
      {},
      ['a.yaml:1:37 5 is not a member of OpenAPI 3.1 here: it is ignored'],
    ]);
  });

  test.each([
    [
      'is missing',
      'a.yaml',
      'openapi.yaml:4:3 $ref: a.yaml cannot be read: the file does not exist',
    ],
    [
      'is remote',
      'https://example.com/a.yaml',
      'Save it beside the document and reference the file',
    ],
    ['leads back to itself', '#/paths/~1a', 'is circular'],
  ])('does not affect the other paths if it %s', async (_title, ref, notice) => {
    const { document, problems, notices } = await load({
      'openapi.yaml': `${HEAD}paths:\n  /a: { $ref: '${ref}' }\n  /b: { get: { operationId: b, responses: { ${OK} } } }\n`,
    });
    expect(problems).toEqual([]);
    expect(notices).toEqual([expect.stringContaining(notice)]);
    expect(notices[0]).toContain('the path is not served');
    expect(document.operations.map(({ id }) => id)).toEqual(['b']);
  });
});

test('a syntax error in a referenced file breaks the operations that need it', async () => {
  const { problems, broken } = await load({
    'openapi.yaml': paths({
      a: `responses: { '200': { $ref: broken.yaml } }`,
      b: `responses: { ${OK} }`,
    }),
    'broken.yaml': 'description: [\n',
  });
  expect(problems).toEqual([]);
  expect(broken).toEqual({
    a: [
      expect.stringMatching(
        /^openapi\.yaml:7:20 \$ref: broken\.yaml cannot be read: broken\.yaml:\d/,
      ),
    ],
  });
});

test('a missing file is described in one line, even if it is referenced many times', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => `a${index}`);
  const text = paths(
    Object.fromEntries(ids.map((id) => [id, `responses: { '200': { $ref: none.yaml } }`])),
  );
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const document = await loadDocument(join(folder, 'openapi.yaml'));
    const { broken } = checkDocument(document);
    expect([...broken.keys()]).toEqual(ids);
    const lines = document.describe([...broken.values()].flat());
    expect(lines.replace(folder, '')).toMatch(
      /^\/openapi\.yaml:7:20 \$ref: \S*none\.yaml cannot be read: the file does not exist \(referenced 50 times\)$/,
    );
  });
});

test.each<[title: string, media: string, notice: string, copy: object]>([
  [
    'properties',
    "schema: { type: object, properties: { $ref: 'parts.yaml#/members' } }",
    'OpenAPI has no $ref in properties: it is replaced by a copy of parts.yaml#/members',
    { schema: { type: 'object', properties: { n: { type: 'integer' } } } },
  ],
  [
    'the examples of a media type',
    "schema: {}, examples: { $ref: 'parts.yaml#/shown' }",
    'OpenAPI has no $ref in examples: it is replaced by a copy of parts.yaml#/shown',
    { schema: {}, examples: { one: { value: 1 } } },
  ],
  [
    'a title',
    "schema: { title: { $ref: 'parts.yaml#/text' } }",
    'OpenAPI has no $ref in title: it is replaced by a copy of parts.yaml#/text',
    { schema: { title: 'Hello' } },
  ],
  [
    'a description in Markdown',
    "schema: { description: { $ref: 'text.md' } }",
    'OpenAPI has no $ref in description: it is replaced by a copy of text.md',
    { schema: { description: '# Hello: [world\n' } },
  ],
  [
    'a description that is missing',
    "schema: { description: { $ref: 'none.md' }, type: string }",
    'OpenAPI has no $ref in description: it has no effect',
    { schema: { type: 'string' } },
  ],
])('$ref in the place of %s has a notice', async (_title, media, notice, copied) => {
  const { root, broken, problems, notices } = await load({
    'openapi.yaml': paths({
      a: `responses: { '200': { description: it, content: { application/json: { ${media} } } } }`,
    }),
    'parts.yaml': 'members: { n: { type: integer } }\nshown: { one: { value: 1 } }\ntext: Hello\n',
    'text.md': '# Hello: [world\n',
  });
  expect([broken, problems]).toEqual([{}, []]);
  expect(notices).toContainEqual(expect.stringContaining(notice));
  const { content } = root.paths['/a'].get.responses[200];
  expect(content['application/json']).toEqual(copied);
});

test('a pointer through another reference is resolved', async () => {
  const { root, notices, broken } = await load({
    'openapi.yaml': `${paths({
      a: `responses: { '200': { description: it, content: { application/json: { schema: { $ref: '#/components/schemas/A/properties/n' } } } } }`,
    })}components: { schemas: { A: { $ref: '#/components/schemas/B' }, B: { properties: { n: { type: integer } } } } }\n`,
  });
  expect(broken).toEqual({});
  expect(notices).toEqual([
    expect.stringContaining('leads through another $ref, which is resolved'),
  ]);
  expect(root.paths['/a'].get.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/B/properties/n',
  });
});

test.each([
  [
    'without a slash',
    '#components/schemas/S',
    'has no slash after #: it is read as #/components/schemas/S',
  ],
  ['in the document', '#/components/schemas/S', undefined],
])('a reference %s leads to a component', async (_title, ref, notice) => {
  const { root, notices } = await load({
    'openapi.yaml': `${paths({
      a: `responses: { '200': { description: it, content: { application/json: { schema: { $ref: '${ref}' } } } } }`,
    })}components: { schemas: { S: { type: string } } }\n`,
  });
  expect(root.paths['/a'].get.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/S',
  });
  expect(notices).toEqual(notice === undefined ? [] : [expect.stringContaining(notice)]);
});

test('members can have the names of Object.prototype', async () => {
  const { root } = await load({
    'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { constructor: { type: string }, S: { properties: { __proto__: { $ref: '#/components/schemas/constructor' } } } } }\n`,
  });
  expect(Object.entries(root.components.schemas.S.properties)).toEqual([
    ['__proto__', { $ref: '#/components/schemas/constructor' }],
  ]);
});

test('parts of other files become components with distinct, valid names', async () => {
  const files = [
    'my schema (1).yaml',
    'a/pet.yaml',
    'b/pet.yaml',
    'Known.yaml',
    'parts.yaml#/a~1b c',
  ];
  const list = files.map((file) => `{ $ref: '${file}' }`).join(', ');
  const { root, notices } = await load({
    'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { Known: {}, S: { anyOf: [${list}] } } }\n`,
    'my schema (1).yaml': '{ title: spaces }',
    'a/pet.yaml': '{ title: a }',
    'b/pet.yaml': '{ title: b }',
    'Known.yaml': '{ title: other }',
    'parts.yaml': '{ a/b c: { title: part } }',
  });
  const { S, Known, ...others } = root.components.schemas;
  expect(Known).toEqual({});
  expect(others).toEqual({
    my_schema__1_: { title: 'spaces' },
    pet: { title: 'a' },
    pet2: { title: 'b' },
    Known2: { title: 'other' },
    a_1b_c: { title: 'part' },
  });
  expect(S.anyOf).toEqual(
    Object.keys(others).map((name) => ({ $ref: `#/components/schemas/${name}` })),
  );
  expect(notices).toEqual([]);
});
