import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import { checkDocument } from '../../src/checks/check.ts';
import { loadDocument } from '../../src/operations/load.ts';

const HEAD = 'openapi: 3.1.0\ninfo: { title: A, version: 1.0.0 }\n';
const OK = "'200': { description: done, content: { application/json: {} } }";

const load = (files: Readonly<Record<string, string>>) =>
  withFiles(files, (folder) => loadDocument(join(folder, 'openapi.yaml')));

async function findingsIn(folder: string, name = 'openapi.yaml'): Promise<string[]> {
  const document = await loadDocument(join(folder, name));
  const { problems, broken, notices } = checkDocument(document);
  const lines = document.describe([...problems, ...[...broken.values()].flat(), ...notices]);
  return lines.replaceAll(`${folder}/`, '').split('\n');
}

test('a document has its version, operations, webhooks, base paths and security schemes', async () => {
  const document = await load({
    'openapi.yaml': `openapi: 3.0.3
info: { title: A, version: 1.0.0 }
servers: [{ url: /v1 }]
paths: { /a: { get: { operationId: a, responses: { ${OK} }, callbacks: { done: { '{$url}': { post: {} } } } } } }
webhooks: { sent: { post: {} } }
components: { securitySchemes: { key: { $ref: '#/components/securitySchemes/other' }, other: { type: http }, none: 1 } }
`,
  });
  expect(document.version).toBe('3.0.3');
  expect(document.root.openapi).toMatch(/^3\.1/);
  expect(document.operations.map(({ id }) => id)).toEqual(['a']);
  expect(document.webhooks.map(({ path }) => path)).toEqual(['sent', 'a.done']);
  expect(document.basePaths).toEqual(['/v1']);
  expect(document.securitySchemes).toEqual({
    key: { type: 'http' },
    other: { type: 'http' },
    none: {},
  });
});

test('an operation with the URL of an earlier one is left out, with a notice', async () => {
  const item = (id: string) => `{ get: { operationId: ${id}, responses: { ${OK} } } }`;
  const paths = `paths:\n  '/é{a}': ${item('a')}\n  '/%C3%A9{b}': ${item('b')}\n  '/{a}/{b}': ${item('c')}\n  /v1/d: ${item('d')}\n  /d: { servers: [{ url: /v1 }], ${item('e').slice(1)}\n`;
  const document = await load({ 'openapi.yaml': HEAD + paths });
  expect(document.operations.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
  expect(checkDocument(document).notices).toEqual(
    expect.arrayContaining([
      {
        pointer: '/paths/~1%C3%A9{b}/get',
        message: 'get /%C3%A9{b} is not served: get /é{a} has the same URL',
      },
      {
        pointer: '/paths/~1d/get',
        message: 'get /d is not served: get /v1/d has the same URL',
      },
    ]),
  );
});

describe('a document of several files', () => {
  const parts = {
    'openapi.yaml': `${HEAD}paths:\n  /a:\n    get: { operationId: a, responses: { '200': { $ref: parts/ok.yaml } } }\n  /b: { $ref: '#/components/pathItems/b' }\ncomponents:\n  pathItems:\n    b: { get: { operationId: b, requestBody: 1, responses: { ${OK} } } }\n`,
    'parts/ok.yaml':
      'description: ok\ncontent:\n  application/json:\n    schema: { type: strin }\n',
  };

  test('has the paths of the files that were read or are missing', async () => {
    const files = {
      ...parts,
      'parts/ok.yaml': 'description: { $ref: text.md }\nx-a: { $ref: unused.yaml }\n',
    };
    await withFiles(files, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const names = ['openapi.yaml', 'parts/ok.yaml', 'parts/text.md'];
      expect(document.files).toEqual(names.map((name) => join(folder, name)));
    });
  });

  test('has findings at the positions in these files, each once', async () => {
    await withFiles(parts, async (folder) => {
      expect(await findingsIn(folder)).toEqual([
        expect.stringMatching(/^openapi\.yaml:9:33 must be object/),
        expect.stringMatching(/^parts\/ok\.yaml:4:15 must be equal to one of/),
      ]);
    });
  });

  test('has a broken operation where a file has a syntax error', async () => {
    const files = { ...parts, 'parts/ok.yaml': 'description: [\n' };
    await withFiles(files, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const { problems, broken } = checkDocument(document);
      expect(problems).toEqual([]);
      expect(document.describe(broken.get('a') ?? [])).toMatch(
        /openapi\.yaml:5:41 \$ref: \S+ok\.yaml cannot be read: \S+ok\.yaml:\d+:\d+ /,
      );
    });
  });

  test('reads Markdown as a text, and files of other versions', async () => {
    const { root } = await load({
      'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { description: { $ref: a.md } }, T: { $ref: 'new.yaml#/S' } } }\n`,
      'a.md': '# Title: [text\n',
      'new.yaml': 'openapi: 3.2.0\nS: { type: string }\n',
    });
    expect(root.components).toEqual({
      schemas: { S: { description: '# Title: [text\n' }, T: { type: 'string' } },
    });
  });

  test('names a mistake once, with the number of its places', async () => {
    const files = {
      'openapi.yaml': `${HEAD}paths:
  /a: { get: { responses: { '200': { $ref: '#/components/responses/Ok' } } } }
  /b: { get: { responses: { '200': { $ref: '#/components/responses/Ok' } } } }
  /{c}: { get: { responses: { '200': { $ref: '#/components/responses/Ok' } } } }
  /{c}/{d}: { get: { responses: { '200': { $ref: '#/components/responses/Ok' } } } }
components: { responses: { Ok: { description: done, content: { text/event-stream: {} } } } }
`,
    };
    await withFiles(files, async (folder) => {
      const document = await loadDocument(join(folder, 'openapi.yaml'));
      const { notices } = checkDocument(document);
      const lines = document.describe(document.merge(notices, 3)).replaceAll(`${folder}/`, '');
      expect(document.merge(notices, notices.length)).toBe(notices);
      const events = expect.stringMatching(
        /^openapi\.yaml:8:\d+ events are sent.*\(OpenAPI 3\.2\)$/,
      );
      expect(lines.split('\n')).toEqual([
        'openapi.yaml:6:11 path parameter c is not declared: it is read as a string (2 places)',
        'openapi.yaml:7:15 path parameter d is not declared: it is read as a string',
        events,
      ]);
    });
  });
});

test.each([
  ['- 1\n', ':1:1 an OpenAPI document must be an object'],
  ['a: [\n', ':2:1 '],
  ['openapi: 4.0.0\n', ':1:1 openapi must be 3.1.x'],
])('the document %j is rejected', async (text, message) => {
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const file = join(folder, 'openapi.yaml');
    await expect(loadDocument(file)).rejects.toMatchObject({
      name: 'DocumentError',
      message: expect.stringMatching(new RegExp(`^${RegExp.escape(file + message)}`)),
      files: [file],
    });
  });
});

test('the error of a rejected document has the paths of its files', async () => {
  const files = {
    'openapi.yaml': 'openapi: 4.0.0\npaths: { /a: { $ref: a.yaml }, /b: { $ref: b.yaml } }\n',
    'a.yaml': '{}',
  };
  await withFiles(files, async (folder) => {
    await expect(loadDocument(join(folder, 'openapi.yaml'))).rejects.toMatchObject({
      files: ['openapi.yaml', 'a.yaml', 'b.yaml'].map((name) => join(folder, name)),
    });
    await expect(loadDocument(join(folder, 'none.yaml'))).rejects.toMatchObject({
      name: 'DocumentError',
      message: expect.stringMatching(/none\.yaml cannot be read: .*ENOENT/),
      files: [join(folder, 'none.yaml')],
    });
  });
});

describe('a file outside the folder of the document', () => {
  const files = {
    'api/openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: ../secret.json } } }\n`,
    'secret.json': '{ "type": "object" }',
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

  test('is not the file ..s.yaml in this folder', async () => {
    const { root } = await load({
      'openapi.yaml': `${HEAD}paths: {}\ncomponents: { schemas: { S: { $ref: ..s.yaml } } }\n`,
      '..s.yaml': 'type: object\n',
    });
    expect(root.components).toEqual({ schemas: { S: { type: 'object' } } });
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

test.each([
  ['/v1/', '/v1'],
  ['/v1//', '/v1'],
  ['v1/v2', '/v1/v2'],
  ['https://a.example/v1?x=1#y', '/v1'],
  ['https://{host}/{version}/', '/version'],
  ['localhost:3000/v1', ''],
  ['{scheme}://{host}:{port}/v1/{area}?x={y}', '/v1/area'],
  ['mailto:a@example.com', ''],
])('the server URL %s has the base path %j', async (url, path) => {
  const { basePaths } = await load({
    'openapi.yaml': `${HEAD}servers: [{ url: '${url}' }]\npaths: {}\n`,
  });
  expect(basePaths).toEqual([path]);
});

test('the base paths of the servers are distinct, in order', async () => {
  const servers = '[{ url: /b }, { url: /a }, { url: https://example.com/b/ }]';
  const { basePaths } = await load({ 'openapi.yaml': `${HEAD}servers: ${servers}\npaths: {}\n` });
  expect(basePaths).toEqual(['/b', '/a']);
  expect((await load({ 'openapi.yaml': `${HEAD}paths: {}\n` })).basePaths).toEqual(['']);
});

test('a server has at most 100 base paths, that of the defaults first', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const variables = names.map(
    (name) => `${name}: { enum: ['1', '2', '3', '4', '5', '6', '7', '8'], default: '3' }`,
  );
  const url = names.map((name) => `/{${name}}`).join('');
  const servers = `[{ url: '${url}', variables: { ${variables} } }]`;
  const document = await load({ 'openapi.yaml': `${HEAD}servers: ${servers}\npaths: {}\n` });
  expect(document.basePaths).toHaveLength(100);
  expect(document.basePaths[0]).toBe('/3/3/3/3/3/3/3');
  expect(checkDocument(document).notices).toEqual([
    { pointer: '/servers', message: 'only the first 100 URLs of a server are served' },
  ]);
  const plain = JSON.stringify(Array.from({ length: 101 }, (_, index) => ({ url: `/${index}` })));
  const all = await load({ 'openapi.yaml': `${HEAD}servers: ${plain}\npaths: {}\n` });
  expect([all.basePaths.length, checkDocument(all).notices]).toEqual([101, []]);
});

test('variables of the host do not multiply the base paths', async () => {
  const values = Array.from({ length: 1_000 }, (_, index) => `v${index}`);
  const variables = {
    host: { default: 'v0', enum: values },
    version: { default: 'v1', enum: ['v1', 'v2'] },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    servers: [{ url: 'https://{host}.example.com/{version}', variables }],
    paths: {},
  };
  await withFiles({ 'openapi.json': JSON.stringify(document) }, async (folder) => {
    const loaded = await loadDocument(join(folder, 'openapi.json'));
    expect(loaded.basePaths).toEqual(['/v1', '/v2']);
    expect(checkDocument(loaded).notices).toEqual([]);
  });
});
