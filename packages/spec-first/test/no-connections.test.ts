import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { end, makeProject, run as runWith, SPEC_FIRST, start } from 'test-support/project';

/** The log of the attempts to open a connection or to look up a name. */
const logFolder = mkdtempSync(join(tmpdir(), 'network-'));
const log = join(logFolder, 'network.log');
const preload = new URL('./no-network.js', import.meta.url);
/** Variables that deny network access to Node programs, and log their attempts. */
const DENIED = { NODE_OPTIONS: `--import=${preload}`, NETWORK_LOG: log };
const COMMANDS = new URL('../src/commands.ts', import.meta.url).href;
const run = (args: readonly string[]) => runWith(folder, args, DENIED);
const attempts = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');

/** The requests to a server. All external URLs of the document are URLs of this server. */
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.end('type: string\n');
});
let folder: string;
let project: string;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  folder = makeProject({
    'openapi.yaml': document(''),
    'src/main.ts':
      "import { serve } from 'spec-first-server';\nawait serve({ open: () => ({ handlers: {} }) });\n",
  });
  project = join(mkdtempSync(join(tmpdir(), 'made-')), 'project');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t.test', ...args], {
      cwd: folder,
    });
  git('init', '-q');
  git('add', 'openapi.yaml');
  git('commit', '-qm', 'One');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
  rmSync(join(project, '..'), { recursive: true });
  rmSync(logFolder, { recursive: true });
});

const url = (name: string) =>
  `http://127.0.0.1:${Object(server.address() satisfies AddressInfo | string | null).port}/${name}`;

const document = (more: string) => `openapi: 3.1.0
info: { title: Garden, version: 1.0.0, x-info: { $ref: '${url('info')}' } }
x-top: { $ref: '${url('top')}' }
servers: [{ url: '${url('server')}' }]
externalDocs: { url: '${url('docs')}' }
security: []
paths:
  /plants:
    get:
      operationId: listPlants
      x-operation: { $ref: '${url('operation')}' }
      responses:
        '200':
          description: Plants.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Plant' }
              examples:
                external: { externalValue: '${url('externalValue')}' }
                inside: { value: { $ref: '${url('example')}' } }
components:
  schemas:
    Plant:
      type: object
      x-schema: { $ref: '${url('schema')}' }
      properties: { name: { type: string, default: { $ref: '${url('default')}' } }${more} }
      example: { $ref: '${url('example-of-a-schema')}' }
    Any:
      oneOf: [{ $ref: '#/components/schemas/Plant' }]
      discriminator: { propertyName: name, mapping: { ficus: '#/components/schemas/Plant' } }
`;

test('the log contains attempts to connect and to look up a name', async () => {
  const { code } = await run(['-e', `fetch('${url('a')}')`]);
  expect(code).toBe(1);
  await run(['-e', "fetch('http://example.test/')"]);
  await run(['-e', "require('node:dns').lookup('look-up.test', () => {})"]);
  expect(attempts()).toMatch(
    /connect .*127\.0\.0\.1[\s\S]*connect .*example\.test[\s\S]*lookup "look-up\.test"/,
  );
  expect(requests).toEqual([]);
  rmSync(log);
});

describe('the tools open no connection', () => {
  afterEach(() =>
    expect({ attempts: attempts(), requests }).toEqual({ attempts: '', requests: [] }),
  );

  test('in generate, new, stub and diff', async () => {
    writeFileSync(join(folder, 'openapi.yaml'), document(', tag: { type: string }'));
    const commands = [
      ['generate', '--all'],
      ['new', project, 'openapi.yaml'],
      ['stub', '--all'],
      ['diff', 'HEAD'],
    ];
    // One process, which takes a third of the time of four.
    const program = `const { runCommand } = await import(${JSON.stringify(COMMANDS)});
      for (const args of ${JSON.stringify(commands)}) process.exitCode ||= await runCommand(args);`;
    const { code, output } = await run(['--input-type=module', '-e', program]);
    expect({ code, output }).toEqual({ code: 0, output });
  });

  test('in dev', async () => {
    // The compiler is not a Node program, and takes most of the time.
    rmSync(join(folder, 'tsconfig.json'));
    const loop = start(folder, [SPEC_FIRST, 'dev'], { LOG_LEVEL: 'error', ...DENIED });
    await loop.waitForOutput(/^Served/m).finally(() => end(loop));
    await loop.exit;
  });

  /** Returns a document with references in each place that allows them. `target` returns the URLs. */
  const referencing = (target: (place: string) => string) => {
    const ref = (place: string) => `{ $ref: '${target(place)}' }`;
    return `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /all: ${ref('pathItem')}
  /plants/{id}:
    parameters: [${ref('parameter')}]
    post:
      operationId: changePlant
      parameters: [{ name: id, in: path, required: true, schema: ${ref('parameter-schema')} }]
      requestBody: ${ref('requestBody')}
      responses:
        '200':
          description: Plants.
          headers: { X-A: ${ref('header')} }
          links: { next: ${ref('link')}, other: { operationRef: '${target('operationRef')}' } }
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Plant'
              examples: { one: ${ref('example')}, two: { externalValue: '${target('externalValue')}' } }
        default: ${ref('response')}
      callbacks: { done: ${ref('callback')} }
  /nested:
    get:
      operationId: getNested
      responses:
        '200': { description: It., content: { application/json: { schema: ${ref('schema')} } } }
components:
  schemas:
    Plant:
      type: object
      $id: '${target('id')}'
      $schema: '${target('dialect')}'
      properties: { name: ${ref('property')}, list: { type: array, items: ${ref('items')} } }
      allOf: [${ref('allOf')}]
      patternProperties: { ^a: ${ref('patternProperties')} }
      not: ${ref('not')}
      x-schema: ${ref('extension')}
      default: ${ref('default')}
    Any:
      oneOf: [{ $ref: '#/components/schemas/Plant' }, ${ref('oneOf')}]
      discriminator: { propertyName: name, mapping: { a: '${target('mapping')}' } }
    Dynamic: { $dynamicRef: '${target('dynamicRef')}' }
  securitySchemes: { key: ${ref('securityScheme')} }
webhooks: { sent: ${ref('webhook')} }
`;
  };
  const changed = (text: string) => text.replace('title: Garden', 'title: Meadow');
  const commit = (text: string) => {
    writeFileSync(join(folder, 'openapi.yaml'), text);
    execFileSync(
      'git',
      ['-c', 'user.name=T', '-c', 'user.email=t@t.test', 'commit', '-qam', 'Next'],
      { cwd: folder },
    );
  };

  test('in diff, for references in each place, and the output lists them as not compared', async () => {
    const text = referencing(url);
    commit(text);
    writeFileSync(join(folder, 'openapi.yaml'), changed(text));
    const { code, output } = await run([SPEC_FIRST, 'diff', 'HEAD']);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Not compared:') });
    expect(output).toContain(url('pathItem'));
  });

  test('in diff, which reads no file outside the folder of the document', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    // If the files were read, each place would have another type in the newer version.
    for (const [version, type] of Object.entries({ before: 'string', after: 'integer' }))
      writeFileSync(
        join(outside, `${version}.yaml`),
        `{ type: ${type}, get: { operationId: ${type}, responses: {} }, name: id, in: query }`,
      );
    // A reference to the $id of a schema would lead to that schema.
    const to = (version: string) => (place: string) =>
      place === 'id' ? url(place) : join(outside, `${version}.yaml`);
    commit(referencing(to('before')));
    writeFileSync(join(folder, 'openapi.yaml'), referencing(to('after')));
    const { code, output } = await run([SPEC_FIRST, 'diff', 'HEAD']);
    rmSync(outside, { recursive: true });
    expect({ code, output }).toEqual({
      code: 0,
      // The default is data: its text has changed.
      output: expect.stringContaining('error 0, warning 0, info 1'),
    });
  });
});
