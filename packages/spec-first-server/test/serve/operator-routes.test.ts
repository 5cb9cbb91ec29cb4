import { expect, test } from '@jest/globals';
import type { AnyRequest } from 'spec-first-server';
import { createApp } from 'spec-first-server';
import request from 'supertest';
import { withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';

const DOCUMENT = `openapi: 3.1.0
info: { title: Pages, version: 1.0.0 }
servers: [{ url: BASE }]
paths:
  /{page}:
    get:
      operationId: getPage
      parameters: [{ name: page, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { description: ok, content: { text/plain: { schema: { type: string } } } }
`;

const PATHS = ['/healthz', '/readyz', '/docs', '/openapi.yaml', '/openapi.json'];

/** Serves pages at all paths of one segment. */
async function serve(base: string, operatorPrefix?: string) {
  const lines: { readonly level: string; readonly [name: string]: unknown }[] = [];
  const write = (level: string) => (entry: object) => void lines.push({ level, ...entry });
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  const handlers = {
    getPage: ({ path }: AnyRequest) => ({ status: 200, body: `page ${path.page}` }),
  };
  const app = await withFiles({ 'openapi.yaml': DOCUMENT.replace('BASE', base) }, (folder) =>
    createApp({ document: `${folder}/openapi.yaml`, handlers, log, operatorPrefix }),
  );
  return { client: request(app), lines };
}

test('operations that answer paths of operators are named at the start', async () => {
  const { client, lines } = await serve('/');
  expect(lines).toMatchObject([{ level: 'warn', paths: expect.arrayContaining(PATHS) }]);
  await client.get('/healthz').expect(200, 'page healthz');
});

test('operations below a base path leave the paths of operators alone', async () => {
  const { client, lines } = await serve('/v1');
  expect(lines).toEqual([]);
  await client.get('/healthz').expect(200, { status: 'ok' });
});

test('a prefix moves the paths of operators', async () => {
  const { client, lines } = await serve('/', '/ops/plants');
  expect(lines).toEqual([]);
  await client.get('/healthz').expect(200, 'page healthz');
  await client.get('/ops/plants/healthz').expect(200, { status: 'ok' });
  await client.post('/ops/plants/readyz').expect(405);
  await client.get('/ops/plants/').expect(302).expect('Location', 'docs');
  await client.get('/ops/plants/docs').expect(200).expect('Content-Type', /html/);
  await client.get('/ops/plants/docs/page.js').expect(200);
  await client.get('/ops/plants/nothing').expect(404);
  await eventually(() => lines.length === 7);
  const probe = lines.find(({ path }) => path === '/ops/plants/healthz');
  expect(probe?.level).toBe('debug');
});

test.each([
  ['/', '/ops', 'http://host/'],
  ['/v1', '/ops', 'http://host/v1'],
  ['/v1', '/ops/plants', 'http://host/v1'],
  ['/v1', undefined, 'http://host/v1'],
])('below %s with the prefix %s, the document names the server %s', async (base, prefix, url) => {
  const { client } = await serve(base, prefix);
  const path = `${prefix ?? ''}/openapi.json`;
  const { body } = await client.get(path).expect(200);
  expect(new URL(body.servers[0].url, `http://host${path}`).href).toBe(url);
});
