import { symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkDocument, loadDocument } from 'openapi-document';
import { echo, serve } from 'test-support/documents';
import { withFiles } from 'test-support/files';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
const OK = "'200': { description: done, content: { application/json: {} } }";

/** The root of a document made of these files. */
const rootOf = (files: Record<string, string>) =>
  withFiles(files, async (folder) => (await loadDocument(join(folder, 'openapi.yaml'))).root);

/** The findings in a document, without the path of its folder. */
async function findingsIn(folder: string, name = 'openapi.yaml'): Promise<string[]> {
  const document = await loadDocument(join(folder, name));
  const { problems, broken, notices } = checkDocument(document);
  const lines = document.describe([...problems, ...[...broken.values()].flat(), ...notices]);
  return lines.replaceAll(`${folder}/`, '').split('\n');
}

describe('a document of several files', () => {
  const shared = {
    'openapi.yaml': `${HEAD}paths:\n  /a/{id}:\n${['get', 'put']
      .map(
        (method) =>
          `    ${method}: { operationId: ${method}A, parameters: [{ $ref: 'shared.yaml#/id' }], responses: { ${OK}, '404': { $ref: 'shared.yaml#/none' } } }\n`,
      )
      .join('')}`,
    'shared.yaml':
      'id: { name: id, in: path, required: true, schema: { $ref: "#/Id" } }\nnone: { description: none }\nId: { type: integer }\n',
  };

  test('shares a parameter and a response of another file between the operations of a path', async () => {
    await withFiles(shared, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { getA: echo, putA: echo });
      await client.get('/a/5').expect(200);
      const { body } = await client.put('/a/x').expect(400);
      expect(body.message).toBe('/path/id must be integer');
    });
  });

  test('has the shared parts among its components', async () => {
    expect(Object(await rootOf(shared)).components).toEqual({
      parameters: { id: expect.objectContaining({ schema: { $ref: '#/components/schemas/Id' } }) },
      responses: { none: { description: 'none' } },
      schemas: { Id: { type: 'integer' } },
    });
  });

  test('names the files that were read', async () => {
    await withFiles(shared, async (folder) => {
      const { files } = await loadDocument(join(folder, 'openapi.yaml'));
      expect(files).toEqual([join(folder, 'openapi.yaml'), join(folder, 'shared.yaml')]);
    });
  });

  test('names the missing files', async () => {
    await withFiles(
      { 'openapi.yaml': `${HEAD}paths: { /a: { $ref: a.yaml } }\n` },
      async (folder) => {
        expect((await loadDocument(join(folder, 'openapi.yaml'))).files).toContain(
          join(folder, 'a.yaml'),
        );
      },
    );
  });

  test('does not read a file that only an example references', async () => {
    const example = 'example: { $ref: nowhere.yaml }';
    const root = await rootOf({
      'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { ${example} } } }\n`,
    });
    expect(JSON.stringify(root)).toContain('nowhere.yaml');
  });

  test('may have circular references and mappings to files', async () => {
    const root = await rootOf({
      'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: tree.yaml } } }\n`,
      'tree.yaml':
        'properties: { child: { $ref: tree.yaml } }\ndiscriminator: { mapping: { leaf: leaf.yaml } }\n',
      'leaf.yaml': '{ type: object }\n',
    });
    expect(Object(root).components.schemas).toEqual({
      S: {
        properties: { child: { $ref: '#/components/schemas/S' } },
        discriminator: { mapping: { leaf: '#/components/schemas/leaf' } },
      },
      leaf: { type: 'object' },
    });
  });
});

test('YAML merge keys are supported', async () => {
  const root = await rootOf({
    'openapi.yaml': `x-a: &a { b: 1 }\n${HEAD}paths: {}\nx-c: { <<: *a, d: 2 }\n`,
  });
  expect(root['x-c']).toEqual({ b: 1, d: 2 });
});

test('anchors and dynamic anchors are replaced by pointers', async () => {
  const schemas = `S: { $anchor: s, items: { $ref: '#s' } }, T: { $dynamicAnchor: t, items: { $dynamicRef: '#t' } }`;
  const root = await rootOf({
    'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { ${schemas} } }\n`,
  });
  expect(Object(root).components.schemas).toMatchObject({
    S: { items: { $ref: '#/components/schemas/S' } },
    T: { items: { $ref: '#/components/schemas/T' } },
  });
});

test('anchors are found in schemas whose names are keywords, but not in data', async () => {
  const words = ['default', 'example', 'examples', 'const', 'enum'];
  const schemasOf = (at: string) =>
    words.map((word) => `${word}: { $anchor: ${at}-${word} }`).join(', ');
  const references = ['schemas', 'defs', 'properties'].flatMap((at) =>
    words.map((word) => `{ $ref: '#${at}-${word}' }`),
  );
  const data = words.map((word) => `${word}: { $anchor: properties-${word} }`).join(', ');
  const schemas = `{ ${schemasOf('schemas')}, D: { $defs: { ${schemasOf('defs')} } }, P: { properties: { ${schemasOf('properties')} } }, R: { prefixItems: [${references}] }, X: { ${data} } }`;
  const root = await rootOf({
    'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: ${schemas} }\n`,
  });
  const at = '#/components/schemas';
  expect(Object(root).components.schemas.R.prefixItems).toEqual(
    [at, `${at}/D/$defs`, `${at}/P/properties`].flatMap((place) =>
      words.map((word) => ({ $ref: `${place}/${word}` })),
    ),
  );
});

test('a schema with $id is referenced by that URI, which is the base of its references', async () => {
  const tree = `{ $id: 'https://example.com/tree', properties: { leaf: { $ref: leaf }, all: { $ref: '#top' }, other: { $ref: '#/components/schemas/Other' } }, $defs: { leaf: { $id: leaf }, top: { $anchor: top } } }`;
  const schemas = `Tree: ${tree}, Other: { items: { $ref: 'https://example.com/leaf' } }`;
  const root = await rootOf({
    'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { ${schemas} } }\n`,
  });
  const defs = '#/components/schemas/Tree/$defs';
  expect(Object(root).components.schemas).toMatchObject({
    Tree: {
      properties: {
        leaf: { $ref: `${defs}/leaf` },
        all: { $ref: `${defs}/top` },
        other: { $ref: '#/components/schemas/Other' },
      },
    },
    Other: { items: { $ref: `${defs}/leaf` } },
  });
});

test('OpenAPI 3.0 is upgraded', async () => {
  const either = '{ nullable: true, oneOf: [{ type: integer }, { type: boolean }] }';
  const count = '{ type: integer, nullable: true, minimum: 1, exclusiveMinimum: true }';
  const body = `{ type: object, properties: { either: ${either}, n: ${count} } }`;
  const text = `openapi: 3.0.3\ninfo: { title: A, version: 1.0.0 }\npaths:\n  /a:\n    post:\n      operationId: a\n      requestBody: { content: { application/json: { schema: ${body} } } }\n      responses: { ${OK} }\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const { client } = await serve(join(folder, 'openapi.yaml'), { a: echo });
    await client.post('/a').send({ n: null, either: null }).expect(200);
    await client.post('/a').send({ n: 1 }).expect(400);
    await client.post('/a').send({ n: 2 }).expect(200);
  });
});

test.each([
  ['3.0.3', '', 200],
  ['3.1.0', '', 200],
  ['3.0.3', 'x-read-only: reject\n', 400],
  ['3.1.0', 'x-read-only: reject\n', 400],
])(
  'read-only members in a request are removed, or rejected with x-read-only: %s %s',
  async (version, extension, status) => {
    const text = `openapi: ${version}\n${extension}info: { title: A, version: 1.0.0 }\npaths:\n  /a:\n    put:\n      operationId: a\n      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }\n      responses: { ${OK} }\ncomponents: { schemas: { A: { type: object, required: [id, b], additionalProperties: false, properties: { id: { type: integer, readOnly: true }, b: { type: array, items: { $ref: '#/components/schemas/B' } } } }, B: { type: object, properties: { at: { type: string, readOnly: true }, n: { type: integer } } } } }\n`;
    const body = { id: 1, b: [{ at: 'now', n: 2 }] };
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { a: echo });
      const response = await client.put('/a').send(body).expect(status);
      if (status === 200) {
        expect(response.body.body).toEqual({ b: [{ n: 2 }] });
      } else {
        expect(response.body.message).toBe(
          '/body/id must not be present; /body/b/0/at must not be present',
        );
      }
    });
  },
);

test('an upgrade from OpenAPI 3.0 does not change the member nullable of an example', async () => {
  const text = `openapi: 3.0.3\ninfo: { title: A, version: 1.0.0 }\npaths: {}\ncomponents: { examples: { A: { value: { nullable: true, n: 1 } } } }\n`;
  const { components } = Object(await rootOf({ 'openapi.yaml': text }));
  expect(components.examples.A.value).toEqual({ nullable: true, n: 1 });
});

describe('a flow collection that is closed in the column of its key', () => {
  const text = `${HEAD}paths:\n  /a:\n    get:\n      tags: [\n        a\n      ]\n      x-a: {\n        b: [{\n          c: '}'\n        }]\n      }\n      x-text: |\n        {\n          a\n        }\n      responses: { 5: { description: x } }\n`;

  test('is parsed, and block scalars stay the same', async () => {
    const { paths } = Object(await rootOf({ 'openapi.yaml': text }));
    expect(paths['/a'].get).toMatchObject({
      tags: ['a'],
      'x-a': { b: [{ c: '}' }] },
      'x-text': '{\n  a\n}\n',
    });
  });

  test('does not change the positions of findings', async () => {
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const lines = document.describe([{ pointer: '/paths/~1a/get/responses', message: 'here' }]);
      expect(lines).toBe(`${join(folder, 'openapi.yaml')}:18:7 here`);
    });
  });
});

describe('a quoted text', () => {
  const textOf = async (lines: string) =>
    Object(await rootOf({ 'openapi.yaml': `${HEAD}paths: {}\nx-a:\n${lines}` }))['x-a'];

  test.each<[string, string, unknown]>([
    ['in the column of its key', '  b: "one\n  two"\n  c: 1\n', { b: 'one two', c: 1 }],
    ['in the column of the parent', "  b: 'one\ntwo'\n  c: 1\n", { b: 'one two', c: 1 }],
    ['over several lines', '  b: "one\n  two\n\n  three"\n', { b: 'one two\nthree' }],
    [
      'beside a block scalar',
      "  b: |\n    'one\n    ]\n  c: 'two\n  three'\n",
      { b: "'one\n]\n", c: 'two three' },
    ],
  ])('may continue %s', async (_title, lines, value) => {
    expect(await textOf(lines)).toEqual(value);
  });

  test.each([
    ['single', "  b: 'one'#two\n  c: 'a''#b'\n"],
    ['double', '  b: "one"#two\n  c: "a\'#b"\n'],
  ])(
    'may be followed by a comment without a space after a %s quotation mark',
    async (_title, lines) => {
      expect(await textOf(lines)).toEqual({ b: 'one', c: "a'#b" });
    },
  );

  test('that continues in the column of its key does not move findings', async () => {
    const text = `${HEAD}paths: {}\nx-a:\n  b: "one\n  two"\n  c: 'one'#two\n  d: 1\n`;
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const lines = document.describe([{ pointer: '/x-a/d', message: 'here' }]);
      expect(lines).toBe(`${join(folder, 'openapi.yaml')}:8:3 here`);
    });
  });

  test('without an end is an error with its line', async () => {
    await expect(textOf('  b: "one\n  two\n')).rejects.toThrow(/^\S*openapi\.yaml:\d+:\d+ /);
  });
});

test.each([
  [
    'that repeat many values',
    'x: [&a [1, 2], &b [*a, *a], &c [*b, *b, *b, *b, *b, *b, *b, *b]]',
    5,
  ],
  ['that contain themselves', 'x: &a [*a]', 0],
])('aliases %s are an error', async (_title, start, levelCount) => {
  const levels = Array.from({ length: levelCount }, (_, level) => {
    const name = level === 0 ? 'c' : `d${level - 1}`;
    return `x${level}: &d${level} [${Array.from({ length: 9 }, () => `*${name}`).join(', ')}]\n`;
  });
  const text = `${HEAD}paths: {}\n${start}\n${levels.join('')}`;
  await expect(rootOf({ 'openapi.yaml': text })).rejects.toThrow(
    'aliases repeat more than 100000 lists',
  );
});

describe('a file outside the folder of the document', () => {
  const files = {
    'api/openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: ../secret.json }, T: { $ref: ../secret.json#/a } } }\n`,
    'secret.json': '{ "type": "object", "a": {} }',
  };

  test('is not read', async () => {
    await withFiles(files, async (folder) => {
      const outside = '$ref: secret.json cannot be read: it is outside the folder of the document';
      expect(await findingsIn(folder, 'api/openapi.yaml')).toEqual([
        expect.stringContaining(`api/openapi.yaml:4:26 ${outside}`),
      ]);
    });
  });

  test('is read with allowOutside', async () => {
    await withFiles(files, async (folder) => {
      const { root } = await loadDocument(join(folder, 'api/openapi.yaml'), { allowOutside: true });
      expect(root).toMatchObject({ components: { schemas: { S: { type: 'object' } } } });
    });
  });

  test('is not read through a symbolic link', async () => {
    await withFiles(
      { 'api/openapi.yaml': `${HEAD}paths: { /a: { $ref: link.json } }\n`, 'secret.json': '{}' },
      async (folder) => {
        symlinkSync(join(folder, 'secret.json'), join(folder, 'api/link.json'));
        expect(await findingsIn(folder, 'api/openapi.yaml')).toEqual([
          expect.stringContaining('is outside the folder'),
        ]);
      },
    );
  });
});

test('a missing file is reported once, at its first reference', async () => {
  const schemas = '{ S: { $ref: a.yaml }, T: { items: { $ref: a.yaml } } }';
  await withFiles(
    { 'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: ${schemas} }\n` },
    async (folder) => {
      expect(await findingsIn(folder)).toEqual([
        'openapi.yaml:4:26 $ref: a.yaml cannot be read: the file does not exist (no operation uses it) (referenced 2 times)',
      ]);
    },
  );
});

test.each([
  ['/v1', '/v1'],
  ['/v1/', '/v1'],
  ['/v1//', '/v1'],
  ['/', ''],
  ['v1/v2', '/v1/v2'],
  ['https://a.example', ''],
  ['https://a.example/v1?x=1#y', '/v1'],
  ['https://{host}/{version}/', '/version'],
])('the server URL %s has the base path %j', async (url, path) => {
  const text = `${HEAD}servers: [{ url: '${url}' }]\npaths: {}\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    expect((await loadDocument(join(folder, 'openapi.yaml'))).basePaths).toEqual([path]);
  });
});

test('references inside extensions, examples and defaults stay the same', async () => {
  const ref = '{ $ref: "nowhere.yaml#/a" }';
  const data = `x-a: ${ref}, default: ${ref}, example: ${ref}, examples: [${ref}], const: ${ref}, enum: [${ref}]`;
  const text = `${HEAD}x-b: ${ref}\nservers: [{ url: /, x-c: ${ref} }]\npaths: { /a: { x-d: { parameters: [${ref}] } } }\ncomponents: { schemas: { S: { ${data} } }, examples: { E: { value: ${ref} } } }\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const { root, files } = await loadDocument(join(folder, 'openapi.yaml'));
    expect(JSON.stringify(root).match(/nowhere\.yaml#\/a/g)).toHaveLength(10);
    expect(files).toEqual([join(folder, 'openapi.yaml')]);
  });
});

test('a server URL without a scheme is read as http://', async () => {
  const text = `${HEAD}servers: [{ url: 'localhost:3000/v1' }]\npaths: {}\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const document = await loadDocument(join(folder, 'openapi.yaml'));
    expect(document.basePaths).toEqual(['/v1']);
    expect(checkDocument(document).notices).toContainEqual({
      pointer: '/servers/0/url',
      message: 'localhost:3000/v1 has no scheme: it is read as http://localhost:3000/v1',
    });
  });
});

test('nothing is fetched', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) =>
    response.end(String(requests.push(String(request.url)))),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${Object(server.address()).port}/a.yaml`;
  const places = `x-a: { $ref: '${url}' }, example: { $ref: '${url}' }, discriminator: { mapping: { a: '${url}' } }`;
  const text = `${HEAD}paths: { /a: { $ref: '${url}' } }\ncomponents: { schemas: { S: { ${places} } }, examples: { E: { externalValue: '${url}' } } }\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    expect(await findingsIn(folder)).toContainEqual(
      expect.stringContaining('is not fetched: only files are read'),
    );
  });
  server.close();
  expect(requests).toEqual([]);
});
