import { symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkDocument, loadDocument } from 'openapi-document';
import { echo, serve, withFiles } from '../../../test/support/documents.ts';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
const OK = "'200': { description: done, content: { application/json: {} } }";

/** The root of a document made of these files. */
const rootOf = (files: Record<string, string>) =>
  withFiles(files, async (folder) => (await loadDocument(join(folder, 'openapi.yaml'))).root);

/** What is wrong with a document, without the path of its folder. */
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
    await withFiles({ 'openapi.yaml': `${HEAD}paths: { /a: { $ref: a.yaml } }\n` }, async (folder) => {
      expect((await loadDocument(join(folder, 'openapi.yaml'))).files).toContain(join(folder, 'a.yaml'));
    });
  });

  test('reads no file that only an example names', async () => {
    const example = 'example: { $ref: nowhere.yaml }';
    const root = await rootOf({ 'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { ${example} } } }\n` });
    expect(JSON.stringify(root)).toContain('nowhere.yaml');
  });

  test('may be referenced in circles and by mappings of discriminators', async () => {
    const root = await rootOf({
      'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: tree.yaml } } }\n`,
      'tree.yaml': 'properties: { child: { $ref: tree.yaml } }\ndiscriminator: { mapping: { leaf: leaf.yaml } }\n',
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

test('merge keys are merged', async () => {
  const root = await rootOf({ 'openapi.yaml': `x-a: &a { b: 1 }\n${HEAD}paths: {}\nx-c: { <<: *a, d: 2 }\n` });
  expect(root['x-c']).toEqual({ b: 1, d: 2 });
});

test('anchors are replaced by pointers, also those of dynamic references', async () => {
  const schemas = `S: { $anchor: s, items: { $ref: '#s' } }, T: { $dynamicAnchor: t, items: { $dynamicRef: '#t' } }`;
  const root = await rootOf({ 'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { ${schemas} } }\n` });
  expect(Object(root).components.schemas).toMatchObject({
    S: { items: { $ref: '#/components/schemas/S' } },
    T: { items: { $ref: '#/components/schemas/T' } },
  });
});

test('A schema with $id is referenced by that URI, and the references in it are relative to it', async () => {
  const tree = `{ $id: 'https://example.com/tree', properties: { leaf: { $ref: leaf }, all: { $ref: '#top' }, other: { $ref: '#/components/schemas/Other' } }, $defs: { leaf: { $id: leaf }, top: { $anchor: top } } }`;
  const schemas = `Tree: ${tree}, Other: { items: { $ref: 'https://example.com/leaf' } }`;
  const root = await rootOf({ 'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { ${schemas} } }\n` });
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

test('read-only members that come back are dropped in OpenAPI 3.0, and rejected in 3.1, unless the service is told otherwise', async () => {
  const text = (version: string) =>
    `openapi: ${version}\ninfo: { title: A, version: 1.0.0 }\npaths:\n  /a:\n    put:\n      operationId: a\n      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }\n      responses: { ${OK} }\ncomponents: { schemas: { A: { type: object, required: [id, b], additionalProperties: false, properties: { id: { type: integer, readOnly: true }, b: { type: array, items: { $ref: '#/components/schemas/B' } } } }, B: { type: object, properties: { at: { type: string, readOnly: true }, n: { type: integer } } } } }\n`;
  const body = { id: 1, b: [{ at: 'now', n: 2 }] };
  for (const [version, readOnly, status] of [
    ['3.0.3', undefined, 200],
    ['3.1.0', undefined, 400],
    ['3.1.0', 'drop', 200],
    ['3.0.3', 'reject', 400],
  ] as const) {
    await withFiles({ 'openapi.yaml': text(version) }, async (folder) => {
      const { client } = await serve(join(folder, 'openapi.yaml'), { a: echo }, { readOnly });
      const response = await client.put('/a').send(body).expect(status);
      if (status === 200) expect(response.body.body).toEqual({ b: [{ n: 2 }] });
      else expect(response.body.message).toBe('/body/id must not be present; /body/b/0/at must not be present');
    });
  }
});

test('an example of OpenAPI 3.0 keeps its member nullable', async () => {
  const text = `openapi: 3.0.3\ninfo: { title: A, version: 1.0.0 }\npaths: {}\ncomponents: { examples: { A: { value: { nullable: true, n: 1 } } } }\n`;
  const { components } = Object(await rootOf({ 'openapi.yaml': text }));
  expect(components.examples.A.value).toEqual({ nullable: true, n: 1 });
});

describe('a flow collection that is closed in the column of its key', () => {
  const text = `${HEAD}paths:\n  /a:\n    get:\n      tags: [\n        a\n      ]\n      x-a: {\n        b: [{\n          c: '}'\n        }]\n      }\n      x-text: |\n        {\n          a\n        }\n      responses: { 5: { description: x } }\n`;

  test('is read, and texts stay as they are', async () => {
    const { paths } = Object(await rootOf({ 'openapi.yaml': text }));
    expect(paths['/a'].get).toMatchObject({ tags: ['a'], 'x-a': { b: [{ c: '}' }] }, 'x-text': '{\n  a\n}\n' });
  });

  test('does not change the positions of findings', async () => {
    await withFiles({ 'openapi.yaml': text }, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const lines = document.describe([{ pointer: '/paths/~1a/get/responses', message: 'here' }]);
      expect(lines).toBe(`${join(folder, 'openapi.yaml')}:18:7 here`);
    });
  });
});

test.each([
  ['that stand for many values', 'x: [&a [1, 2], &b [*a, *a], &c [*b, *b, *b, *b, *b, *b, *b, *b]]', 5],
  ['that contain themselves', 'x: &a [*a]', 0],
])('Aliases %s are an error', async (_title, start, more) => {
  const levels = Array.from({ length: more }, (_, level) => {
    const name = level === 0 ? 'c' : `d${level - 1}`;
    return `x${level}: &d${level} [${Array.from({ length: 9 }, () => `*${name}`).join(', ')}]\n`;
  });
  const text = `${HEAD}paths: {}\n${start}\n${levels.join('')}`;
  await expect(rootOf({ 'openapi.yaml': text })).rejects.toThrow('its aliases repeat more than 100000 lists');
});

describe('A file outside the folder of the document', () => {
  const files = {
    'api/openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: ../secret.json }, T: { $ref: ../secret.json#/a } } }\n`,
    'secret.json': '{ "type": "object", "a": {} }',
  };

  test('is not read', async () => {
    await withFiles(files, async (folder) => {
      const outside = '$ref: secret.json cannot be read: it is outside the folder of the document';
      expect(await findingsIn(folder, 'api/openapi.yaml')).toEqual([
        expect.stringContaining(`api/openapi.yaml:4:26 ${outside}`),
        expect.stringContaining(`api/openapi.yaml:4:55 ${outside}`),
      ]);
    });
  });

  test('is read if that is allowed', async () => {
    await withFiles(files, async (folder) => {
      const { root } = await loadDocument(join(folder, 'api/openapi.yaml'), { allowOutside: true });
      expect(root).toMatchObject({ components: { schemas: { S: { type: 'object' } } } });
    });
  });

  test('is not read through a link either', async () => {
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

test('A missing file is named at each reference to it', async () => {
  const schemas = '{ S: { $ref: a.yaml }, T: { items: { $ref: a.yaml } } }';
  const missing = '$ref: a.yaml cannot be read: there is no such file (no operation uses it)';
  await withFiles({ 'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: ${schemas} }\n` }, async (folder) => {
    expect(await findingsIn(folder)).toEqual([`openapi.yaml:4:26 ${missing}`, `openapi.yaml:4:52 ${missing}`]);
  });
});

test('A server URL without a scheme is read as http://', async () => {
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

test('Nothing is fetched', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => response.end(String(requests.push(String(request.url)))));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${Object(server.address()).port}/a.yaml`;
  const places = `x-a: { $ref: '${url}' }, example: { $ref: '${url}' }, discriminator: { mapping: { a: '${url}' } }`;
  const text = `${HEAD}paths: { /a: { $ref: '${url}' } }\ncomponents: { schemas: { S: { ${places} } }, examples: { E: { externalValue: '${url}' } } }\n`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    expect(await findingsIn(folder)).toContainEqual(expect.stringContaining('is not fetched: only files are read'));
  });
  server.close();
  expect(requests).toEqual([]);
});
