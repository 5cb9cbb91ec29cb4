import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  ConfigError,
  type Environment,
  hasCredentials,
  misspelledVariables,
  readConfig,
  readVariables,
  rejectAddress,
  SERVER_VARIABLES,
  type Variables,
  wrongValue,
} from '../../src/serve/configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the value was accepted');
}

const configError = (env: Environment): string => messageOf(() => readConfig(env));

describe('the configuration', () => {
  test('takes an empty or blank value as unset', () => {
    const empty = Object.fromEntries(Object.keys(SERVER_VARIABLES).map((name) => [name, ' ']));
    expect(readConfig({ ...empty, NODE_ENV: '' })).toEqual(readConfig({}));
  });

  test('reads each variable', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::1',
      ACCESS_TOKENS: ' one, two ,,sha256:ab',
      ACCESS_TOKENS_FILE: '/run/secrets/tokens',
      JWKS_URL: 'https://issuer.example/keys',
      JWT_ISSUER: 'https://issuer.example',
      JWT_AUDIENCE: 'plants',
      CORS_ORIGINS: 'https://app.example, http://localhost:5173',
      TRUST_PROXY: 'loopback, 10.0.0.0/8',
      BODY_LIMIT: '2 MB',
      LOG_LEVEL: 'silent',
      OPENAPI_FILE: 'other.yaml',
      MISSING_OPERATIONS: '501',
      SLOW_MS: '250',
      DOCS: 'off',
      DRAIN_SECONDS: '5',
      OPERATOR_PREFIX: '/ops/plants',
      METRICS_PORT: '9090',
      METRICS_HOST: '10.0.0.1',
      NODE_ENV: 'production',
    });
    expect(config).toEqual({
      PORT: 0,
      HOST: '::1',
      ACCESS_TOKENS: ['one', 'two', 'sha256:ab'],
      ACCESS_TOKENS_FILE: '/run/secrets/tokens',
      JWKS_URL: new URL('https://issuer.example/keys'),
      JWT_ISSUER: 'https://issuer.example',
      JWT_AUDIENCE: 'plants',
      CORS_ORIGINS: ['https://app.example', 'http://localhost:5173'],
      TRUST_PROXY: ['loopback', '10.0.0.0/8'],
      BODY_LIMIT: 2 * 1024 ** 2,
      LOG_LEVEL: 'silent',
      OPENAPI_FILE: 'other.yaml',
      MISSING_OPERATIONS: '501',
      SLOW_MS: 250,
      DOCS: 'off',
      DRAIN_SECONDS: 5,
      OPERATOR_PREFIX: '/ops/plants',
      METRICS_PORT: 9090,
      METRICS_HOST: '10.0.0.1',
    });
  });

  test.each([
    ['CORS_ORIGINS', '*', '*'],
    ['TRUST_PROXY', 'true', true],

    ['TRUST_PROXY', '2', 2],
    ['TRUST_PROXY', '::1, fc00::/7', ['::1', 'fc00::/7']],
    ['BODY_LIMIT', '256mb', 256 * 1024 ** 2],
    ['METRICS_PORT', '0', 0],
  ] as const)('reads %s=%s', (name, value, expected) => {
    expect(readConfig({ [name]: value })[name]).toEqual(expected);
  });

  test.each([
    ['PORT', '65536', 'an integer from 0 to 65535'],

    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],

    ['BODY_LIMIT', '257mb', 'a size from 1b to 256mb, such as 500, 100kb or 10mb'],
    ['OPERATOR_PREFIX', '/ops/', 'a path, such as /ops, without a slash at its end'],
    ['JWKS_URL', 'issuer/keys', 'a URL, such as https://host/path'],

    [
      'CORS_ORIGINS',
      'https://a.example,*',
      '* or origins without a slash at the end, such as https://app.example,http://localhost:5173',
    ],

    [
      'TRUST_PROXY',
      '10.0.0.0/99',
      'true, a number of hops, or addresses, such as loopback,10.0.0.0/8',
    ],
  ])('rejects %s=%s with the expected form', (name, value, form) => {
    expect(configError({ [name]: value })).toBe(`${name} must be ${form}, got "${value}"`);
  });

  test.each([
    ['JWT_ISSUER', 'JWKS_URL'],
    ['JWT_AUDIENCE', 'JWKS_URL'],
    ['METRICS_HOST', 'METRICS_PORT'],
  ])('rejects %s without %s', (name, required) => {
    expect(configError({ [name]: '127.0.0.1' })).toBe(
      `${required} must be set together with ${name}`,
    );
  });

  test('does not show a value that may contain a password', () => {
    expect(configError({ JWKS_URL: 'https//me:secret@issuer/keys' })).toBe(
      'JWKS_URL must be a URL, such as https://host/path, got a value that is not shown',
    );
  });

  test.each(['DEVELOPMENT_TOKEN', 'STRIPE_API_KEY'])('does not show the value of %s', (name) => {
    expect(wrongValue(name, 'a b', 'a word').message).toBe(
      `${name} must be a word, got a value that is not shown`,
    );
  });

  test('rejects the development token in production, but no other credentials', () => {
    expect(
      configError({ NODE_ENV: 'production', DEVELOPMENT_TOKEN: 't', ACCESS_TOKENS: 't' }),
    ).toBe('DEVELOPMENT_TOKEN must not be set with NODE_ENV=production: it has all scopes');
    expect(configError({ DEVELOPMENT_TOKEN: 'two words' })).toMatch(
      /^DEVELOPMENT_TOKEN must be .*letters/,
    );
    for (const env of [
      { ACCESS_TOKENS: 't' },
      { ACCESS_TOKENS_FILE: 'tokens' },
      { JWKS_URL: 'https://issuer.example/keys' },
    ]) {
      expect(hasCredentials(readConfig({ NODE_ENV: 'production', ...env }))).toBe(true);
    }
  });

  test('rejects mocks in production', () => {
    const production = { NODE_ENV: 'production', ACCESS_TOKENS: 't' };
    expect(configError({ ...production, MISSING_OPERATIONS: 'mock' })).toBe(
      'MISSING_OPERATIONS must be refuse or 501 with NODE_ENV=production, got "mock"',
    );
    expect(readConfig({ ...production, MISSING_OPERATIONS: '501' }).MISSING_OPERATIONS).toBe('501');
    expect(readConfig({ MISSING_OPERATIONS: 'mock' }).MISSING_OPERATIONS).toBe('mock');
  });
});

describe("a project's variables", () => {
  const variables = {
    SHELF: {
      default: '7',
      description: 'a shelf',
      parse(text: string): number {
        if (text === 'none') throw new Error('a number of a shelf');
        return Number(text);
      },
    },
  } satisfies Variables;

  test('are read in the same way', () => {
    expect(readVariables(variables, {})).toEqual({ SHELF: 7 });
    expect(readVariables(variables, { SHELF: ' ' })).toEqual({ SHELF: 7 });
    expect(readVariables(variables, { SHELF: ' 9 ' })).toEqual({ SHELF: 9 });
    expect(messageOf(() => readVariables(variables, { SHELF: 'none' }))).toBe(
      'SHELF must be a number of a shelf, got a value that is not shown',
    );
  });
});

test.each([
  ['a missing character', 'POT', 'PORT'],

  ['two swapped characters', 'PROT', 'PORT'],
])('for a variable with %s, %s, the suggested name is %s', (_title, name, similar) => {
  expect(misspelledVariables({ [name]: '1' }, ['HOST', 'PORT'])).toEqual({ [name]: similar });
});

test.each([
  ['two differences', 'PAXT'],

  ['the name of another variable', 'HOST'],
])('for a variable with %s, %s, no name is suggested', (_title, name) => {
  expect(misspelledVariables({ [name]: '1' }, ['HOST', 'PORT'])).toEqual({});
});

test.each([
  [
    'EADDRINUSE',
    'listen EADDRINUSE: address already in use 127.0.0.1:80',
    'set PORT to another port, or HOST to another address',
  ],
  ['EACCES', 'listen EACCES: permission denied 127.0.0.1:80', 'set PORT to another port'],
  ['ENOTFOUND', 'getaddrinfo ENOTFOUND a.invalid', 'set HOST to an address of this machine'],
])('an address that is rejected with %s is an error with advice', (code, message, advice) => {
  const cause = Object.assign(new Error(message), { code });
  expect(() => rejectAddress('PORT', 'HOST')(cause)).toThrow(
    new ConfigError(`${message}: ${advice}`, { cause }),
  );
});
