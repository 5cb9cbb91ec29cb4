import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import type { AnyRequest } from '../../src/core/handlers/types.ts';
import { createService } from '../../src/core/service.ts';
import { openapiPage } from '../../src/page/page.ts';
import {
  operatorRoutes,
  PAGE_PATHS,
  PROBE_PATHS,
  probes,
} from '../../src/serve/operator-routes.ts';

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
  /a/b: { get: { operationId: broken, responses: { '200': { $ref: '#/components/none' } } } }
`;

/** Creates the routes of a service with operations at all paths of one segment. */
async function routesOf(
  base: string,
  {
    prefix = '',
    docs = true,
    ready,
  }: { prefix?: string; docs?: boolean; ready?: () => Promise<void> } = {},
) {
  const getPage = ({ path }: AnyRequest) => ({ status: 200, body: `page ${path.page}` });
  const service = await withFiles({ 'openapi.yaml': DOCUMENT.replace('BASE', base) }, (folder) =>
    createService(`${folder}/openapi.yaml`, { handlers: { getPage }, missing: '501' }),
  );
  const page = openapiPage(service.document.root, { basePath: base, prefix });
  const pages = new Map(docs ? [[prefix, page]] : []);
  const { handleOperatorCall, shadowed } = operatorRoutes(service, ready, pages, prefix);
  return {
    shadowed,
    async send(path: string, method = 'GET', headers = {}) {
      const call = { method, path, headers };
      const answer = await handleOperatorCall(call, service.begin(call));
      if (answer === undefined) return undefined;
      const { status, headers: list, body = '' } = answer;
      const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : []));
      const text = typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString();
      return { status, headers: Object.fromEntries(pairs), text };
    },
  };
}

const PATHS = ['/healthz', '/readyz', '/openapi.json', '/openapi.yaml', '/docs'];

test('PROBE_PATHS and PAGE_PATHS list all routes', () => {
  expect([...PROBE_PATHS, ...PAGE_PATHS].toSorted()).toEqual(PATHS.toSorted());
  expect([...probes().keys()]).toEqual(PROBE_PATHS);
});

test('operations that replace paths of operators are reported', async () => {
  const { shadowed, send } = await routesOf('/');
  expect(shadowed).toEqual(PATHS);
  for (const path of PATHS) expect(await send(path)).toBeUndefined();
  // Files of the page have two segments.
  expect((await send('/docs/page.js'))?.status).toBe(200);
});

test.each([
  ['/v1', ''],
  ['/', '/ops'],
  ['/v1', '/ops/plants'],
])('below %s with the prefix %j, all paths of operators are served', async (base, prefix) => {
  const { shadowed, send } = await routesOf(base, { prefix });
  expect(shadowed).toEqual([]);
  for (const path of PATHS) expect((await send(prefix + path))?.status).toBe(200);
  expect(await send(`${prefix}/`)).toMatchObject({ status: 302, headers: { Location: 'docs' } });
  expect(await send(`${prefix}/nothing`)).toBeUndefined();
  expect(await send(`${prefix}/docs/index.html`)).toBeUndefined();
  if (prefix !== '') {
    for (const other of ['', 'x'.repeat(prefix.length), `${prefix}x`])
      expect(await send(`${other}/healthz`)).toBeUndefined();
  }
  const { servers } = JSON.parse((await send(`${prefix}/openapi.json`))?.text ?? '');
  const url = new URL(servers[0].url, `http://host${prefix}/openapi.json`);
  expect(url.pathname).toBe(base);
});

test('without the page, only the probes are served', async () => {
  const { send } = await routesOf('/v1', { docs: false });
  expect((await send('/healthz'))?.status).toBe(200);
  for (const path of ['/', '/docs', '/openapi.json']) expect(await send(path)).toBeUndefined();
});

test('HEAD has the headers of GET, and other methods are a 405', async () => {
  const { send } = await routesOf('/v1');
  const get = await send('/docs');
  const head = await send('/docs', 'HEAD');
  const { 'X-Request-Id': _id, ...headers } = get?.headers ?? {};
  expect(head).toMatchObject({ status: 200, headers, text: '' });
  const post = await send('/docs', 'POST');
  expect(post).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD' } });
});

test('readiness lists the operations that are not served', async () => {
  expect(JSON.parse((await (await routesOf('/v1')).send('/readyz'))?.text ?? '')).toEqual({
    status: 'ready',
    notServed: ['broken'],
  });
  expect(await probes().get('/readyz')?.()).toEqual({
    type: 'application/json; charset=utf-8',
    body: '{"status":"ready"}',
  });
});
