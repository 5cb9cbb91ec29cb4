import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Document, Operation } from 'openapi-document';
import { documentOf } from 'test-support/document-of';
import { type Issuer, startIssuer } from 'test-support/issuer';
import { randomValues } from 'test-support/random-values';
import type { Caller } from '../../../src/core/handlers/types.ts';
import { Forbidden, HttpError, Unauthorized } from '../../../src/core/response/http-error.ts';
import { bearerToken as read } from '../../../src/core/security/places.ts';
import { type Authenticated, authentication } from '../../../src/core/security/requirements.ts';
import { schemesOf, tokenSchemes, type Verifiers } from '../../../src/core/security/schemes.ts';
import {
  type Authenticator,
  type AuthSettings,
  createAuthenticator,
} from '../../../src/core/security/tokens.ts';

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

describe('of any security requirements', () => {
  const names = ['token', 'oauth', 'key', 'word', 'peer'] as const;
  type Name = (typeof names)[number];
  const securitySchemes = {
    token: bearer,
    oauth: { type: 'oauth2', flows: {} },
    key: header('X-Key'),
    word: { type: 'apiKey', in: 'query', name: 'word' },
    peer: { type: 'mutualTLS' },
  };
  const NONE: readonly string[] = [];
  const SCOPED = ['a'];

  /** A credential is a text with its scopes and the schemes that accept it. */
  const credential = fc.oneof(
    fc.constant(undefined),
    fc
      .subarray(['anonymous', 'scoped', 'down', ...names])
      .map((words) => `x${words.map((word) => `.${word}`).join('')}`),
  );
  const requests = fc.record({
    authorization: fc.oneof(
      credential.map((text) => text && `Bearer ${text}`),
      fc.constantFrom('Basic xx', 'Bearer'),
    ),
    key: credential,
    word: credential,
    peer: credential,
  });
  type Sent = Readonly<Record<'authorization' | 'key' | 'word' | 'peer', string | undefined>>;
  const requirement = fc
    .tuple(fc.subarray([...names], { maxLength: 2 }), fc.constantFrom(NONE, SCOPED))
    .map(([schemes, scopes]) => Object.fromEntries(schemes.map((name) => [name, scopes])));

  const verifyText = (text: string, scopes: readonly string[], scheme: string): Caller => {
    const words = text.split('.');
    if (words.includes('down')) throw new HttpError(503, 'down');
    if (!words.includes(scheme)) throw new Unauthorized('wrong');
    if (scopes.length > 0 && !words.includes('scoped')) throw new Forbidden(scopes);
    const subject = words.includes('anonymous') ? undefined : `${scheme}: ${text}`;
    return { subject, scopes: new Set(words) };
  };
  const failing = (error: HttpError) => ({ error });
  const absent = failing(new Unauthorized('absent', false));

  /** The caller or the failure of one scheme. */
  function verified(name: Name, scopes: readonly string[], sent: Sent) {
    const isBearer = name === 'token' || name === 'oauth';
    const text = isBearer ? sent.authorization : sent[name];
    if (text === undefined || (isBearer && !text.startsWith('Bearer'))) return absent;
    if (text === 'Bearer') return failing(new Unauthorized('malformed'));
    try {
      return verifyText(text.replace('Bearer ', ''), scopes, name);
    } catch (error) {
      return failing(error as HttpError);
    }
  }

  function expected(security: Operation['security'], sent: Sent): unknown {
    const alternatives = security.map((each) =>
      Object.entries(each).map(
        ([name, scopes]) => [name, verified(name as Name, scopes, sent)] as const,
      ),
    );
    for (const results of alternatives.filter(({ length }) => length > 0)) {
      const callers = results.flatMap(([, result]) => ('error' in result ? [] : [result]));
      if (callers.length < results.length) continue;
      const caller = callers.find(({ subject }) => subject !== undefined) ?? callers[0];
      return { caller, callers: callers.length > 1 ? Object.fromEntries(results) : undefined };
    }
    const results = alternatives.flat();
    const usesAuthorization = results.some(([name]) => name === 'token' || name === 'oauth');
    const isAbsent =
      results.every(([, result]) => result === absent) &&
      !(usesAuthorization && sent.authorization !== undefined);
    const isOptional = alternatives.some(({ length }) => length === 0);
    if (security.length === 0 || (isAbsent && isOptional)) return undefined;
    const errors = results.flatMap(([, result]) => ('error' in result ? [result.error] : []));
    for (const status of [503, 403])
      if (errors.some((error) => error.status === status)) return status;
    return errors.every((error) => error === absent.error) ? 'absent' : 401;
  }

  test('the first alternative with valid credentials counts, or else the worst failure', async () => {
    const document = await documentWith(securitySchemes, { get: [] });
    const [operation] = document.operations;
    if (operation === undefined) throw new Error('the document has no operation');
    const check = async (security: Operation['security'], all: Sent[], isLate: boolean) => {
      const verify: Authenticator['verify'] = isLate
        ? async (...token) => verifyText(...token)
        : verifyText;
      const verifiers: Verifiers = {
        peer({ headers }, scopes) {
          if (headers.peer === undefined) throw absent.error;
          return verifyText(String(headers.peer), scopes, 'peer');
        },
      };
      const schemes = schemesOf(securitySchemes, { verify, reload: async () => 0 }, verifiers);
      const authenticate = authentication({ ...operation, security }, schemes, false);
      for (const sent of all) {
        const { authorization, key, word, peer } = sent;
        const headers = { authorization, 'x-key': key, peer };
        const query = word === undefined ? '' : `word=${word}`;
        const outcome = await Promise.try(authenticate, { method: 'GET', headers, query }).catch(
          ({ status, presented }) => (presented === false ? 'absent' : status),
        );
        expect(outcome).toEqual(expected(security, sent));
      }
    };
    const all = fc.array(requests, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(requirement, { maxLength: 3 }), all, fc.boolean(), check),
      randomValues(500),
    );
  });
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

    [
      'an origin whose name begins like a trusted one',
      { origin: 'https://app.example.evil.example' },
    ],
    ['an origin whose name ends like a trusted one', { origin: 'https://evilapp.example' }],
  ])('from %s is accepted for GET, HEAD and OPTIONS only', async (_page, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'])
      expect([method, await send(method, headers)]).toEqual([method, 403]);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect([method, await send(method, headers)]).toEqual([method, 'ann']);
  });

  test.each([
    ['a page of the service', { 'sec-fetch-site': 'same-origin', origin: 'https://api.example' }],

    ['a trusted origin', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['no browser', {}],
  ])('from %s is accepted', async (_page, headers) => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect([method, await send(method, headers)]).toEqual([method, 'ann']);
  });
});

test.each(['constructor', '__proto__'])(
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

const bearerToken = (authorization: string | undefined) => read({ headers: { authorization } });

describe('an Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],

    ['Bearer a-._~+/Z9==', 'a-._~+/Z9=='],
  ])('%j has the token %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  test.each([
    'Bearer',
    'Bearer\tabc',
    'Bearer abc ',
    'Bearer abc def',
    'Bearer abc,def',
    'Bearer "abc"',
    'Bearer a=b',
    'Bearer ab\u00e9',
    'Bearer abc\n',
  ])('%j is rejected as malformed', (header) => {
    expect(() => bearerToken(header)).toThrow(
      expect.objectContaining({ name: 'Unauthorized', presented: true }),
    );
  });

  test.each([undefined, '', ' Bearer abc', 'Basic xxbearerxx', 'Bearers abc', 'DPoP abc'])(
    '%j has no bearer token',
    (header) => {
      expect(bearerToken(header)).toBeUndefined();
    },
  );
});
