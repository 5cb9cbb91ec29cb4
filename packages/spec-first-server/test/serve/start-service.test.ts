import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { register } from 'prom-client';
import { eventually } from 'test-support/eventually';
import { exchange, request } from 'test-support/raw-http';
import { unimplemented } from '../../src/core/bind-handlers.ts';
import { ConfigError, readConfig } from '../../src/serve/configuration.ts';
import {
  type Backend,
  checkService,
  type RunningService,
  type ServiceDefinition,
  startService,
} from '../../src/serve/start-service.ts';
import { explain } from '../../src/serve/terminal.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /who:
    get:
      operationId: who
      security: [{ ours: [] }]
      parameters: [{ name: greeting, in: query, schema: { type: string, format: greeting } }]
      responses: { '200': { description: ok, content: { application/json: {} } } }
  /token:
    get:
      operationId: token
      security: [{ bearer: [] }]
      responses: { '204': { description: ok } }
  /text:
    post:
      operationId: text
      requestBody: { content: { text/plain: { schema: { type: string } } } }
      responses: { '204': { description: ok } }
components:
  securitySchemes:
    ours: { type: http, scheme: digest }
    bearer: { type: http, scheme: bearer }
`;
const BROKEN = DOCUMENT.replace(
  'components:',
  `  /broken: { get: { operationId: broken, responses: { '200': { $ref: '#/components/none' } } } }
components:`,
);

const folder = mkdtempSync(join(tmpdir(), 'service-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const openapi = file('openapi.yaml', DOCUMENT);
const broken = file('broken.yaml', BROKEN);
const open = file(
  'open.yaml',
  `openapi: 3.1.0
info: { title: Open, version: 1.0.0 }
paths: { /a: { get: { operationId: a, responses: { '204': { description: done } } } } }
`,
);

let lines: Record<string, unknown>[];
let service: RunningService | undefined;
beforeEach(() => {
  lines = [];
  service = undefined;
});
afterEach(async () => {
  process.env.NODE_ENV = 'test';
  await service?.stop();
  register.clear();
});

const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
const ANN = { subject: 'ann', scopes: 'all' as const };
const opened = (parts: Partial<Backend> = {}) => ({
  handlers,
  verifiers: { ours: () => ANN },
  ...parts,
});
const DEFINITION: ServiceDefinition = {
  open: () => opened(),
  errorBody: {
    mediaType: 'application/json',
    make: ({ status, message }) => ({ error: status, message }),
  },
};
const handlers: Backend['handlers'] = {
  who: ({ caller }) => ({ status: 200, body: caller?.subject }),
  token: () => ({ status: 204 }),
  text: async () => {
    await delay(20);
    return { status: 204 };
  },
};
/** A definition for a document without security. */
const UNSECURED: Partial<ServiceDefinition> = {
  open: () => ({ handlers: { a: () => ({ status: 204 }) } }),
};
const configOf = (env: Readonly<Record<string, string>>) =>
  readConfig({ PORT: '0', ACCESS_TOKENS: 'secret', OPENAPI_FILE: openapi, ...env });

async function start(
  definition: Partial<ServiceDefinition> = {},
  env: Readonly<Record<string, string>> = {},
) {
  service = await startService(configOf(env), { ...DEFINITION, ...definition }, log);
  const { url } = service.started;
  const headers = { Authorization: 'Digest ann', Connection: 'close' };
  return { service, get: (path: string) => fetch(url + path, { headers }) };
}

describe('a service', () => {
  test('uses the formats and the error body of the project, and what `open` returns', async () => {
    const { get } = await start({
      formats: { greeting: (text) => text.startsWith('h') },
      open: (): Backend => ({
        handlers,
        around: async (_operation, _request, next) => ({
          ...(await next()),
          headers: { 'X-A': '1' },
        }),
        verifiers: { ours: () => ({ subject: 'bob', scopes: 'all' }) },
        use: [
          (_request, response, next) => {
            response.setHeader('X-Used', 'project');
            next();
          },
        ],
      }),
    });
    const answer = await get('/who?greeting=hi');
    expect([answer.status, await answer.json()]).toEqual([200, 'bob']);
    expect([answer.headers.get('x-a'), answer.headers.get('x-used')]).toEqual(['1', 'project']);
    const rejected = await get('/who?greeting=bye');
    expect([rejected.status, await rejected.json()]).toMatchObject([400, { error: 400 }]);
  });

  test('logs requests that it rejects, and why its error body fails', async () => {
    const rejectedWith = async (bytes: string, errorBody = DEFINITION.errorBody) => {
      const { service: rejecting } = await start({ errorBody });
      const port = Number(new URL(rejecting.started.url).port);
      const { responses } = await exchange(port, bytes);
      await rejecting.stop();
      register.clear();
      const line = lines.find(({ msg }) => msg === 'rejected');
      lines = [];
      return [responses[0]?.status, line];
    };
    const client = '127.0.0.1';
    const make = () => {
      throw new Error('a fault of the service');
    };
    for (const bytes of ['no request\r\n\r\n', request('GET /', { Host: 'a/b' })]) {
      expect(await rejectedWith(bytes)).toMatchObject([400, { level: 30, client, status: 400 }]);
      expect(await rejectedWith(bytes, { mediaType: 'application/json', make })).toMatchObject([
        500,
        { level: 50, client, status: 500, err: { message: 'a fault of the service' } },
      ]);
    }
  });

  test('applies the variables of its configuration', async () => {
    const { service, get } = await start(
      {},
      {
        DOCS: 'off',
        OPERATOR_PREFIX: '/ops',
        CORS_ORIGINS: 'https://app.example',
        TRUST_PROXY: 'true',
        BODY_LIMIT: '5',
        SLOW_MS: '10',
      },
    );
    const paths = ['/ops/healthz', '/healthz', '/ops/docs'];
    const statuses = await Promise.all(paths.map(async (path) => (await get(path)).status));
    expect(statuses).toEqual([200, 404, 404]);
    const post = (body: string) =>
      fetch(`${service.started.url}/text`, {
        method: 'POST',
        body,
        headers: {
          'Content-Type': 'text/plain',
          Origin: 'https://app.example',
          'X-Forwarded-For': '203.0.113.9',
          Connection: 'close',
        },
      });
    const answer = await post('12345');
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://app.example',
    ]);
    expect((await post('123456')).status).toBe(413);
    await eventually(() => lines.some(({ status }) => status === 413));
    expect(lines.find(({ status }) => status === 413)?.reason).toMatch('(BODY_LIMIT, or');
    const slow = lines.find(({ operationId, status }) => operationId === 'text' && status === 204);
    expect(slow).toMatchObject({ level: 40, client: '203.0.113.9' });
  });

  test('accepts only local hosts in development', async () => {
    const statusesFor = async (mode: string) => {
      process.env.NODE_ENV = mode;
      const { service } = await start({}, { METRICS_PORT: '0' });
      const message = 'GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n';
      const { url, metrics = '' } = service.started;
      const exchanges = [url, metrics].map((each) => exchange(Number(new URL(each).port), message));
      const answers = await Promise.all(exchanges);
      await service.stop();
      return answers.map(({ responses }) => responses[0]?.status);
    };
    expect(await statusesFor('development')).toEqual([421, 421]);
    expect(await statusesFor('production')).toEqual([200, 200]);
  });

  test('generates a token if the document takes tokens and none are configured', async () => {
    const tokenOf = async (
      env: Readonly<Record<string, string>>,
      definition: Partial<ServiceDefinition> = {},
    ) => {
      const { service } = await start(definition, env);
      await service.stop();
      return service.token;
    };
    expect(await tokenOf({ ACCESS_TOKENS: '' })).toMatch(/^[\w-]{43}$/);
    expect(await tokenOf({ ACCESS_TOKENS: 'secret' })).toBeUndefined();
    expect(await tokenOf({ ACCESS_TOKENS: '', OPENAPI_FILE: open }, UNSECURED)).toBeUndefined();
  });

  test('needs configured credentials in production only if its document takes tokens', async () => {
    process.env.NODE_ENV = 'production';
    const message =
      'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWKS_URL must be set with NODE_ENV=production';
    await expect(start({}, { ACCESS_TOKENS: '' })).rejects.toThrow(message);
    const verifiers = { ours: () => ANN, bearer: () => ANN };
    await start({ open: () => opened({ verifiers }) }, { ACCESS_TOKENS: '' });
    await service?.stop();
    await start(UNSECURED, { ACCESS_TOKENS: '', OPENAPI_FILE: open });
  });

  test('logs that the keys of signed tokens cannot be fetched', async () => {
    const env = { ACCESS_TOKENS: '', JWKS_URL: 'http://127.0.0.1:1/keys' };
    const { service } = await start({}, env);
    const token = ['{"alg":"RS256","kid":"a"}', '{"exp":1}', 'a']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
    const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
    expect((await fetch(`${service.started.url}/token`, { headers })).status).toBe(503);
    expect(lines.map(({ level, msg }) => [level, msg])).toContainEqual([
      50,
      'the keys of signed tokens cannot be fetched',
    ]);
  });

  test('warns if tokens that were issued for other services are accepted', async () => {
    const JWKS_URL = 'https://issuer.example/keys';
    const isWarned = async (env: Readonly<Record<string, string>>) => {
      lines.length = 0;
      await checkService(configOf({ JWKS_URL, ...env }), DEFINITION, log);
      return lines.some(({ msg }) => /^JWT_ISSUER and JWT_AUDIENCE must both/.test(String(msg)));
    };
    expect(await isWarned({})).toBe(true);
    expect(await isWarned({ JWT_ISSUER: 'a' })).toBe(true);
    expect(await isWarned({ JWT_AUDIENCE: 'b' })).toBe(true);
    expect(await isWarned({ JWT_ISSUER: 'a', JWT_AUDIENCE: 'b' })).toBe(false);
  });
});

test('a stop reports that the service is not ready before it closes the backend', async () => {
  const events: string[] = [];
  const close = async () => void events.push('closed');
  const { service: stopped, get } = await start(
    { open: () => opened({ close }) },
    { DRAIN_SECONDS: '3' },
  );
  const stopping = stopped.stop();
  const answer = await get('/readyz');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toEqual({ error: 503, message: 'the service is stopping' });
  expect((await get('/who')).status).toBe(200);
  expect(events).toEqual([]);
  await stopping;
  expect(events).toEqual(['closed']);
  await expect(get('/who')).rejects.toThrow('fetch failed');
  service = undefined;
});

describe('a broken operation', () => {
  test('is an error of the start in production', async () => {
    process.env.NODE_ENV = 'production';
    await expect(start({}, { OPENAPI_FILE: broken })).rejects.toThrow(
      /broken\.yaml:\d+:\d+ .*none/,
    );
  });
});

describe('a check', () => {
  const check = (env: Readonly<Record<string, string>>, definition: object = {}) =>
    checkService(configOf(env), { ...DEFINITION, ...definition }, log);

  test('logs the same notices as a start', async () => {
    const text = DOCUMENT.replace('servers:', '').replace('/token:', '/token/{id}:');
    const env = { OPENAPI_FILE: file('notices.yaml', text) };
    await check(env);
    const notices = lines.map(({ level, msg, locations }) => [level, msg, locations]);
    expect(notices).toEqual([
      [
        40,
        'some parts of the document are corrected, ignored or not checked',
        [
          expect.stringContaining('the format greeting is unknown'),
          expect.stringContaining('path parameter id is not declared'),
        ],
      ],
    ]);
    lines.length = 0;
    await start({}, env);
    expect(lines.map(({ level, msg, locations }) => [level, msg, locations])).toEqual(notices);
  });

  test('logs scopes of tokens that the document does not have', async () => {
    await check({ ACCESS_TOKENS: 'one scope=raed' }, { formats: { greeting: () => true } });
    expect(lines).toMatchObject([
      { level: 40, msg: expect.stringContaining('ACCESS_TOKENS: entry 1 has the scope raed') },
    ]);
  });

  test('rejects missing credentials in production, but accepts verifiers that it knows', async () => {
    process.env.NODE_ENV = 'production';
    const env = { ACCESS_TOKENS: '' };
    await expect(check(env)).rejects.toThrow('must be set with NODE_ENV=production');
    const verifiers = { ours: () => ANN, bearer: () => ANN };
    await check(env, { open: opened({ verifiers }) });
  });

  test.each<[string, Partial<Backend>, RegExp]>([
    ['handlers', { handlers: { ...handlers, token: unimplemented } }, /token/],
    ['verifiers', { verifiers: {} }, /ours/],
  ])('rejects wrong %s of a backend that is not opened by a function', async (_, part, message) => {
    await check({}, { open: opened() });
    await check({ MISSING_OPERATIONS: 'mock' }, { open: opened({ handlers: {} }) });
    await expect(check({}, { open: opened(part) })).rejects.toThrow(message);
  });
});

describe('a start that fails', () => {
  const errorOf = (
    env: Readonly<Record<string, string>>,
    definition?: Partial<ServiceDefinition>,
  ) => start(definition, env).then(() => 'the service started', explain);

  test.each([
    ['an address of another machine', { HOST: '192.0.2.1' }],
    ['a document that is missing', { OPENAPI_FILE: join(folder, 'missing.yaml') }],
    ['wrong tokens', { ACCESS_TOKENS: 'not fine' }],
  ])('because of %s closes the backend', async (_title, env) => {
    const events: string[] = [];
    const open = () => {
      events.push('opened');
      return { handlers, close: async () => void events.push('closed') };
    };
    await errorOf(env, { open });
    expect(events).toEqual(['opened', 'closed']);
  });

  test('because of the backend has its error', async () => {
    const open = () => Promise.reject(new ConfigError('DATABASE_URL must be a URL'));
    expect(await errorOf({}, { open })).toBe('DATABASE_URL must be a URL');
    // An error of the document is reported first.
    expect(await errorOf({ OPENAPI_FILE: 'missing.yaml' }, { open })).toContain('OPENAPI_FILE');
  });

  test.each<[variable: string, env: Readonly<Record<string, string>>, message: RegExp]>([
    [
      'ACCESS_TOKENS_FILE',
      { ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: join(folder, 'missing') },
      /^ACCESS_TOKENS_FILE cannot be read \(ENOENT\): \/.*\/missing$/,
    ],

    [
      'the document',
      { OPENAPI_FILE: file('invalid.yaml', 'openapi: 3.1.0\ninfo: {title: A\npaths: {}\n') },
      /invalid\.yaml:\d+:\d+ \w/,
    ],
    [
      'HOST',
      { HOST: '192.0.2.1' },
      /^listen EADDRNOTAVAIL: address not available 192\.0\.2\.1: set HOST to an address of this machine$/,
    ],
  ])('names %s', async (_variable, env, message) => {
    expect(await errorOf(env)).toMatch(message);
  });
});
