import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';

/** Answers one request with `nodeListener`, and prints the files of all modules of packages. */
const PROGRAM = `
import { createServer } from 'node:http';
import { registerHooks } from 'node:module';
const urls = new Set();
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) urls.add(url);
    return next(url, context);
  },
});
const { createService, nodeListener } = await import('spec-first-server');
const handlers = { hello: () => ({ status: 200, body: 'hello' }) };
const service = await createService(process.argv[1], { handlers });
const server = createServer(nodeListener(service)).listen(0, '127.0.0.1');
server.on('listening', async () => {
  const response = await fetch(\`http://127.0.0.1:\${server.address().port}/hello\`);
  console.log(JSON.stringify({ body: await response.json(), urls: [...urls] }));
  server.close();
});
`;

const DOCUMENT = `openapi: 3.1.0
info: { title: Embedded, version: 1.0.0 }
paths:
  /hello:
    get:
      operationId: hello
      responses:
        '200': { description: ok, content: { application/json: { schema: { type: string } } } }
`;

test('a service behind nodeListener loads neither the listener nor parts of serve', () =>
  withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--no-warnings', '--input-type=module', '-e', PROGRAM, join(folder, 'openapi.yaml')],
      { encoding: 'utf8', cwd: import.meta.dirname },
    );
    expect(stderr).toBe('');
    const { body, urls }: { body: string; urls: string[] } = JSON.parse(stdout);
    expect(body).toBe('hello');
    const source = join(import.meta.dirname, '../src');
    const files = urls.map((url) => relative(source, fileURLToPath(url)));
    const folders = new Set(files.map((file) => file.split('/', 1)[0]));
    expect([...folders].sort()).toEqual(['..', 'adapters', 'core', 'http', 'index.ts']);
    const unneeded = /node_modules\/(express|cors|pino|prom-client|swagger-ui-dist|yaml|jose)\//;
    expect(files.filter((file) => unneeded.test(file))).toEqual([]);
    expect(files.filter((file) => !file.includes('node_modules')).length).toBeLessThanOrEqual(110);
  }));
