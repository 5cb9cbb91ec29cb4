import { once } from 'node:events';
import { createServer, get, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Express } from 'express';
import { type AnyHandler, createApp } from 'spec-first-server';
import request from 'supertest';
import { withFiles } from 'test-support/documents';
import { type Issuer, startIssuer } from 'test-support/issuer';

const response = "{ '200': { description: the caller, content: { application/json: {} } } }";
const DOCUMENT = `openapi: 3.1.0
info: { title: Shop, version: 1.0.0 }
paths:
  /orders: { get: { operationId: orders, security: [{ bearerAuth: [orders] }], responses: ${response} } }
  /account: { get: { operationId: account, security: [{ bearerAuth: [] }], responses: ${response} } }
  /optional: { get: { operationId: optional, security: [{}, { bearerAuth: [] }], responses: ${response} } }
  /payments: { get: { operationId: payments, security: [{ pspKey: [] }], responses: ${response} } }
  /reports: { get: { operationId: reports, security: [{ partnerKey: [reports] }], responses: ${response} } }
components:
  securitySchemes:
    bearerAuth: { type: http, scheme: bearer }
    pspKey: { type: apiKey, in: header, name: X-Api-Key }
    partnerKey: { type: apiKey, in: header, name: X-Partner-Key }
`;
const callerOf: AnyHandler = ({ caller }) => ({
  status: 200,
  body: { subject: caller?.subject ?? null, scopes: [...(caller?.scopes ?? [])] },
});

let issuer: Issuer;
let app: Express;
let client: ReturnType<typeof request>;
const tokens = new Map<string, string>();

beforeAll(async () => {
  issuer = await startIssuer();
  const jwt = { jwksUrl: issuer.jwksUrl, issuer: issuer.name, audience: issuer.audience };
  const accessTokens = [
    'robot:robot-token scheme=bearerAuth scope=orders',
    'psp:psp-token scheme=pspKey',
    'partner:partner-token scheme=partnerKey scope=reports',
    'guest:guest-token scheme=partnerKey',
  ];
  tokens.set('signed', await issuer.sign({ sub: 'ann' }));
  tokens.set('signed with scope', await issuer.sign({ sub: 'bob', scope: 'orders reports' }));
  for (const name of ['robot', 'psp', 'partner', 'guest']) tokens.set(name, `${name}-token`);
  const ids = ['orders', 'account', 'optional', 'payments', 'reports'];
  app = await withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) =>
    createApp({
      document: join(folder, 'openapi.yaml'),
      handlers: Object.fromEntries(ids.map((id) => [id, callerOf])),
      security: { accessTokens, jwt },
    }),
  );
  client = request(app);
});
afterAll(() => issuer.down());

// Each credential on each scheme.
const paths = ['/orders', '/account', '/payments', '/reports'];
const accepted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  signed: { '/account': 'ann' },
  'signed with scope': { '/orders': 'bob', '/account': 'bob' },
  robot: { '/orders': 'robot', '/account': 'robot' },
  psp: { '/payments': 'psp' },
  partner: { '/reports': 'partner' },
  guest: {},
};
const cases = Object.keys(accepted).flatMap((name) => paths.map((path) => [name, path] as const));

test.each(cases)('the %s token at %s is accepted for its own scheme only', async (name, path) => {
  const token = tokens.get(name) ?? '';
  const answer = await client
    .get(path)
    .set({ Authorization: `Bearer ${token}`, 'X-Api-Key': token, 'X-Partner-Key': token });
  const subject = accepted[name]?.[path];
  const lacksScope =
    (name === 'signed' && path === '/orders') || (name === 'guest' && path === '/reports');
  if (subject !== undefined) expect(answer.body).toMatchObject({ subject });
  expect(answer.status).toBe(subject !== undefined ? 200 : lacksScope ? 403 : 401);
});

describe('an operation with optional security', () => {
  const bearer = 'Bearer robot-token';

  async function statusOf(headers: OutgoingHttpHeaders, joinDuplicateHeaders: boolean) {
    const server = createServer({ joinDuplicateHeaders }, app).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const [response] = await once(get({ port, path: '/optional', headers }), 'response');
      response.resume();
      return response.statusCode;
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  test.each([true, false])('rejects two Authorization headers (joined: %s)', async (joined) => {
    expect(await statusOf({}, joined)).toBe(200);
    expect(await statusOf({ Authorization: [bearer] }, joined)).toBe(200);
    for (const two of [
      ['Basic eA==', bearer],
      [bearer, 'Basic eA=='],
      [bearer, bearer],
      [bearer, ''],
    ])
      expect([two, await statusOf({ Authorization: two }, joined)]).toEqual([two, 400]);
  });

  test('rejects two credentials in one Authorization header', async () => {
    for (const value of [`Basic eA==, ${bearer}`, `Basic eA==,${bearer}`, `Basic , ${bearer}`])
      await client.get('/optional').set('Authorization', value).expect(400);
  });

  test('takes the parameters of another scheme for one credential', async () => {
    const digest = 'Digest username="a, Bearer b", realm="c", uri="/", qop=auth, nc = 1';
    const { body } = await client.get('/optional').set('Authorization', digest).expect(200);
    expect(body).toEqual({ subject: null, scopes: [] });
  });
});

describe('a cookie that is a credential', () => {
  const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
  const operations = methods.map(
    (method) =>
      `    ${method}: { operationId: ${method}, security: [{ session: [] }], responses: { '204': { description: done } } }`,
  );
  const document = `openapi: 3.1.0
info: { title: Sessions, version: 1.0.0 }
paths:
  /things:
${operations.join('\n')}
components: { securitySchemes: { session: { type: apiKey, in: cookie, name: session } } }
`;
  const callers: unknown[] = [];
  let sessions: ReturnType<typeof request>;
  beforeAll(async () => {
    const done: AnyHandler = ({ caller }) => {
      callers.push(caller?.subject);
      return { status: 204 };
    };
    sessions = await withFiles({ 'openapi.yaml': document }, async (folder) =>
      request(
        await createApp({
          document: join(folder, 'openapi.yaml'),
          handlers: Object.fromEntries(methods.map((method) => [method, done])),
          accessTokens: ['ann:secret'],
          corsOrigins: ['https://app.example'],
        }),
      ),
    );
  });

  const pages = {
    'another site': { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
    'another origin of the site': { 'Sec-Fetch-Site': 'same-site' },
    'another origin in an old browser': { Origin: 'https://evil.example' },
    'an origin whose name begins alike': { Origin: 'https://app.example.evil.example' },
    'an origin whose name ends alike': { Origin: 'https://evilapp.example' },
    'an origin with another protocol': { Origin: 'http://app.example' },
  };
  const all = Object.entries(pages).flatMap(([page, headers]) =>
    methods.map((method) => [method, page, headers] as const),
  );
  test.each(all)('with %s from a page of %s changes nothing', async (method, _page, headers) => {
    callers.length = 0;
    const isSafe = method === 'get' || method === 'head';
    await sessions[method]('/things')
      .set({ Host: 'api.example', Cookie: 'session=secret', ...headers })
      .expect(isSafe ? 204 : 403);
    expect(callers).toEqual(isSafe ? ['ann'] : []);
  });

  test.each(methods)('with %s from its own page, or a listed one, is accepted', async (method) => {
    callers.length = 0;
    for (const headers of [
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://api.example' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://app.example' },
      {},
    ]) {
      const cookie = { Host: 'api.example', Cookie: 'a=b; session=secret' };
      await sessions[method]('/things')
        .set({ ...cookie, ...headers })
        .expect(204);
    }
    expect(callers).toEqual(['ann', 'ann', 'ann']);
  });
});

describe('two API keys', () => {
  const who = `responses: ${response}`;
  const document = `openapi: 3.1.0
info: { title: Keys, version: 1.0.0 }
paths:
  /either: { get: { operationId: either, security: [{ first: [] }, { second: [] }], ${who} } }
  /both: { get: { operationId: both, security: [{ first: [], second: [] }], ${who} } }
components:
  securitySchemes:
    first: { type: apiKey, in: header, name: X-Key }
    second: { type: apiKey, in: query, name: key }
`;
  test('are told apart, and both are needed where the document says so', async () => {
    const accessTokens = ['ann:one scheme=first', 'bob:two scheme=second'];
    const keys = await withFiles({ 'openapi.yaml': document }, async (folder) =>
      request(
        await createApp({
          document: join(folder, 'openapi.yaml'),
          handlers: { either: callerOf, both: callerOf },
          accessTokens,
        }),
      ),
    );
    const get = async (path: string, header?: string) => {
      const { status, body } = await keys
        .get(path)
        .set(header === undefined ? {} : { 'X-Key': header });
      return [status, body.subject];
    };
    expect(await get('/either', 'one')).toEqual([200, 'ann']);
    expect(await get('/either?key=two')).toEqual([200, 'bob']);
    expect(await get('/either?key=two', 'one')).toEqual([200, 'ann']);
    expect(await get('/either?key=one', 'two')).toEqual([401, undefined]);
    expect(await get('/both?key=two', 'one')).toEqual([200, 'ann']);
    for (const [path, header] of [
      ['/both', 'one'],
      ['/both?key=two', undefined],
      ['/both?key=one', 'one'],
      ['/both?key=two', 'two'],
      ['/both?key=one', 'two'],
    ] as const)
      expect([path, header, ...(await get(path, header))]).toEqual([path, header, 401, undefined]);
    // The first of two values counts.
    expect(await get('/either?key=bad&key=two')).toEqual([401, undefined]);
  });
});

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'a scheme and a key named %s are verified like others',
  async (name) => {
    const document = `openapi: 3.1.0
info: { title: Names, version: 1.0.0 }
paths:
  /: { get: { operationId: get, security: [{ ${name}: [] }], responses: ${response} } }
components: { securitySchemes: { ${name}: { type: apiKey, in: query, name: ${name} } } }
`;
    const names = await withFiles({ 'openapi.yaml': document }, async (folder) =>
      request(
        await createApp({
          document: join(folder, 'openapi.yaml'),
          handlers: { get: callerOf },
          accessTokens: ['ann:secret'],
        }),
      ),
    );
    const { body } = await names.get('/').expect(401);
    expect(body.detail).toContain('An API key is required');
    await names.get(`/?${name}=wrong`).expect(401);
    expect((await names.get(`/?${name}=secret`).expect(200)).body.subject).toBe('ann');
  },
);
