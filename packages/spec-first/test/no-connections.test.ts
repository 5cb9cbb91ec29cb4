import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { end, makeProject, run as runWith, SPEC_FIRST, start } from '../../../test/support/project.ts';

/** Denies Node's programs the network, and keeps what they tried. oasdiff is no program of Node: the server sees it. */
const log = join(tmpdir(), `network-${process.pid}.log`);
const preload = new URL('../../../test/support/no-network.js', import.meta.url);
const DENIED = { NODE_OPTIONS: `--import=${preload}`, NETWORK_LOG: log };
const run = (args: readonly string[]) => runWith(folder, args, DENIED);
const attempts = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');

/** What was asked of a server that a document names in each place that a tool may take for a reference. */
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.end('type: string\n');
});
let folder: string;
let made: string;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  folder = makeProject({
    'openapi.yaml': document(''),
    'src/main.ts': "import { serve } from 'spec-first-server';\nawait serve({ open: () => ({ handlers: {} }) });\n",
  });
  made = join(mkdtempSync(join(tmpdir(), 'made-')), 'project');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t.test', ...args], { cwd: folder });
  git('init', '-q');
  git('add', 'openapi.yaml');
  git('commit', '-qm', 'One');
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
  rmSync(join(made, '..'), { recursive: true });
  rmSync(log, { force: true });
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
      discriminator: { propertyName: name, mapping: { MAPPING: '#/components/schemas/Plant' } }
`;

test('a program that opens a connection or looks up a name is found', async () => {
  const { code } = await run(['-e', `fetch('${url('a')}')`]);
  expect(code).toBe(1);
  await run(['-e', "fetch('http://example.test/')"]);
  expect(attempts()).toMatch(/connect .*127\.0\.0\.1[\s\S]*connect .*example\.test/);
  expect(requests).toEqual([]);
  rmSync(log);
});

describe('the tools open no connection', () => {
  afterEach(() => expect({ attempts: attempts(), requests }).toEqual({ attempts: '', requests: [] }));

  test.each([
    ['generate', ['generate', '--all'], 0],
    ['new', ['new', 'MADE', 'openapi.yaml'], 0],
    ['stub', ['stub', '--all'], 0],
    ['diff', ['diff', 'HEAD'], 0],
  ])('in %s', async (_, args, expected) => {
    writeFileSync(join(folder, 'openapi.yaml'), document(', tag: { type: string }'));
    const { code, output } = await run([SPEC_FIRST, ...args.map((arg) => (arg === 'MADE' ? made : arg))]);
    expect({ code, output }).toEqual({ code: expected, output });
  });

  test('in dev', async () => {
    const loop = start(folder, [SPEC_FIRST, 'dev'], { LOG_LEVEL: 'error', ...DENIED });
    await loop.said(/^Served[\s\S]*The types fit/m).finally(() => end(loop));
    await loop.exit;
  });

  test('where a discriminator maps to a URL: diff says that it is not fetched', async () => {
    const text = readFileSync(join(folder, 'openapi.yaml'), 'utf8');
    writeFileSync(join(folder, 'openapi.yaml'), text.replace(/(?<=MAPPING: )'[^']*'/, `'${url('mapping')}'`));
    const compared = await run([SPEC_FIRST, 'diff', 'HEAD']);
    expect(compared).toMatchObject({ code: 2, output: expect.stringContaining('which is not fetched') });
    await run([SPEC_FIRST, 'generate']);
  });
});
