import { expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/core/security/config-error.ts';
import { createJwtVerifier } from '../../../src/core/security/jwt.ts';
import { createAuthenticator } from '../../../src/core/security/tokens.ts';
import { explain } from '../../../src/serve/terminal.ts';

const jwt = { jwksUrl: new URL('http://a.example/'), issuer: undefined, audience: undefined };

test.each<[string, () => unknown]>([
  ['tokens', () => createAuthenticator({ accessTokens: ['a b'] }, new Map())],
  [
    'a file of tokens',
    () => createAuthenticator({ accessTokensFile: '/does-not/exist' }, new Map()),
  ],
  ['the keys of signed tokens', () => createJwtVerifier(jwt, () => undefined)],
])('an error in the configuration of %s is one line without a stack', async (_title, create) => {
  const error = await Promise.try(create).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ConfigError);
  expect(explain(error)).toMatch(/^(ACCESS_TOKENS|ACCESS_TOKENS_FILE|JWKS_URL)\b[^\n]+$/);
});
