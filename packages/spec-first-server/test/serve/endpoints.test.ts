import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import { SILENT } from '../../src/core/access-log.ts';
import type { AnyRequest } from '../../src/core/handlers/types.ts';
import { createAppService } from '../../src/serve/app.ts';

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

/** Creates a service with operations at all paths of one segment. */
async function appWith(
  base: string,
  { prefix = '', docs = true }: { prefix?: string; docs?: boolean } = {},
) {
  const warnings: unknown[] = [];
  const log = { ...SILENT, warn: (entry: unknown) => void warnings.push(entry) };
  const getPage = ({ path }: AnyRequest) => ({ status: 200, body: `page ${path.page}` });
  const service = await withFiles({ 'openapi.yaml': DOCUMENT.replace('BASE', base) }, (folder) =>
    createAppService({
      document: `${folder}/openapi.yaml`,
      handlers: { getPage },
      missing: '501',
      operatorPrefix: prefix,
      docs,
      log,
    }),
  );
  return {
    warnings,
    async send(path: string, method = 'GET') {
      const {
        status,
        headers: list,
        body = '',
      } = await service.handle({
        method,
        path,
        headers: {},
      });
      const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : []));
      const text = typeof body === 'string' ? body : Buffer.from(body as Uint8Array).toString();
      return { status, headers: Object.fromEntries(pairs), text };
    },
  };
}

const PATHS = ['/healthz', '/readyz', '/openapi.json', '/openapi.yaml', '/docs'];

test('operations that replace the paths of probes are reported', async () => {
  const { warnings, send } = await appWith('/');
  expect(warnings).toContainEqual({ paths: PATHS });
  for (const path of PATHS) expect((await send(path)).text).toBe(`page ${path.slice(1)}`);
  // Files of the page have two segments.
  expect((await send('/docs/page.js')).status).toBe(200);
});

test.each([
  ['/v1', ''],
  ['/', '/ops'],
  ['/v1', '/ops/plants'],
])(
  'below %s with the prefix %j, all paths of probes and pages are served',
  async (base, prefix) => {
    const { warnings, send } = await appWith(base, { prefix });
    expect(warnings).not.toContainEqual({ paths: expect.anything() });
    for (const path of PATHS) expect((await send(prefix + path)).status).toBe(200);
    expect(await send(`${prefix}/`)).toMatchObject({ status: 302, headers: { Location: 'docs' } });
    const others = prefix === '' ? [] : ['', 'x'.repeat(prefix.length), `${prefix}x`];
    for (const path of [
      `${prefix}/docs/index.html`,
      `${prefix}/a/nothing`,
      ...others.map((other) => `${other}/a/healthz`),
    ])
      expect((await send(path)).status).toBe(404);
    const { servers } = JSON.parse((await send(`${prefix}/openapi.json`)).text);
    const url = new URL(servers[0].url, `http://host${prefix}/openapi.json`);
    expect(url.pathname).toBe(base);
  },
);

test('without the page, only the probes are served', async () => {
  const { send } = await appWith('/v1', { docs: false });
  expect((await send('/healthz')).status).toBe(200);
  for (const path of ['/', '/docs', '/openapi.json']) expect((await send(path)).status).toBe(404);
});

test('HEAD has the headers of GET, and other methods are a 405', async () => {
  const { send } = await appWith('/v1');
  const get = await send('/docs');
  const head = await send('/docs', 'HEAD');
  const { 'X-Request-Id': _id, ...headers } = get.headers;
  expect(head).toMatchObject({ status: 200, headers, text: '' });
  const post = await send('/docs', 'POST');
  expect(post).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD' } });
});

test('readiness lists the operations that are not served', async () => {
  const { send } = await appWith('/v1');
  expect(JSON.parse((await send('/readyz')).text)).toEqual({
    status: 'ready',
    notServed: ['broken'],
  });
});
