import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SILENT } from '../../../src/core/access-log.ts';
import type { Caller } from '../../../src/core/handlers/types.ts';
import { Forbidden, Unauthorized } from '../../../src/core/response/http-error.ts';
import {
  type AuthSettings,
  createAuthenticator,
  randomToken,
} from '../../../src/core/security/tokens.ts';

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');

async function authenticatorOf(settings: AuthSettings) {
  const { verify, reload } = await createAuthenticator(settings, new Map([['bearerAuth', true]]));
  return {
    verify: (token: string, scopes: readonly string[]) => verify(token, scopes, 'bearerAuth'),
    reload,
  };
}

/** The caller of a static token without options. */
const ANONYMOUS: Caller = { subject: undefined, scopes: new Set() };

function rejectionOf(action: () => unknown): Unauthorized {
  try {
    action();
  } catch (error) {
    if (error instanceof Unauthorized) return error;
    throw error;
  }
  throw new Error('the token was accepted');
}

describe('an access token', () => {
  test('has only the scopes of its entry', async () => {
    const digest = sha256('hidden');
    const auth = await authenticatorOf({
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

  test.each([[['one', '2nd:two']], [['one', `2nd:sha256:${sha256('two')}`]]])(
    'is accepted in any order of requests, and only as a whole: %j',
    async (accessTokens) => {
      const auth = await authenticatorOf({ accessTokens });
      for (const token of ['one', 'two', 'one', 'one', 'two'])
        expect(auth.verify(token, [])).toMatchObject({
          subject: token === 'two' ? '2nd' : undefined,
        });
      for (const token of ['on', 'onee', 'ono', 'one\u0000', '\u016fne', '']) {
        expect(() => auth.verify(token, [])).toThrow(Unauthorized);
      }
    },
  );

  test('may be surrounded by spaces, repeated, and mixed with empty entries', async () => {
    const auth = await authenticatorOf({
      accessTokens: [' one ', '', 'one', `\tsha256:${sha256('two').toUpperCase()}`, ' '],
    });
    expect(auth.verify('one', [])).toEqual(ANONYMOUS);
    expect(auth.verify('two', [])).toEqual(ANONYMOUS);
    expect(() => auth.verify('', [])).toThrow(Unauthorized);
    expect(() => auth.verify(' one ', [])).toThrow(Unauthorized);
    expect(await auth.reload()).toBe(2);
  });

  test('may have at most 8192 characters', async () => {
    const longest = 'a'.repeat(8192);
    const auth = await authenticatorOf({ accessTokens: [longest] });
    expect(auth.verify(longest, [])).toEqual(ANONYMOUS);
    expect(rejectionOf(() => auth.verify(`${longest}a`, [])).message).toContain('8192');
  });

  test.each([
    ['two words', 'two words'],
    ['an unknown option', 'secret role=admin'],

    ['two schemes', 'secret scheme=bearerAuth scheme=bearerAuth'],

    ['a comma', 'sec,ret'],
    ['a name alone', 'robot:'],

    ['quotes', '"secret"'],
    ['a letter beyond ASCII', 'sécret'],

    ['a digest too short', `sha256:${sha256('secret').slice(1)}`],
  ])(
    'configured as %s stops the start; the error names its position, not the token',
    async (_what, entry) => {
      const error = await authenticatorOf({ accessTokens: ['fine', '', entry] }).catch(
        (cause: unknown) => cause,
      );
      expect(String(error)).toMatch(
        /^ConfigError: ACCESS_TOKENS: entry 3 must be a token .* or "sha256:" and 64 hex digits, .*scheme=… and scope=… after it$/,
      );
      expect(inspect(error)).not.toContain(entry);
    },
  );

  test('that is generated has 256 random bits, and only letters, digits, - and _', async () => {
    const tokens = Array.from({ length: 100 }, randomToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) {
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
      expect(token).toMatch(/^[\w-]{43}$/);
    }
  });
});

describe('tokens of several security schemes', () => {
  const schemes = new Map([
    ['bearerAuth', true],
    ['pspKey', false],
  ]);
  const create = (settings: AuthSettings) => createAuthenticator(settings, schemes);

  test('are accepted for all schemes with scheme=*, with the scopes of their entry', async () => {
    const { verify } = await create({ accessTokens: ['ann:one scheme=* scope=a'] });
    for (const scheme of schemes.keys()) {
      expect(verify('one', ['a'], scheme)).toEqual({ subject: 'ann', scopes: new Set(['a']) });
      expect(() => verify('one', ['b'], scheme)).toThrow(Forbidden);
    }
    expect(() => verify('one', [], 'other')).toThrow(Unauthorized);
  });

  test.each([
    ['names no scheme', 'secret', 'add scheme=bearerAuth or scheme=pspKey after the token'],
    ['names another scheme', 'secret scheme=basic', 'that take tokens: bearerAuth, pspKey'],
    [
      'repeats a token with another name',
      'ann:first scheme=pspKey',
      'repeats a token with another name or other scopes',
    ],
  ])('stop the start if an entry %s', async (_what, entry, reason) => {
    const accessTokens = ['first scheme=pspKey', entry];
    const error = await create({ accessTokens }).catch((cause: unknown) => cause);
    expect(String(error)).toMatch(/^ConfigError: ACCESS_TOKENS: entry 2 [^\n]+$/);
    expect(String(error)).toContain(reason);
    expect(inspect(error)).not.toContain('secret');
  });

  test('that are signed need a scheme that accepts them', async () => {
    const jwt = { jwksUrl: new URL('https://a.example/'), issuer: undefined, audience: undefined };
    await expect(createAuthenticator({ jwt }, new Map([['pspKey', false]]))).rejects.toThrow(
      'JWKS_URL is set, but no security scheme of the document takes signed tokens',
    );
    await expect(createAuthenticator({ jwt }, new Map())).resolves.toBeDefined();
    const accessTokens = ['one'];
    await expect(
      createAuthenticator({ accessTokens }, new Map([['pspKey', false]])),
    ).resolves.toBeDefined();
  });
});

test('scopes that the document does not have are reported with the position of their entry', async () => {
  const messages: string[] = [];
  await createAuthenticator(
    { accessTokens: ['one scope=read', 'two scope=raed scope=read'] },
    new Map([['bearerAuth', true]]),
    { ...SILENT, warn: (message: unknown) => void messages.push(String(message)) },
    new Set(['read']),
  );
  expect(messages).toEqual([
    'ACCESS_TOKENS: entry 2 has the scope raed, which the document does not have: check its spelling',
  ]);
});

describe('a file of access tokens', () => {
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokens-'));
    file = join(folder, 'tokens');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has one entry per line, and may have comments, empty lines, CR LF and a byte order mark', async () => {
    await writeFile(
      file,
      `\uFEFF# people\r\none\r\n\r\n  2:two  # a robot\n3:sha256:${sha256('three')}\t#x\r4:four`,
    );
    const auth = await authenticatorOf({ accessTokens: ['5:five'], accessTokensFile: file });
    for (const [index, token] of ['one', 'two', 'three', 'four', 'five'].entries()) {
      const subject = index === 0 ? undefined : String(index + 1);
      expect(auth.verify(token, [])).toEqual({ subject, scopes: new Set() });
    }
    expect(await auth.reload()).toBe(5);
  });

  test('that is reloaded replaces the previous tokens, also those that were accepted before', async () => {
    await writeFile(file, 'old\nkept\n');
    const auth = await authenticatorOf({ accessTokensFile: file });
    for (const token of ['old', 'kept']) expect(auth.verify(token, [])).toEqual(ANONYMOUS);
    await writeFile(file, 'new\nkept\n');
    expect(await auth.reload()).toBe(2);
    for (const token of ['new', 'kept']) expect(auth.verify(token, [])).toEqual(ANONYMOUS);
    expect(() => auth.verify('old', [])).toThrow(Unauthorized);
  });

  test('that is empty when it is reloaded leaves the previous tokens valid', async () => {
    for (const accessTokens of [[], ['fixed']]) {
      await writeFile(file, 'old\n');
      const auth = await authenticatorOf({ accessTokens, accessTokensFile: file });
      await writeFile(file, '# none\n');
      for (const _time of [1, 2]) {
        await expect(auth.reload()).rejects.toThrow(
          'ACCESS_TOKENS_FILE no longer contains a token',
        );
        expect(auth.verify('old', [])).toEqual(ANONYMOUS);
      }
    }
  });

  test('that is missing, a folder or empty stops the start; the error contains no path that may be a token', async () => {
    await expect(authenticatorOf({ accessTokensFile: folder })).rejects.toThrow(
      `ACCESS_TOKENS_FILE cannot be read (EISDIR): ${folder}`,
    );
    await writeFile(file, '\n# none\n');
    await expect(authenticatorOf({ accessTokensFile: file })).rejects.toThrow(
      'ACCESS_TOKENS_FILE contains no token',
    );
    const token = randomToken();
    const error = await authenticatorOf({ accessTokensFile: token }).catch(
      (cause: unknown) => cause,
    );
    expect(String(error)).toContain(`cannot be read (ENOENT): relative to ${process.cwd()}`);
    expect(inspect(error)).not.toContain(token);
  });
});
