import { createPublicKey } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SignJWT, UnsecuredJWT } from 'jose';
import { eventually } from 'test-support/eventually';
import { type Issuer, type SigningKey, signingKey, startIssuer } from 'test-support/issuer';
import { randomValues } from 'test-support/random-values';
import { type HttpError, Unauthorized } from '../../../src/core/response/http-error.ts';
import { createJwtVerifier, type KeyTiming } from '../../../src/core/security/jwt.ts';

let issuer: Issuer;
let first: SigningKey;

beforeEach(async () => {
  first = await signingKey();
  issuer = await startIssuer(first);
});
afterEach(() => issuer.down());

const settings = () => ({
  jwksUrl: issuer.jwksUrl,
  issuer: issuer.name,
  audience: issuer.audience,
});

const minutes = 60_000;
const timing: KeyTiming = {
  timeoutDuration: 5_000,
  cooldownDuration: 0,
  pause: 0,
  refreshAfter: 10 * minutes,
  cacheMaxAge: 20 * minutes,
};

function verifier(times: Partial<KeyTiming> = {}) {
  const reports: HttpError[] = [];
  const verify = createJwtVerifier(settings(), (error) => reports.push(error), {
    ...timing,
    ...times,
  });
  return { verify, reports };
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('the call succeeded');
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWS of any header and payload, correctly signed by the first key. */
async function signed(header: object, payload: string): Promise<string> {
  const input = `${encoded(header)}.${Buffer.from(payload).toString('base64url')}`;
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    first.privateKey,
    Buffer.from(input),
  );
  return `${input}.${Buffer.from(signature).toString('base64url')}`;
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** Returns a token that is valid, apart from its header. */
const signedClaims = (header: object) => {
  const claims = { iss: issuer.name, aud: issuer.audience, exp: inSeconds(60), sub: 'ann' };
  return signed({ alg: first.alg, ...header }, JSON.stringify(claims));
};

/** Returns the subject of a token, or the message of its rejection. */
async function outcomeOf(token: string, verify = verifier().verify): Promise<string | undefined> {
  try {
    return (await verify(token)).subject;
  } catch (error) {
    expect(error).toBeInstanceOf(Unauthorized);
    return (error as Unauthorized).message;
  }
}

describe('a signed token', () => {
  test.each('RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '))(
    'is accepted with %s',
    async (alg) => {
      issuer.keys = [await signingKey(alg)];
      expect(await outcomeOf(await issuer.sign())).toBe('alice');
    },
  );

  test.each([
    [{ scope: 'plants:read  plants:write' }],
    [{ scp: 'plants:read plants:write' }],
    [{ scp: ['plants:read', 'plants:write', 7, ''] }],
  ])('has the scopes in %j', async (claims) => {
    expect(await verifier().verify(await issuer.sign(claims))).toMatchObject({
      subject: 'alice',
      scopes: new Set(['plants:read', 'plants:write']),
      claims: { sub: 'alice', ...claims },
    });
  });

  test.each([{}, { typ: 'jwt' }, { typ: 'at+jwt' }, { typ: 'application/at+JWT' }])(
    'is accepted with the type in %j',
    async (header) => expect(await outcomeOf(await signedClaims(header))).toBe('ann'),
  );

  test.each([
    ...['logout+jwt', 'dpop+jwt', 'application/jwt+x', '', { toString: 0 }, 7, ['JWT'], null].map(
      (typ) => ({ typ }),
    ),
    ...[7, null].map((kid) => ({ kid })),
    { crit: ['b64'], b64: false },
    { crit: ['x'], x: 1 },
  ])('is rejected if its header has %j', async (header) => {
    expect(await outcomeOf(await signedClaims(header))).toMatch(/^The t/);
  });

  test.each<[title: string, claims: () => object, outcome: string | undefined]>([
    ['no subject', () => ({ sub: undefined }), undefined],

    ['expired 5 seconds ago', () => ({ exp: inSeconds(-5) }), 'alice'],
    ['an expiry 15 seconds ago', () => ({ exp: inSeconds(-15) }), '"exp" claim timestamp check'],
    ['no expiry', () => ({ exp: undefined }), 'missing required "exp" claim'],

    ['an expiry in milliseconds', () => ({ exp: Date.now() + 60_000 }), 'more than 100 years'],

    ['a start in 15 seconds', () => ({ nbf: inSeconds(15) }), '"nbf" claim timestamp check'],
    ['another issuer', () => ({ iss: 'https://evil.example' }), 'unexpected "iss" claim value'],

    ['another audience', () => ({ aud: 'animals' }), 'unexpected "aud" claim value'],

    ['a number as its subject', () => ({ sub: 7 }), '"sub" claim of the token is not a string'],
  ])('with %s is accepted, or rejected with the reason', async (_title, claims, outcome) => {
    const valid = { iss: issuer.name, aud: issuer.audience, sub: 'alice', exp: inSeconds(60) };
    const token = await signed({ alg: first.alg }, JSON.stringify({ ...valid, ...claims() }));
    if (outcome === undefined) expect(await outcomeOf(token)).toBeUndefined();
    else expect(await outcomeOf(token)).toContain(outcome);
  });

  test('may have any issuer and audience if none is configured', async () => {
    const open = { jwksUrl: issuer.jwksUrl, issuer: undefined, audience: undefined };
    const verify = createJwtVerifier(open, () => undefined);
    const claims = { aud: 'animals', iss: 'https://elsewhere.example' };
    expect(await outcomeOf(await issuer.sign(claims), verify)).toBe('alice');
  });

  test('is rejected if any part is changed, or if its key is not published', async () => {
    const token = await issuer.sign({ scope: 'read' });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'root' };
    const forged = await signingKey('ES256', first.kid);
    const keys = { jwk: forged.jwk, jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' };
    const { verify } = verifier();
    for (const wrong of [
      `${header}.${encoded(claims)}.${signature}`,
      `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      `${header}.${payload}.${signature.slice(4)}`,
      await issuer.sign({ sub: 'root' }, { kid: first.kid }, forged),
      await issuer.sign({}, keys, forged),
    ]) {
      expect(await outcomeOf(wrong, verify)).toMatch(/^The token is not valid/);
    }
    expect(await outcomeOf(token, verify)).toBe('alice');
  });
});

test('tokens of another form or algorithm cause no request to the key server', async () => {
  const rsa = await signingKey('RS256');
  issuer.keys = [rsa];
  const claims = { iss: issuer.name, aud: issuer.audience, exp: inSeconds(60) };
  // A verifier that takes the published key for a secret would accept this token.
  const published = createPublicKey({ key: Object(rsa.jwk), format: 'jwk' });
  const secret = Buffer.from(published.export({ type: 'spki', format: 'pem' }));
  const symmetric = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: rsa.kid });
  const algorithms = ['none', 'None', 'HS256', 'rs256', 'RS1', 'ES256K', 'dir', '', '__proto__', 7];
  const header = encoded({ alg: 'ES256', kid: 'unknown' });
  const { verify } = verifier();
  for (const token of [
    await symmetric.sign(secret),
    new UnsecuredJWT(claims).encode(),
    ...algorithms.map((alg) => `${encoded({ alg, kid: rsa.kid })}.${encoded(claims)}.c2ln`),
    `${encoded({ kid: rsa.kid })}.${encoded(claims)}.c2ln`,
    ...['', 'opaque', 'a.b.c', '..'],
    ...['e30.', '.c2ln', 'e30', 'e30.c2ln.c2ln', 'e30.c2ln=', 'e30.c2+n', 'e30.c2ln\n'].map(
      (rest) => `${header}.${rest}`,
    ),
    ...['['.repeat(5000), 'null', '"ES256"', '["ES256"]'].map(
      (text) => `${Buffer.from(text).toString('base64url')}.e30.c2ln`,
    ),
  ]) {
    expect(await outcomeOf(token, verify)).toMatch(/^The token is not valid/);
  }
  expect(issuer.fetches).toBe(0);
});

test('a token with any header and claims is accepted or rejected, and causes no other error', async () => {
  const { verify } = verifier({ cooldownDuration: minutes });
  const json = fc.jsonValue({ maxDepth: 3 });
  const header = fc.dictionary(
    fc.constantFrom('typ', 'cty', 'x5c', 'jwk', 'zip', 'b64', 'enc', '__proto__', 'kid'),
    json,
  );
  const claims = fc.dictionary(
    fc.constantFrom('sub', 'scope', 'scp', 'iat', 'nbf', 'exp', 'iss', 'aud', '__proto__'),
    json,
  );
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(header, fc.oneof(claims, json), async (extra, payload) => {
      const valid = { iss: issuer.name, aud: issuer.audience, exp: inSeconds(60) };
      const body = JSON.stringify(
        typeof payload === 'object' && payload !== null ? { ...valid, ...payload } : payload,
      );
      const token = await signed({ kid: first.kid, ...extra, alg: first.alg }, body);
      for (const presented of [token, `${token.slice(0, -4)}AAAA`, token.replace('.', '..')]) {
        try {
          await verify(presented);
          accepted += 1;
          expect(presented).toBe(token);
        } catch (error) {
          expect(error).toBeInstanceOf(Unauthorized);
        }
      }
    }),
    randomValues(150),
  );
  expect(accepted).toBeGreaterThan(0);
});

describe('the keys', () => {
  test('are fetched once for many tokens at the same time, and then cached', async () => {
    const { verify } = verifier();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, index) => issuer.sign({ sub: `user-${index}` })),
    );
    const callers = await Promise.all(tokens.map((token) => verify(token)));
    expect(callers.map(({ subject }) => subject)).toEqual(
      tokens.map((_, index) => `user-${index}`),
    );
    await verify(await issuer.sign());
    expect(issuer.fetches).toBe(1);
  });

  test('are fetched again for a token of an unknown key, which allows rotation', async () => {
    const { verify } = verifier();
    const old = await issuer.sign();
    await verify(old);
    await issuer.rotate();
    expect(await verify(await issuer.sign())).toHaveProperty('subject', 'alice');
    expect(await errorOf(() => verify(old))).toBeInstanceOf(Unauthorized);
  });

  test('are not fetched again for a flood of unknown key ids', async () => {
    const { verify } = verifier({ cooldownDuration: minutes });
    await verify(await issuer.sign());
    const before = issuer.fetches;
    for (let index = 0; index < 100; index += 1) {
      const token = `${encoded({ alg: 'ES256', kid: `${index}` })}.e30.c2ln`;
      expect(await outcomeOf(token, verify)).toContain('no applicable key found');
    }
    expect(issuer.fetches).toBe(before);
  });

  test('that are not asymmetric signing keys are ignored', async () => {
    const { verify } = verifier();
    const { jwk } = first;
    issuer.keys = [
      { ...first, jwk: { kty: 'oct', k: 'c2VjcmV0', kid: first.kid } },
      { ...first, jwk: { ...jwk, use: 'enc' } },
      { ...first, jwk: { kty: 'unheard-of', kid: first.kid } },
      first,
    ];
    expect(await verify(await issuer.sign())).toHaveProperty('subject', 'alice');
  });
});

describe('a key server', () => {
  test.each<[string, Issuer['answer'] | 'down', RegExp]>([
    ['that is down', 'down', /ECONNREFUSED/],
    ['that answers 500', (response) => response.writeHead(500).end('{"keys":[]}'), /status 500/],
    [
      'that redirects',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /status 302/,
    ],
    ['that answers HTML', (response) => response.end('<html>hush</html>'), /not JSON/],

    ['that has no keys', (response) => response.end('{"keys":[]}'), /no key for signatures/],

    ['that never answers', () => {}, /timeout/],
    ['that never ends its answer', (response) => response.write('{"keys":['), /timeout/],
  ])(
    '%s causes a 503 for signed tokens, with the reason in the log',
    async (_title, answer, reason) => {
      const { verify, reports } = verifier({
        timeoutDuration: reason.source.includes('timeout') ? 200 : timing.timeoutDuration,
      });
      const token = await issuer.sign();
      if (answer === 'down') await issuer.down();
      else issuer.answer = answer;
      const error = await errorOf(() => verify(token));
      expect(error).toMatchObject({ name: 'HttpError', status: 503 });
      expect(error).toMatchObject({
        headers: { 'Retry-After': 1 },
        cause: { message: expect.stringMatching(reason) },
      });
      expect(reports).toEqual([error]);
      expect(inspect(error)).not.toContain('hush');
      expect(String(error)).not.toContain('127.0.0.1');

      await issuer.up();
      issuer.answer = undefined;
      // On a busy machine, a fetch may take longer than the shorter time limit.
      await eventually(async () => {
        expect(await verify(token)).toHaveProperty('subject', 'alice');
      });
    },
  );

  test('that is down causes a 503 for unknown keys, and still a 401 for forged tokens', async () => {
    const { verify } = verifier();
    await verify(await issuer.sign());
    await issuer.down();
    const stranger = await signingKey();
    const unknown = await issuer.sign({}, {}, stranger);
    const forged = await issuer.sign({}, { kid: first.kid }, stranger);
    expect(await errorOf(() => verify(unknown))).toMatchObject({ name: 'HttpError', status: 503 });
    expect(await errorOf(() => verify(forged))).toMatchObject({
      message: 'The token is not valid: signature verification failed',
    });
  });

  test('that is down when the keys are old is reported; the keys remain valid until their maximum age', async () => {
    const { verify, reports } = verifier({ refreshAfter: -1 });
    await verify(await issuer.sign());
    await issuer.down();
    expect(await verify(await issuer.sign())).toHaveProperty('subject', 'alice');
    await eventually(() => reports.length === 1);

    const strict = verifier({ cacheMaxAge: 0 });
    await issuer.up();
    await strict.verify(await issuer.sign());
    await issuer.down();
    const token = await issuer.sign();
    expect(await errorOf(() => strict.verify(token))).toMatchObject({
      name: 'HttpError',
      status: 503,
    });
  });

  test('that is up again after an outage is asked for its keys, so withdrawn keys are rejected', async () => {
    const { verify, reports } = verifier({ refreshAfter: -1, cooldownDuration: minutes });
    const old = await issuer.sign();
    await verify(old);
    await issuer.down();
    await verify(old);
    await eventually(() => reports.length === 1);
    await issuer.up();
    const before = issuer.fetches;
    await eventually(async () => (await verify(old)) && issuer.fetches > before);
    await issuer.rotate();
    await eventually(
      async () => (await verify(old).catch((error: unknown) => error)) instanceof Unauthorized,
    );
  });

  test('that sends more than 1 MiB has its connection closed', async () => {
    const { verify, reports } = verifier({ timeoutDuration: 60_000 });
    const token = await issuer.sign();
    const chunk = Buffer.alloc(65_536, ' ');
    let sent = 0;
    const closed = new Promise((resolve) => {
      issuer.answer = (response) => {
        const write = () => {
          sent += chunk.length;
          if (!response.destroyed) response.write(chunk, () => setImmediate(write));
        };
        response.on('close', resolve).on('error', () => undefined);
        response.writeHead(200, { 'Content-Type': 'application/json' });
        write();
      };
    });
    expect(await errorOf(() => verify(token))).toMatchObject({ name: 'HttpError', status: 503 });
    await closed;
    expect(sent).toBeLessThan(16 * 1024 ** 2);
    expect(inspect(reports)).toContain('more than 1048576 characters');
  });

  test('that fails gets no request during a pause, whose length clients get as Retry-After', async () => {
    const { verify, reports } = verifier({ pause: 2_000 });
    issuer.answer = (response) => response.writeHead(500).end();
    const before = issuer.fetches;
    const token = await issuer.sign();
    const errors = await Promise.all(
      Array.from({ length: 50 }, () => errorOf(() => verify(token))),
    );
    errors.push(await errorOf(() => verify(token)));
    for (const error of errors) {
      expect(error).toMatchObject({ name: 'HttpError', status: 503 });
      expect(error).toMatchObject({ headers: { 'Retry-After': 2 } });
    }
    expect(issuer.fetches).toBe(before + 1);
    expect(reports).toHaveLength(1);
  });

  test('that publishes an unusable key causes a 503 until it publishes a correct one', async () => {
    const { verify } = verifier({ refreshAfter: -1 });
    const token = await issuer.sign();
    issuer.keys = [{ ...first, jwk: { ...first.jwk, x: 'AAAA' } }];
    const error = await errorOf(() => verify(token));
    expect(error).toMatchObject({ name: 'HttpError', status: 503 });
    expect(error).toMatchObject({ cause: expect.anything() });
    issuer.keys = [first];
    await eventually(async () => (await verify(token).catch(() => undefined)) !== undefined);
  });
});

test('no error contains the token, a part of it or a claim', async () => {
  const { verify } = verifier();
  const stranger = await signingKey();
  const secret = 'hush-hush';
  const tokens = [
    await issuer.sign({ sub: secret, exp: inSeconds(-60) }),
    await issuer.sign({ sub: secret, nbf: inSeconds(60) }),
    await issuer.sign({ sub: secret, iss: secret }),
    await issuer.sign({ sub: secret, aud: secret }),
    await issuer.sign({ sub: secret }, { kid: secret }),
    await issuer.sign({ sub: secret }, { kid: first.kid }, stranger),
    `${encoded({ alg: secret })}.e30.c2ln`,
    secret,
  ];
  for (const token of tokens) {
    const error = await errorOf(() => verify(token));
    expect(error).toBeInstanceOf(Unauthorized);
    const printed = inspect(error, { depth: Infinity, showHidden: true });
    for (const part of [secret, token, ...token.split('.')]) expect(printed).not.toContain(part);
  }
});

describe('the address of the keys of signed tokens', () => {
  const withKeysAt = (url: string) => () =>
    createJwtVerifier(
      { jwksUrl: new URL(url), issuer: undefined, audience: undefined },
      () => undefined,
    );

  test.each([
    'https://issuer.example/jwks.json',
    'http://localhost:8080/jwks.json',
    'http://issuer.localhost/jwks.json',
    'http://127.0.0.1/jwks.json',
    'http://127.1/jwks.json',
    'http://[::1]:8080/jwks.json',
  ])('may be %s', (url) => {
    expect(withKeysAt(url)).not.toThrow();
  });

  test.each([
    'http://issuer.example/jwks.json',
    'http://127.0.0.1.example/jwks.json',
    'http://localhost.example/jwks.json',
    'http://evillocalhost/jwks.json',
    'http://1127.0.0.1.example/jwks.json',
    'http://10.0.0.1/jwks.json',
    'file:///etc/jwks.json',
    'ftp://localhost/jwks.json',
  ])('cannot be %s', (url) => {
    expect(withKeysAt(url)).toThrow(/^JWKS_URL must start with https:.*, got \w+:\/\/[^/]*$/);
  });

  test.each(['us3r:pa55@', 'us3r@', ':pa55@'])(
    'cannot contain credentials such as %s; the message does not contain them',
    async (credentials) => {
      const error = await errorOf(withKeysAt(`https://${credentials}issuer.example/`));
      expect(String(error)).toMatch(/no user name or password, got https:..issuer.example$/);
      expect(inspect(error)).not.toMatch(/us3r|pa55/);
    },
  );
});
