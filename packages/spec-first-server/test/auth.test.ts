import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Caller } from '../src/core/handlers/types.ts';
import { Forbidden, Unauthorized } from '../src/core/response/http-error.ts';
import { bearerToken as read } from '../src/core/security/schemes.ts';
import {
  type AuthSettings,
  createAuthenticator,
  randomToken,
} from '../src/core/security/tokens.ts';

const bearerToken = (authorization: string | undefined) => read({ headers: { authorization } });

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');

/** Creates the authenticator of a document with one security scheme. */
async function accepting(settings: AuthSettings) {
  const { verify, reload } = await createAuthenticator(settings, new Map([['bearerAuth', true]]));
  return {
    verify: (token: string, scopes: readonly string[]) => verify(token, scopes, 'bearerAuth'),
    reload,
  };
}

/** The caller that a static token without options has. */
const nobody: Caller = { subject: undefined, scopes: new Set() };

function rejectionOf(action: () => unknown): Unauthorized {
  try {
    action();
  } catch (error) {
    if (error instanceof Unauthorized) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('an Authorization header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc', 'abc'],
    ['Bearer   abc', 'abc'],
    ['Bearer a-._~+/Z9==', 'a-._~+/Z9=='],
  ])('%j holds the token %j', (header, token) => {
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
    expect(rejectionOf(() => bearerToken(header)).presented).toBe(true);
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
  ])('%j holds no bearer token', (header) => {
    expect(bearerToken(header)).toBeUndefined();
  });

  test('of any text gives a b64token, nothing, or an error that does not repeat it', () => {
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
    );
  });
});

describe('an access token', () => {
  test('is accepted in plain text and by its digest, without scopes and without a subject', async () => {
    const auth = await accepting({ accessTokens: ['plain', `sha256:${sha256('hidden')}`] });
    for (const token of ['plain', 'hidden']) {
      expect(auth.verify(token, [])).toEqual(nobody);
      expect(() => auth.verify(token, ['plants:write'])).toThrow(Forbidden);
    }
  });

  test('has the scopes that its entry names, and no others', async () => {
    const digest = sha256('hidden');
    const auth = await accepting({
      accessTokens: [
        'reader:one scope=plants:read',
        `writer:sha256:${digest}  scope=plants:read\tscope=plants:write `,
      ],
    });
    const read = ['plants:read'];
    const both = ['plants:read', 'plants:write'];
    expect(auth.verify('one', read)).toEqual({ subject: 'reader', scopes: new Set(read) });
    expect(auth.verify('hidden', both)).toEqual({ subject: 'writer', scopes: new Set(both) });
    expect(() => auth.verify('one', both)).toThrow(Forbidden);
    expect(() => auth.verify('hidden', ['plants:delete'])).toThrow(Forbidden);
  });

  test('has the name before it as its subject', async () => {
    const auth = await accepting({
      accessTokens: ['robot:plain', `a.b@c-d:sha256:${sha256('hidden')}`, 'nameless'],
    });
    for (const [token, subject] of Object.entries({
      plain: 'robot',
      hidden: 'a.b@c-d',
      nameless: undefined,
    })) {
      expect(auth.verify(token, [])).toEqual({ subject, scopes: new Set() });
    }
    for (const token of ['robot:plain', 'robot', 'hidden:'])
      expect(() => auth.verify(token, [])).toThrow(Unauthorized);
  });

  test.each([[['one', '2nd:two']], [['one', `2nd:sha256:${sha256('two')}`]]])(
    'is accepted beside others in any order, and only whole: %j',
    async (accessTokens) => {
      const auth = await accepting({ accessTokens });
      for (const token of ['one', 'two', 'one', 'one', 'two'])
        expect(auth.verify(token, [])).toMatchObject({
          subject: token === 'two' ? '2nd' : undefined,
        });
      for (const token of ['on', 'onee', 'ono', 'one\u0000', '\u016fne', '']) {
        expect(() => auth.verify(token, [])).toThrow(Unauthorized);
      }
    },
  );

  test('is rejected when it differs by case, length or one letter, or is a digest itself', async () => {
    const digest = sha256('hidden');
    const auth = await accepting({ accessTokens: ['plain', `sha256:${digest}`] });
    for (const token of ['', 'plai', 'plain=', 'PLAIN', 'plaim', digest, `sha256:${digest}`]) {
      expect(rejectionOf(() => auth.verify(token, [])).presented).toBe(true);
    }
  });

  test('may have spaces around it, stand twice, and stand beside empty entries', async () => {
    const auth = await accepting({
      accessTokens: [' one ', '', 'one', `\tsha256:${sha256('two').toUpperCase()}`, ' '],
    });
    expect(auth.verify('one', [])).toEqual(nobody);
    expect(auth.verify('two', [])).toEqual(nobody);
    expect(() => auth.verify('', [])).toThrow(Unauthorized);
    expect(() => auth.verify(' one ', [])).toThrow(Unauthorized);
    expect(await auth.reload()).toBe(2);
  });

  test('longer than 8192 characters is rejected, one of that length is not', async () => {
    const longest = 'a'.repeat(8192);
    const auth = await accepting({ accessTokens: [longest] });
    expect(auth.verify(longest, [])).toEqual(nobody);
    expect(rejectionOf(() => auth.verify(`${longest}a`, [])).message).toContain('8192');
  });

  test('is rejected when none is configured', async () => {
    const auth = await accepting({});
    fc.assert(
      fc.property(fc.string(), (token) =>
        expect(() => auth.verify(token, [])).toThrow(Unauthorized),
      ),
    );
  });

  test.each([
    ['two words', 'two words'],
    ['an unknown option', 'secret role=admin'],
    ['two schemes', 'secret scheme=bearerAuth scheme=bearerAuth'],
    ['an empty scope', 'secret scope='],
    ['a comma', 'sec,ret'],
    ['a name alone', 'robot:'],
    ['a name with a space', 'my robot:secret'],
    ['a digest of another length under a name', `robot:sha256:${sha256('secret')}0`],
    ['quotes', '"secret"'],
    ['a letter beyond ASCII', 'sécret'],
    ['a leading =', '=secret'],
    ['a digest that is none', 'sha256:secret'],
    ['a digest too short', `sha256:${sha256('secret').slice(1)}`],
    ['a digest too long', `sha256:${sha256('secret')}0`],
    ['another digest', `sha512:${sha256('secret')}`],
    ['more than can be presented', 'secret'.repeat(2000)],
  ])('configured as %s stops the start with its position and not itself', async (_what, entry) => {
    const error = await accepting({ accessTokens: ['fine', '', entry] }).catch(
      (cause: unknown) => cause,
    );
    expect(String(error)).toMatch(
      /^Error: ACCESS_TOKENS: entry 3 must be a token .* or "sha256:" and 64 hex digits, .*scheme=… and scope=… after it$/,
    );
    expect(inspect(error)).not.toContain(entry);
  });

  test('made at random has 256 bits, differs each time and fits the header', async () => {
    const tokens = Array.from({ length: 100 }, randomToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) {
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
      expect(bearerToken(`Bearer ${token}`)).toBe(token);
    }
  });
});

describe('tokens of several security schemes', () => {
  const schemes = new Map([
    ['bearerAuth', true],
    ['pspKey', false],
  ]);
  const create = (settings: AuthSettings) => createAuthenticator(settings, schemes);
  const digest = sha256('hidden');

  test('are accepted for their own scheme only', async () => {
    const { verify } = await create({
      accessTokens: ['ann:one scheme=bearerAuth scope=a', `psp:sha256:${digest} scheme=pspKey`],
    });
    expect(verify('one', ['a'], 'bearerAuth')).toEqual({ subject: 'ann', scopes: new Set(['a']) });
    expect(verify('hidden', [], 'pspKey')).toEqual({ subject: 'psp', scopes: new Set() });
    for (const _time of ['first', 'remembered']) {
      expect(() => verify('one', [], 'pspKey')).toThrow(Unauthorized);
      expect(() => verify('hidden', [], 'bearerAuth')).toThrow(Unauthorized);
      expect(() => verify('one', [], 'other')).toThrow(Unauthorized);
    }
  });

  test('may be one token with other names', async () => {
    const { verify } = await create({
      accessTokens: ['ann:one scheme=bearerAuth', 'bob:one scheme=pspKey'],
    });
    expect(verify('one', [], 'bearerAuth')).toMatchObject({ subject: 'ann' });
    expect(verify('one', [], 'pspKey')).toMatchObject({ subject: 'bob' });
  });

  test('are accepted for each scheme with scheme=*, but only with their own scopes', async () => {
    const { verify } = await create({ accessTokens: ['ann:one scheme=* scope=a'] });
    for (const scheme of schemes.keys()) {
      expect(verify('one', ['a'], scheme)).toEqual({ subject: 'ann', scopes: new Set(['a']) });
      expect(() => verify('one', ['b'], scheme)).toThrow(Forbidden);
    }
    expect(() => verify('one', [], 'other')).toThrow(Unauthorized);
  });

  test('made for development are accepted for each scheme, with all scopes', async () => {
    const { verify } = await create({ developmentToken: 'dev' });
    for (const scheme of schemes.keys())
      expect(verify('dev', ['a'], scheme)).toEqual({ subject: undefined, scopes: 'all' });
    expect(() => verify('dev', [], 'other')).toThrow(Unauthorized);
  });

  test.each([
    ['names no scheme', 'secret', 'add scheme=bearerAuth or scheme=pspKey after the token'],
    ['names another scheme', 'secret scheme=basic', 'that take tokens: bearerAuth, pspKey'],
    [
      'repeats a token with another name',
      'ann:first scheme=pspKey',
      'repeats a token with another name or other scopes',
    ],
    [
      'repeats a token with other scopes',
      'first scheme=pspKey scope=a',
      'repeats a token with another name or other scopes',
    ],
  ])('stop the start if an entry %s', async (_what, entry, reason) => {
    const accessTokens = ['first scheme=pspKey', entry];
    const error = await create({ accessTokens }).catch((cause: unknown) => cause);
    expect(String(error)).toMatch(/^Error: ACCESS_TOKENS: entry 2 [^\n]+$/);
    expect(String(error)).toContain(reason);
    expect(inspect(error)).not.toContain('secret');
  });

  test('that are signed need a scheme that takes them', async () => {
    const jwt = { jwksUrl: new URL('https://a.example/'), issuer: undefined, audience: undefined };
    await expect(createAuthenticator({ jwt }, new Map([['pspKey', false]]))).rejects.toThrow(
      'JWKS_URL is set, but no security scheme of the document takes signed tokens',
    );
    await expect(createAuthenticator({ jwt }, new Map())).resolves.toBeDefined();
  });
});

describe('a file of access tokens', () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokens-'));
    file = join(folder, 'tokens');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has one entry a line, with comments, empty lines, any line ends and a byte order mark', async () => {
    await writeFile(
      file,
      `\uFEFF# ours\r\none\r\n\r\n  2:two  # of the robot\n3:sha256:${sha256('three')}\t#x\r4:four`,
    );
    const auth = await accepting({ accessTokens: ['5:five'], accessTokensFile: file });
    for (const [index, token] of ['one', 'two', 'three', 'four', 'five'].entries()) {
      const subject = index === 0 ? undefined : String(index + 1);
      expect(auth.verify(token, [])).toEqual({ subject, scopes: new Set() });
    }
    expect(await auth.reload()).toBe(5);
  });

  test('is read again: removed tokens are rejected, added ones accepted, ACCESS_TOKENS stay', async () => {
    await writeFile(file, 'old\n');
    const auth = await accepting({ accessTokens: ['fixed'], accessTokensFile: file });
    await writeFile(file, 'new\n');
    expect(auth.verify('old', [])).toEqual(nobody);
    await auth.reload();
    expect(() => auth.verify('old', [])).toThrow(Unauthorized);
    expect(auth.verify('new', [])).toEqual(nobody);
    expect(auth.verify('fixed', [])).toEqual(nobody);
  });

  test('read again as empty keeps the former tokens, also beside those of ACCESS_TOKENS', async () => {
    for (const accessTokens of [[], ['fixed']]) {
      await writeFile(file, 'old\n');
      const auth = await accepting({ accessTokens, accessTokensFile: file });
      await writeFile(file, '# none\n');
      for (const _time of [1, 2]) {
        await expect(auth.reload()).rejects.toThrow(
          'ACCESS_TOKENS_FILE no longer contains a token',
        );
        expect(auth.verify('old', [])).toEqual(nobody);
      }
    }
  });

  test('read again with a wrong line names the line, not the token, and leaves the tokens as they were', async () => {
    await writeFile(file, 'old\n');
    const auth = await accepting({ accessTokensFile: file });
    await writeFile(file, '# new\nnew\n\nmy secret\n');
    const error = await auth.reload().catch((cause: unknown) => cause);
    expect(String(error)).toMatch(/^Error: ACCESS_TOKENS_FILE: line 4 must be a token/);
    expect(inspect(error)).not.toContain('my secret');
    expect(auth.verify('old', [])).toEqual(nobody);
    expect(() => auth.verify('new', [])).toThrow(Unauthorized);

    await rm(file);
    await expect(auth.reload()).rejects.toThrow('ACCESS_TOKENS_FILE cannot be read (ENOENT)');
    expect(auth.verify('old', [])).toEqual(nobody);

    await writeFile(file, 'new\n');
    expect(await auth.reload()).toBe(1);
  });

  test('that is missing, a folder or empty stops the start, and a token in place of the path is not repeated', async () => {
    await expect(accepting({ accessTokensFile: folder })).rejects.toThrow(
      'ACCESS_TOKENS_FILE cannot be read (EISDIR)',
    );
    await writeFile(file, '\n# none\n');
    await expect(accepting({ accessTokensFile: file })).rejects.toThrow(
      'ACCESS_TOKENS_FILE contains no token',
    );
    const token = randomToken();
    const error = await accepting({ accessTokensFile: token }).catch((cause: unknown) => cause);
    expect(String(error)).toContain(`cannot be read (ENOENT, relative to ${process.cwd()})`);
    expect(inspect(error)).not.toContain(token);
  });
});

describe('the address of the keys of signed tokens', () => {
  const withKeysAt = (url: string) =>
    accepting({ jwt: { jwksUrl: new URL(url), issuer: undefined, audience: undefined } });

  test.each([
    'https://issuer.example/jwks.json',
    'http://localhost:8080/jwks.json',
    'http://issuer.localhost/jwks.json',
    'http://127.0.0.1/jwks.json',
    'http://127.1/jwks.json',
    'http://[::1]:8080/jwks.json',
  ])('may be %s', async (url) => {
    await expect(withKeysAt(url)).resolves.toBeDefined();
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
  ])('cannot be %s', async (url) => {
    await expect(withKeysAt(url)).rejects.toThrow(
      /^JWKS_URL is a \w+: address.* must start with https:/,
    );
  });

  test.each(['us3r:pa55@', 'us3r@', ':pa55@'])(
    'cannot hold credentials as in %s, and the message does not repeat them',
    async (credentials) => {
      const error = await withKeysAt(`https://${credentials}issuer.example/`).catch(
        (cause: unknown) => cause,
      );
      expect(String(error)).toContain(
        'JWKS_URL contains a user name or a password for issuer.example',
      );
      expect(inspect(error)).not.toMatch(/us3r|pa55/);
    },
  );
});
