import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Document, Operation } from 'openapi-document';
import { documentOf } from 'test-support/document-of';
import { type Issuer, startIssuer } from 'test-support/issuer';
import { randomValues } from 'test-support/random-values';
import { Forbidden, HttpError, Unauthorized } from '../../../src/core/response/http-error.ts';
import {
  type Authenticated,
  apiKeyQueryNames,
  authentication,
  credentialsOf,
  bearerToken as read,
  schemesOf,
  scopesOf,
  tokenSchemes,
  unverifiedSchemes,
  type Verifiers,
} from '../../../src/core/security/schemes.ts';
import { type AuthSettings, createAuthenticator } from '../../../src/core/security/tokens.ts';

const documentWith = (
  securitySchemes: Document['securitySchemes'],
  security: Readonly<Record<string, Operation['security']>>,
) => {
  const responses = { 200: { description: 'ok' } };
  const paths = Object.entries(security).map(([operationId, requirements]) => [
    `/${operationId}`,
    { get: { operationId, security: requirements, responses } },
  ]);
  return documentOf(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Security', version: '1.0.0' },
      paths: Object.fromEntries(paths),
      components: { securitySchemes },
    }),
  );
};

interface Request {
  readonly method?: string;
  readonly headers?: IncomingHttpHeaders;
  readonly query?: string;
}

async function authenticating(
  { operations, securitySchemes }: Document,
  settings: AuthSettings,
  {
    verifiers = {},
    trustedOrigins = [],
    isMock = false,
  }: { verifiers?: Verifiers; trustedOrigins?: string[]; isMock?: boolean } = {},
) {
  const authenticator = await createAuthenticator(
    settings,
    tokenSchemes(securitySchemes, verifiers),
  );
  const schemes = schemesOf(securitySchemes, authenticator, verifiers, trustedOrigins);
  const checks = new Map(
    operations.map((operation) => [operation.id, authentication(operation, schemes, isMock)]),
  );
  return async (id: string, { method = 'GET', headers = {}, query = '' }: Request = {}) =>
    checks.get(id)?.({ method, headers, query });
}

const subjectOrStatus = (authenticated: Promise<Authenticated | undefined>): Promise<unknown> =>
  authenticated.then(
    (result) => result?.caller.subject,
    (error: HttpError) => error.status,
  );

const bearer = { type: 'http', scheme: 'bearer' };
const header = (name: string) => ({ type: 'apiKey', in: 'header', name });

describe('a token', () => {
  let issuer: Issuer;
  let authenticate: Awaited<ReturnType<typeof authenticating>>;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    issuer = await startIssuer();
    const document = await documentWith(
      { bearerAuth: bearer, pspKey: header('X-Api-Key'), partnerKey: header('X-Partner-Key') },
      {
        orders: [{ bearerAuth: ['orders'] }],
        account: [{ bearerAuth: [] }],
        payments: [{ pspKey: [] }],
        reports: [{ partnerKey: ['reports'] }],
      },
    );
    authenticate = await authenticating(document, {
      jwt: { jwksUrl: issuer.jwksUrl, issuer: issuer.name, audience: issuer.audience },
      accessTokens: [
        'robot:robot-token scheme=bearerAuth scope=orders',
        'psp:psp-token scheme=pspKey',
        'partner:partner-token scheme=partnerKey scope=reports',
        'guest:guest-token scheme=partnerKey',
      ],
    });
    tokens.set('signed', await issuer.sign({ sub: 'ann' }));
    tokens.set('signed with scope', await issuer.sign({ sub: 'bob', scope: 'orders reports' }));
    for (const name of ['robot', 'psp', 'partner', 'guest']) tokens.set(name, `${name}-token`);
  });
  afterAll(() => issuer.down());

  test.each<[name: string, accepted: Readonly<Record<string, unknown>>]>([
    ['signed', { orders: 403, account: 'ann' }],
    ['signed with scope', { orders: 'bob', account: 'bob' }],
    ['robot', { orders: 'robot', account: 'robot' }],
    ['psp', { payments: 'psp' }],
    ['partner', { reports: 'partner' }],
    ['guest', { reports: 403 }],
  ])('named %s is accepted for its own scheme and scopes only', async (name, accepted) => {
    const token = tokens.get(name) ?? '';
    const headers = {
      authorization: `Bearer ${token}`,
      'x-api-key': token,
      'x-partner-key': token,
    };
    for (const id of ['orders', 'account', 'payments', 'reports']) {
      const outcome = await subjectOrStatus(authenticate(id, { headers }));
      expect([id, outcome]).toEqual([id, accepted[id] ?? 401]);
    }
  });
});

describe('alternatives', () => {
  const schemes = { first: header('X-Key'), second: { type: 'apiKey', in: 'query', name: 'key' } };
  let authenticate: Awaited<ReturnType<typeof authenticating>>;
  beforeAll(async () => {
    const document = await documentWith(schemes, {
      either: [{ first: [] }, { second: [] }],
      both: [{ first: [], second: [] }],
      bothOrNone: [{ first: [], second: [] }, {}],
    });
    const accessTokens = [
      'ann:one scheme=first',
      'bob:two scheme=second',
      'anonymous scheme=first',
    ];
    authenticate = await authenticating(document, { accessTokens });
  });

  test.each([
    ['either', { 'x-key': 'one' }, '', 'ann'],
    ['either', {}, 'key=two', 'bob'],
    ['either', { 'x-key': 'one' }, 'key=two', 'ann'],
    ['either', { 'x-key': 'two' }, 'key=one', 401],
    ['either', { 'x-key': 'one' }, 'key=two&key=bad', 'ann'],
    ['either', {}, 'key=two&key=bad', 400],
    ['either', {}, '', 401],
    ['both', { 'x-key': 'one' }, 'key=two', 'ann'],
    ['both', { 'x-key': 'anonymous' }, 'key=two', 'bob'],
    ['both', { 'x-key': 'one' }, '', 401],
    ['both', {}, 'key=two', 401],
    ['both', { 'x-key': 'one' }, 'key=one', 401],
    ['both', { 'x-key': 'two' }, 'key=two', 401],
    ['both', { 'x-key': 'two' }, 'key=one', 401],
    ['bothOrNone', { 'x-key': 'one' }, 'key=two', 'ann'],
    ['bothOrNone', { 'x-key': 'one' }, '', 401],
    ['bothOrNone', {}, 'key=two', 401],
  ])('%s, with the headers %j and the query %j: %j', async (id, headers, query, outcome) => {
    expect(await subjectOrStatus(authenticate(id, { headers, query }))).toBe(outcome);
  });
});

test('an Authorization header is ignored if no scheme of the operation uses it', async () => {
  const schemes = { key: header('X-Key'), mutual: { type: 'mutualTLS' } };
  const document = await documentWith(schemes, { get: [{ key: [] }, { mutual: [] }, {}] });
  const mutual = () => Promise.reject(new Unauthorized('no certificate', false));
  const authenticate = await authenticating(document, {}, { verifiers: { mutual } });
  expect(await authenticate('get', { headers: { authorization: 'Basic eA==' } })).toBeUndefined();
});

test.each([
  ['ab', 'a'],
  ['cd', 'c'],
  ['ad', 401],
  ['ac', 401],
  ['bc', 401],
  ['bd', 401],
  ['abcd', 'a'],
  ['bcd', 'c'],
])('of two alternatives with two schemes each, the keys %s: %j', async (keys, outcome) => {
  const names = ['a', 'b', 'c', 'd'];
  const schemes = Object.fromEntries(names.map((name) => [name, header(`X-${name}`)]));
  const document = await documentWith(schemes, {
    get: [
      { a: [], b: [] },
      { c: [], d: [] },
    ],
  });
  const accessTokens = names.map((name) => `${name}:key-${name} scheme=${name}`);
  const authenticate = await authenticating(document, { accessTokens });
  const headers = Object.fromEntries([...keys].map((name) => [`x-${name}`, `key-${name}`]));
  expect(await subjectOrStatus(authenticate('get', { headers }))).toBe(outcome);
});

test.each([
  ['the first error of a verifier', ['absent', 'wrong', 'forbidden', 'down', 'late down'], 'down'],
  ['the first missing permission', ['absent', 'wrong', 'forbidden', 'late forbidden'], 'forbidden'],
  ['the first rejected credential', ['absent', 'wrong', 'late wrong'], 'wrong'],
])('of several failures, %s is reported', async (_title, names, reported) => {
  const failures: Readonly<Record<string, Error>> = {
    absent: new Unauthorized('absent', false),
    wrong: new Unauthorized('wrong'),
    forbidden: new Forbidden('forbidden'),
    'late wrong': new Unauthorized('wrong'),
    'late forbidden': new Forbidden('forbidden'),
    down: new HttpError(503, 'down'),
    'late down': new HttpError(503, 'down'),
  };
  const verifiers = Object.fromEntries(
    names.map((name) => [name, () => Promise.reject(failures[name])]),
  );
  const schemes = Object.fromEntries(names.map((name) => [name, { type: 'mutualTLS' }]));
  const document = await documentWith(schemes, {
    get: names.map((name) => ({ [name]: [] })),
    optional: [{}, ...names.map((name) => ({ [name]: [] }))],
  });
  const authenticate = await authenticating(document, {}, { verifiers });
  await expect(authenticate('get')).rejects.toBe(failures[reported]);
  await expect(authenticate('optional')).rejects.toBe(failures[reported]);
});

describe('a cookie', () => {
  let authenticate: Awaited<ReturnType<typeof authenticating>>;
  beforeAll(async () => {
    const session = { type: 'apiKey', in: 'cookie', name: 'session' };
    const document = await documentWith({ session }, { get: [{ session: [] }] });
    const settings = { accessTokens: ['ann:secret'] };
    authenticate = await authenticating(document, settings, {
      trustedOrigins: ['https://app.example'],
    });
  });
  const send = (method: string, headers: IncomingHttpHeaders) => {
    const cookie = 'a=b; session=secret';
    const request = { method, headers: { host: 'api.example', cookie, ...headers } };
    return subjectOrStatus(authenticate('get', request));
  };

  const other = 'https://evil.example';
  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: other }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['another origin in an old browser', { origin: other }],
    ['a sandboxed page in an old browser', { origin: 'null' }],
    [
      'an origin whose name begins like a trusted one',
      { origin: 'https://app.example.evil.example' },
    ],
    ['an origin whose name ends like a trusted one', { origin: 'https://evilapp.example' }],
    ['an origin with another protocol', { origin: 'http://app.example' }],
  ])('from %s is accepted for GET, HEAD and OPTIONS only', async (_page, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'])
      expect([method, await send(method, headers)]).toEqual([method, 403]);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect([method, await send(method, headers)]).toEqual([method, 'ann']);
  });

  test.each([
    ['a page of the service', { 'sec-fetch-site': 'same-origin', origin: 'https://api.example' }],
    ['a page of the service in an old browser', { origin: 'https://api.example' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a trusted origin', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }],
    ['no browser', {}],
  ])('from %s is accepted', async (_page, headers) => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect([method, await send(method, headers)]).toEqual([method, 'ann']);
  });

  test('that is missing causes a 401, wherever the request comes from', async () => {
    expect(await send('POST', { cookie: 'a=b', origin: other })).toBe(401);
  });
});

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'a scheme and a key named %s are verified like others',
  async (name) => {
    for (const place of ['query', 'header', 'cookie']) {
      const schemes = Object.fromEntries([[name, { type: 'apiKey', in: place, name }]]);
      const security = Object.fromEntries([[name, []]]);
      const document = await documentWith(schemes, { get: [security] });
      const authenticate = await authenticating(document, { accessTokens: ['ann:secret'] });
      await expect(authenticate('get')).rejects.toThrow('An API key is required');
      const sent = (key: string): Request => ({
        query: place === 'query' ? `${name}=${key}` : '',
        headers:
          place === 'header'
            ? Object.fromEntries([[name.toLowerCase(), key]])
            : { cookie: place === 'cookie' ? `${name}=${key}` : undefined },
      });
      expect(await subjectOrStatus(authenticate('get', sent('wrong')))).toBe(401);
      expect(await subjectOrStatus(authenticate('get', sent('secret')))).toBe('ann');
    }
  },
);

const EVERY_SCHEME: Document['securitySchemes'] = {
  bearer: { type: 'http', scheme: 'Bearer' },
  oauth: { type: 'oauth2' },
  openId: { type: 'openIdConnect' },
  header: header('X-Key'),
  query: { type: 'apiKey', in: 'query', name: 'the key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  basic: { type: 'http', scheme: 'Basic' },
  hmac: { type: 'http', scheme: 'HMAC' },
  mutual: { type: 'mutualTLS' },
};
const schemesWith = async (verifiers: Verifiers = {}) =>
  schemesOf(EVERY_SCHEME, await createAuthenticator({}, new Map()), verifiers);

describe('each scheme', () => {
  test.each([
    ['bearer', 'Bearer', 'Bearer error="invalid_token"'],
    ['oauth', 'Bearer', 'Bearer error="invalid_token"'],
    ['openId', 'Bearer', 'Bearer error="invalid_token"'],
    ['header', 'ApiKey in="header", name="X-Key"', undefined],
    ['query', 'ApiKey in="query", name="the%20key"', undefined],
    ['cookie', 'ApiKey in="cookie", name="session"', undefined],
    ['basic', 'Basic realm="api", charset="UTF-8"', undefined],
    ['hmac', 'HMAC', undefined],
    ['mutual', 'mutualTLS', undefined],
  ])('%s has the challenge %j', async (name, absent, presented = absent) => {
    const challenge = (await schemesWith()).get(name)?.challenge;
    expect([challenge?.(false), challenge?.(true)]).toEqual([absent, presented]);
  });

  test.each([
    ['bearer', 'A bearer token is required, in a header "Authorization: Bearer <token>"'],
    ['header', 'An API key is required, in the header "X-Key"'],
    ['query', 'An API key is required, in the query parameter "the key"'],
    ['cookie', 'An API key is required, in the cookie "session"'],
    ['basic', 'Credentials are required, in a header "Authorization: Basic …"'],
    ['hmac', 'Credentials are required, in a header "Authorization: HMAC …"'],
  ])('%s requires its credential with the message: %s', async (name, message) => {
    const document = await documentWith(EVERY_SCHEME, { get: [{ [name]: [] }] });
    const authenticate = await authenticating(document, {}, { isMock: true });
    const error = await authenticate('get').catch((cause: unknown) => cause);
    expect(error).toMatchObject({ status: 401, presented: false, message });
  });

  test('takes tokens if it is bearer or an API key without a verifier; only bearer takes signed ones', () => {
    const verifiers = { cookie: () => ({ subject: 'ann', scopes: 'all' as const }) };
    expect([...tokenSchemes(EVERY_SCHEME, verifiers)]).toEqual([
      ['bearer', true],
      ['oauth', true],
      ['openId', true],
      ['header', false],
      ['query', false],
    ]);
  });

  test('for an API key in the query is in apiKeyQueryNames', () => {
    expect([...apiKeyQueryNames(EVERY_SCHEME)]).toEqual(['the key']);
  });

  test('without a verifier is reported, if an operation uses it', async () => {
    const schemes = await schemesWith({ basic: () => ({ subject: 'ann', scopes: 'all' }) });
    const { operations } = await documentWith(EVERY_SCHEME, {
      get: [{ bearer: [], basic: [], hmac: [] }, { cookie: [] }],
      other: [{ hmac: [] }],
    });
    expect(unverifiedSchemes(operations, schemes)).toEqual([
      {
        pointer: '/components/securitySchemes/hmac',
        message:
          'nothing verifies credentials of this scheme: ' +
          'add verifiers: { "hmac": … } to the options or to the result of open',
      },
    ]);
    const [get] = operations;
    if (get === undefined) throw new Error('the document has no operation');
    expect(() => authentication(get, schemes, false)).toThrow('nothing verifies hmac');
  });
});

test('the scopes of a document are those of its operations and of its flows', async () => {
  const flows = { clientCredentials: { tokenUrl: 'https://a.example', scopes: { declared: '' } } };
  const document = await documentWith(
    { ...EVERY_SCHEME, flowing: { type: 'oauth2', flows } },
    { get: [{ bearer: ['read'] }, {}] },
  );
  expect(scopesOf(document)).toEqual(new Set(['read', 'declared']));
});

describe('a scheme without tokens', () => {
  const basic = (text: string) => ({
    headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
  });
  const document = documentWith(EVERY_SCHEME, {
    basic: [{ basic: ['read'] }],
    mutual: [{ mutual: [] }],
    optional: [{}, { basic: [] }],
  });

  test('accepts any credential of its form in a mock', async () => {
    const authenticate = await authenticating(await document, {}, { isMock: true });
    const caller = { subject: undefined, scopes: 'all' };
    expect(await authenticate('basic', basic('anyone'))).toEqual({ caller, callers: undefined });
    expect(await authenticate('mutual')).toEqual({ caller, callers: undefined });
    for (const request of [{}, { headers: { authorization: 'Bearer token' } }])
      expect(await subjectOrStatus(authenticate('basic', request))).toBe(401);
  });

  test('is verified by its verifier, if a credential is presented', async () => {
    const calls: unknown[] = [];
    const verifiers: Verifiers = {
      mutual: () => ({ subject: 'peer', scopes: 'all' }),
      basic({ headers }, scopes) {
        calls.push(scopes);
        if (headers.authorization === basic('me').headers.authorization)
          return { subject: 'me', scopes: 'all' };
        throw new Unauthorized('The password is wrong');
      },
    };
    const authenticate = await authenticating(await document, {}, { verifiers });
    const outcome = (id: string, request?: Request) => subjectOrStatus(authenticate(id, request));
    expect(await outcome('basic', basic('me'))).toBe('me');
    expect(await outcome('basic', basic('you'))).toBe(401);
    expect(calls).toEqual([['read'], ['read']]);
    expect(await outcome('basic')).toBe(401);
    expect(await outcome('mutual')).toBe('peer');
    expect(await outcome('optional')).toBeUndefined();
    expect(calls).toHaveLength(2);
    expect(await outcome('optional', basic('you'))).toBe(401);
  });

  test.each(['', 'null', 'true'])('fails if its verifier returns %j', async (json) => {
    const verify = () => (json === '' ? undefined : JSON.parse(json));
    const verifiers: Verifiers = { mutual: verify, basic: verify };
    const authenticate = await authenticating(await document, {}, { verifiers });
    await expect(authenticate('mutual')).rejects.toThrow('the verifier mutual returned no caller');
  });
});

test('without credentials, the message names the credentials of each alternative', async () => {
  const document = await documentWith(
    { bearer, oauth: { type: 'oauth2', flows: {} }, first: header('X-1'), second: header('X-2') },
    {
      get: [{ bearer: [] }, { oauth: [] }, { first: [], second: [] }],
      optional: [{}, { bearer: [] }, { first: [], second: [] }],
    },
  );
  const authenticate = await authenticating(document, {});
  expect(await authenticate('optional')).toBeUndefined();
  await expect(authenticate('get')).rejects.toMatchObject({
    presented: false,
    message:
      'A bearer token is required, in a header "Authorization: Bearer <token>". ' +
      'Or: An API key is required, in the header "X-1". An API key is required, in the header "X-2"',
  });
});

test.each<[string, Request, string]>([
  ['query', { query: 'k=key&k=key' }, 'query parameter "k"'],
  ['query', { query: 'k=&%6B=key' }, 'query parameter "k"'],
  ['cookie', { headers: { cookie: 'k=key; k=other' } }, 'cookie "k"'],
])('an API key that comes several times in the %s is rejected: %j', async (where, sent, place) => {
  const keys = { key: { type: 'apiKey', in: where, name: 'k' } };
  const document = await documentWith(keys, { get: [{ key: [] }] });
  const authenticate = await authenticating(document, { accessTokens: ['me:key'] });
  await expect(authenticate('get', sent)).rejects.toMatchObject({
    status: 400,
    message: `the API key in the ${place} must come once`,
  });
});

test('verifiers get the first value of each parameter and cookie', () => {
  const headers = { cookie: 'a=1; b=%20x; a=2' };
  expect(credentialsOf({ method: 'GET', headers, query: 'k=1&l=%2B+&k=2' })).toEqual({
    method: 'GET',
    headers,
    query: { k: '1', l: '+ ' },
    cookies: { a: '1', b: '%20x' },
  });
  expect(credentialsOf({ method: 'GET', headers: {} })).toEqual({
    method: 'GET',
    headers: {},
    query: {},
    cookies: {},
  });
});

const bearerToken = (authorization: string | undefined) => read({ headers: { authorization } });

describe('an Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc', 'abc'],
    ['Bearer   abc', 'abc'],
    ['Bearer a-._~+/Z9==', 'a-._~+/Z9=='],
  ])('%j has the token %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  test.each([
    'Bearer',
    'Bearer ',
    'Bearer\tabc',
    'Bearer \tabc',
    'Bearer abc ',
    'Bearer abc def',
    'Bearer abc, Bearer def',
    'Bearer abc,def',
    'Bearer "abc"',
    'Bearer =',
    'Bearer a=b',
    'Bearer ab\u00e9',
    'Bearer abc\n',
    'Bearer token=abc',
  ])('%j is rejected as malformed', (header) => {
    expect(() => bearerToken(header)).toThrow(
      expect.objectContaining({ name: 'Unauthorized', presented: true }),
    );
  });

  test.each([
    undefined,
    '',
    ' Bearer abc',
    'Basic xxbearerxx',
    'Basic bearer abc',
    'Bearers abc',
    'Bearer-x abc',
    'Bearerabc',
    'DPoP abc',
  ])('%j has no bearer token', (header) => {
    expect(bearerToken(header)).toBeUndefined();
  });

  test('is a token, is not of this scheme, or is rejected without its text in the message', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary-ascii' }),
      fc.string({ unit: 'binary-ascii', minLength: 8 }).map((text) => `Bearer ${text}`),
    );
    fc.assert(
      fc.property(header, (text) => {
        try {
          expect(bearerToken(text) ?? 'a').toMatch(/^[A-Za-z0-9\-._~+/]+=*$/);
        } catch (error) {
          if (!(error instanceof Unauthorized)) throw error;
          if (text.length > 16) expect(error.message).not.toContain(text.slice(7));
        }
      }),
      randomValues(100),
    );
  });
});
