import { describe, expect, test } from '@jest/globals';
import { insufficientSecrets, secretsFor } from '../../src/contract-tests/credentials.ts';
import { documentOf, operationIn } from './test-data.ts';

const keyIn = (where: string) => ({ type: 'apiKey', in: where, name: 'X-Key' });
const schemes = {
  basic: { type: 'http', scheme: 'Basic' },
  bearer: { type: 'http', scheme: 'bearer' },
  upper: { type: 'http', scheme: 'BEARER' },
  custom: { type: 'http', scheme: 'X-Bearer' },
  other: { type: 'http', scheme: 'bearer-2' },
  oauth: { type: 'oauth2', flows: {} },
  certificate: { type: 'mutualTLS' },
  openid: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example' },
  header: keyIn('header'),
  query: keyIn('query'),
  cookie: keyIn('cookie'),
  lower: { ...keyIn('header'), name: 'x-key' },
  client: { ...keyIn('header'), name: 'X-Client' },
};

async function secured(security: readonly object[], securitySchemes: object = schemes) {
  const get = { operationId: 'get', security, responses: { '204': { description: 'Done.' } } };
  const document = await documentOf({ paths: { '/a': { get } }, components: { securitySchemes } });
  return { document, operation: operationIn(document, 'get') };
}

const AUTHORIZATION = { in: 'header', name: 'Authorization' };

describe('a secret', () => {
  test.each([
    ['basic', 'ada:x', AUTHORIZATION, (text: string) => `Basic ${btoa(text)}`],
    ['bearer', 'a.b.c', AUTHORIZATION, (text: string) => `Bearer ${text}`],
    ['upper', 'x', AUTHORIZATION, (text: string) => `Bearer ${text}`],
    ['custom', 'x', AUTHORIZATION, (text: string) => `X-Bearer ${text}`],
    ['other', 'x', AUTHORIZATION, (text: string) => `bearer-2 ${text}`],
    ['oauth', 'x', AUTHORIZATION, (text: string) => `Bearer ${text}`],
    ['openid', 'x', AUTHORIZATION, (text: string) => `Bearer ${text}`],
    ['header', 'x', { in: 'header', name: 'X-Key' }, (text: string) => text],
    ['query', 'x', { in: 'query', name: 'X-Key' }, (text: string) => text],
    ['cookie', 'x', { in: 'cookie', name: 'X-Key' }, (text: string) => text],
  ])(
    'of the scheme %s with the credential %s is sent as the scheme declares',
    async (scheme, text, place, format) => {
      const { document, operation } = await secured([{ [scheme]: [] }]);
      const user = scheme === 'basic' ? 'user:' : '';
      const placeholder = format(`${user}TOKEN`);
      const wrong = format(`${scheme === 'basic' ? 'ada:' : ''}wrong-credential`);
      const shown = format(`${user}wrong-credential`);
      for (const source of [{ [scheme]: text }, text]) {
        const secrets = secretsFor(document, operation, source);
        expect(secrets).toEqual([{ scheme, ...place, value: format(text), placeholder }]);
        const wrongSecrets = [{ scheme, ...place, value: wrong, placeholder: shown }];
        expect(insufficientSecrets(document, operation, secrets, source)).toEqual([
          { label: 'without credentials', secrets: [] },
          { label: 'with wrong credentials', secrets: wrongSecrets },
        ]);
      }
    },
  );

  test.each([
    ['x', btoa('user:x')],
    ['ada:ä€', 'YWRhOsOk4oKs'],
  ])('of HTTP Basic has a user, and is UTF-8: %s', async (text, value) => {
    const { document, operation } = await secured([{ basic: [] }]);
    expect(secretsFor(document, operation, text)).toMatchObject([{ value: `Basic ${value}` }]);
  });
});

describe('the secrets of an operation', () => {
  test.each([
    ['the first possible requirement', [{ basic: [] }, { header: [] }, { query: [] }], ['header']],
    ['all schemes of a requirement', [{ query: [], header: [] }], ['query', 'header']],
    ['a scheme rather than none', [{}, { header: [] }], ['header']],
    ['none, if only that is possible', [{ header: [], basic: [] }, {}], []],
    ['none, if none is required', [], []],
  ])('satisfy %s', async (_name, security, expected) => {
    const { document, operation } = await secured(security);
    const secrets = secretsFor(document, operation, { header: 'a', query: 'b' });
    expect(secrets.map(({ scheme }) => scheme)).toEqual(expected);
  });

  test('must be in the options', async () => {
    const { document, operation } = await secured([{ basic: [], query: [] }, { query: [] }]);
    expect(() => secretsFor(document, operation, { header: 'a' })).toThrow(
      "get needs credentials: pass `credentials: { basic: '…', query: '…' } or { query: '…' }`",
    );
  });

  test('do not come from the prototype of the credentials', async () => {
    const { document, operation } = await secured([{ toString: [] }], {
      toString: keyIn('header'),
    });
    expect(() => secretsFor(document, operation, {})).toThrow('get needs credentials');
  });
});

describe('insufficient secrets', () => {
  const labelsOf = async (security: readonly object[]) => {
    const { document, operation } = await secured(security);
    const secrets = secretsFor(document, operation, { header: 'h' });
    const variants = insufficientSecrets(document, operation, secrets, { header: 'h' }, 'x');
    return variants.map(({ label }) => label);
  };

  test.each([
    ['yes', [{ header: ['read'] }, { oauth: ['read'] }], true],
    ['no', [{ header: ['read'] }, { oauth: [] }], false],
  ])(
    'include those without scopes only if all requirements have scopes: %s',
    async (_name, security, isUnscoped) => {
      expect(await labelsOf(security)).toEqual([
        'without credentials',
        'with wrong credentials for header',
        'with wrong credentials for oauth',
        ...(isUnscoped ? ['without the scopes'] : []),
      ]);
    },
  );

  test('do not exist if the operation needs no credentials', async () => {
    expect(await labelsOf([])).toEqual([]);
    expect(await labelsOf([{ header: [] }, {}])).toEqual([]);
    expect(await labelsOf([{ header: [] }, { certificate: [] }])).toEqual([]);
  });
});
