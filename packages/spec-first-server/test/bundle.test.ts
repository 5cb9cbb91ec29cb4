import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import manifest from '../package.json' with { type: 'json' };

const DOCUMENT = `openapi: 3.1.0
info: { title: Bundled, version: 1.0.0 }
paths:
  /hello/{name}:
    get:
      operationId: hello
      parameters: [{ name: name, in: path, required: true, schema: { type: string, format: uuid } }]
      responses: { '200': { description: ok, content: { application/json: {} } } }
`;
const HANDLERS = '{ hello: ({ path }) => ({ status: 200, body: { hello: path.name } }) }';
const UUID = '7cba4ce9-2f1f-4d0c-8f3c-0a0d0b5d4c11';

/** The code of each service, and the first line that its bundle needs. */
const SERVICES = {
  createService: [
    `import { createServer } from 'node:http';
    import { createService, nodeListener } from 'spec-first-server';
    const service = await createService('openapi.yaml', { handlers: ${HANDLERS} });
    const server = createServer(nodeListener(service)).listen(0, '127.0.0.1');
    server.on('listening', () => console.log(JSON.stringify({ url: \`http://127.0.0.1:\${server.address().port}\` })));`,
    '',
  ],
  serve: [
    `import { serve } from 'spec-first-server';
    await serve({ open: () => ({ handlers: ${HANDLERS} }) });`,
    // CommonJS modules in the bundle, such as pino, call `require`.
    "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
  ],
} as const;

const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true });
});

test.each(Object.entries(SERVICES))(
  'a service with %s runs from one bundled file',
  async (name, [code, banner]) => {
    writeFileSync(join(folder, 'openapi.yaml'), DOCUMENT);
    const outfile = join(folder, `${name}.mjs`);
    await build({
      stdin: { contents: code, resolveDir: import.meta.dirname },
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: banner },
      outfile,
      logLevel: 'error',
    });
    const child = spawn(process.execPath, [outfile], {
      cwd: folder,
      env: { PORT: '0', HOST: '127.0.0.1', ACCESS_TOKENS: 'a-token-of-the-test' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const url = await urlOf(child);
    const response = await fetch(`${url}/hello/${UUID}`);
    expect([response.status, await response.json()]).toEqual([200, { hello: UUID }]);
    expect((await fetch(`${url}/hello/a`)).status).toBe(400);
    if (name !== 'serve') return;
    expect((await fetch(`${url}/openapi.yaml`)).status).toBe(200);
    const versions = execFileSync(process.execPath, [outfile, '--version'], { cwd: folder });
    expect(String(versions)).toBe(
      `spec-first-server ${manifest.version}, Node ${process.versions.node}\n`,
    );
  },
);

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += chunk;
    const [, url] = /"url":"([^"]+)"/.exec(output) ?? [];
    if (url !== undefined) {
      stdout?.resume();
      return url;
    }
  }
  throw new Error(`the service ended: ${output}`);
}
