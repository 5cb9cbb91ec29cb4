import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from 'test-support/free-port';
import { end, makeProject, type Running, run, start } from 'test-support/project';

/** A document with the operation `read`, which needs a token of a scheme. */
const documentAt = (basePath: string, scheme: string, others = '') => `openapi: 3.1.0
info: { title: Notes at ${basePath}, version: 1.0.0 }
servers: [{ url: ${basePath} }]
paths:
  /notes:
    get:
      operationId: read
      security: [{ ${scheme}: [] }]
      ${others}
      responses:
        '200':
          description: ok
          headers: { X-${scheme}: { schema: { type: string } } }
          content: { text/plain: { schema: { type: string } } }
components: { securitySchemes: { ${scheme}: { type: http, scheme: bearer } } }
`;

const main = (documents: object, parts: string) => `
import { serve } from 'spec-first-server';
const reading = (text) => ({
  read({ log }) {
    log.debug(text);
    return { status: 200, body: text };
  },
});
const around = async (operation, request, next) => ({
  ...(await next()),
  headers: { 'X-Around': 'new' },
});
await serve({
  documents: ${JSON.stringify(documents)},
  open: { documents: { ${parts} } },
});
`;
const BOTH = "old: { handlers: reading('old') }, new: { handlers: reading('new'), around }";

const folder = makeProject({
  'old.yaml': documentAt('/v1', 'oldToken', 'deprecated: true'),
  'new.yaml': documentAt('/v2', 'newToken'),
  'same.yaml': documentAt('/v1', 'newToken'),
  'main.mjs': main({ old: 'old.yaml', new: 'new.yaml' }, BOTH),
  'renamed.mjs': main({ old: 'old.yaml', newer: 'new.yaml' }, BOTH),
  'same.mjs': main({ old: 'old.yaml', new: 'same.yaml' }, BOTH),
});
const TOKENS = { ACCESS_TOKENS: 'ann:secret scheme=oldToken, bob:secret2 scheme=newToken' };
const ORIGIN = 'https://app.example';
afterAll(() => rmSync(folder, { recursive: true }));

describe('a process that serves two documents', () => {
  let service: Running;
  let url = '';
  let operators = '';
  beforeAll(async () => {
    operators = `http://127.0.0.1:${await freePort()}`;
    const variables = { METRICS_PORT: new URL(operators).port, CORS_ORIGINS: ORIGIN };
    service = start(folder, ['main.mjs'], { ...TOKENS, ...variables });
    url = (await service.waitForOutput(/"url":"([^"]+)"/))[1] ?? '';
  });
  afterAll(() => end(service));

  const get = async (path: string, token = '') => {
    const headers = { Authorization: `Bearer ${token}`, Origin: ORIGIN };
    const answer = await fetch(url + path, { headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  test('sends each request to its document, and shows pages the headers of both', async () => {
    expect(await get('/v1/notes', 'secret')).toMatchObject({ status: 200, text: 'old' });
    const answer = await get('/v2/notes', 'secret2');
    expect(answer).toMatchObject({ status: 200, text: 'new' });
    expect(answer.headers.get('x-around')).toBe('new');
    const exposed = String(answer.headers.get('access-control-expose-headers')).toLowerCase();
    for (const scheme of ['oldtoken', 'newtoken']) expect(exposed).toContain(`x-${scheme}`);
    expect((await get('/v1/notes', 'secret2')).status).toBe(401);
    expect((await get('/v%32/notes', 'wrong')).headers.get('www-authenticate')).toContain('Bearer');
    for (const path of ['/notes', '/v3/notes', '/v2notes'])
      expect((await get(path)).status).toBe(404);
  });

  test('has a page for each document, and common probes', async () => {
    for (const base of ['/v1', '/v2']) {
      const { info, servers } = JSON.parse((await get(`${base}/openapi.json`)).text);
      expect(info.title).toBe(`Notes at ${base}`);
      expect(new URL(servers[0].url, `${url}${base}/openapi.json`).pathname).toBe(base);
      expect((await get(`${base}/docs`)).text).toContain(`<title>Notes at ${base}</title>`);
    }
    for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200);
    for (const path of ['/docs', '/v1/healthz']) expect((await get(path)).status).toBe(404);
  });

  test('names the document in metrics and log', async () => {
    const metrics = await (await fetch(`${operators}/metrics`)).text();
    expect(metrics).toMatch(
      /^http_requests_total\{document="new",operation="read",status="200"\} 1$/m,
    );
    expect(metrics).toMatch(
      /^http_deprecated_requests_total\{document="old",operation="read"\} 2$/m,
    );
    await service.waitForOutput(/"document":"new",.*"operationId":"read",.*"status":200/);
    await service.waitForOutput(/"document":"old",.*"operationId":"read",.*"status":401/);
  });

  test('reports the addresses of both at the start', async () => {
    const [line] = await service.waitForOutput(/.*"msg":"listening".*/);
    expect(JSON.parse(line)).toMatchObject({
      url,
      docs: `${url}/v1/docs, ${url}/v2/docs`,
      operations: ['GET /v1/notes', 'GET /v2/notes'],
    });
  });
});

test('the start fails if `documents` and the result of `open` have other names', async () => {
  const { code, output } = await run(folder, ['renamed.mjs'], TOKENS);
  expect(output).toContain(
    '`documents` of serve and `documents` of the result of open must have the same names, ' +
      'got old, newer and old, new',
  );
  expect(code).toBe(1);
});

test('--check checks both documents', async () => {
  expect(await run(folder, ['main.mjs', '--check'], TOKENS)).toEqual({
    code: 0,
    output: 'The configuration and old.yaml, new.yaml are valid.\n',
  });
  const { code, output } = await run(folder, ['same.mjs', '--check'], TOKENS);
  expect(output).toContain(
    'GET /v1/notes is also a path of another document: ' +
      'give each document a base path of its own in `servers`, such as /v2',
  );
  expect(code).toBe(1);
});
