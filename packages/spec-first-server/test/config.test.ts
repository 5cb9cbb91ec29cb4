import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import {
  ConfigError,
  type Environment,
  hasCredentials,
  readConfig,
  readVariables,
  SERVER_VARIABLES,
  type Variables,
} from '../src/process/configuration.ts';
import { type ServiceDefinition, startService } from '../src/process/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

const configError = (env: Environment): string => messageOf(() => readConfig(env));

/** A project without handlers. */
const STUB: ServiceDefinition = {
  open: () => ({ handlers: {} }),
  errorBody: { mediaType: 'application/json', make: ({ status, message }) => ({ error: status, message }) },
  verifiers: undefined,
};

const startError = async (env: Environment): Promise<string> => {
  const working = { PORT: '0', ACCESS_TOKENS: 'token', MISSING_OPERATIONS: '501' };
  const config = readConfig({ ...working, ...env });
  return startService(config, STUB, pino({ level: 'silent' })).then(
    async ({ stop }) => {
      await stop();
      throw new Error('it was accepted');
    },
    ({ message }: Error) => message,
  );
};

describe('the configuration', () => {
  test('has the documented defaults', () => {
    expect(readConfig({})).toEqual({
      PORT: 3000,
      HOST: '127.0.0.1',
      ACCESS_TOKENS: [],
      ACCESS_TOKENS_FILE: undefined,
      JWKS_URL: undefined,
      JWT_ISSUER: undefined,
      JWT_AUDIENCE: undefined,
      CORS_ORIGINS: [],
      TRUST_PROXY: false,
      BODY_LIMIT: 102_400,
      LOG_LEVEL: 'info',
      OPENAPI_FILE: 'openapi.yaml',
      MISSING_OPERATIONS: 'refuse',
      READ_ONLY: undefined,
      SLOW_MS: 0,
      DISCRIMINATOR: 'selects',
      DOCS: 'on',
      DRAIN_SECONDS: 0,
      WORKERS: 1,
      METRICS_PORT: undefined,
    });
    expect(hasCredentials(readConfig({}))).toBe(false);
  });

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
      READ_ONLY: 'drop',
      SLOW_MS: '250',
      DISCRIMINATOR: 'describes',
      DOCS: 'off',
      DRAIN_SECONDS: '5',
      WORKERS: '2',
      METRICS_PORT: '9090',
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
      READ_ONLY: 'drop',
      SLOW_MS: 250,
      DISCRIMINATOR: 'describes',
      DOCS: 'off',
      DRAIN_SECONDS: 5,
      WORKERS: 2,
      METRICS_PORT: 9090,
    });
  });

  test.each([
    ['CORS_ORIGINS', '*', '*'],
    ['TRUST_PROXY', 'true', true],
    ['TRUST_PROXY', 'false', false],
    ['TRUST_PROXY', '2', 2],
    ['TRUST_PROXY', '::1, fc00::/7', ['::1', 'fc00::/7']],
    ['BODY_LIMIT', '256mb', 256 * 1024 ** 2],
    ['METRICS_PORT', '0', 0],
  ] as const)('reads %s=%s', (name, value, expected) => {
    expect(readConfig({ [name]: value })[name]).toEqual(expected);
  });

  test.each([
    ['PORT', '65536', 'an integer from 0 to 65535'],
    ['PORT', '3000.5', 'an integer from 0 to 65535'],
    ['METRICS_PORT', 'on', 'an integer from 0 to 65535'],
    ['WORKERS', '0', 'an integer from 1 to 1024'],
    ['DRAIN_SECONDS', '-1', 'an integer from 0 to 3600'],
    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
    ['MISSING_OPERATIONS', 'ignore', 'one of refuse, 501, mock'],
    ['DOCS', 'yes', 'one of on, off'],
    ['READ_ONLY', 'keep', 'one of reject, drop'],
    ['DISCRIMINATOR', 'yes', 'one of selects, describes'],
    ['BODY_LIMIT', '257mb', 'a size from 1 to 256mb, such as 500, 100kb or 10mb'],
    ['BODY_LIMIT', '1gb', 'a size from 1 to 256mb, such as 500, 100kb or 10mb'],
    ['BODY_LIMIT', '0', 'a size from 1 to 256mb, such as 500, 100kb or 10mb'],
    ['JWKS_URL', 'issuer/keys', 'a URL, such as https://host/path'],
    ['JWT_ISSUER', 'me', 'set together with JWKS_URL, which is not set'],
    ['JWT_AUDIENCE', 'plants', 'set together with JWKS_URL, which is not set'],
    ['CORS_ORIGINS', 'app.example', '* or origins, such as https://app.example,http://localhost:5173'],
    ['CORS_ORIGINS', 'https://app.example/', '* or origins, such as https://app.example,http://localhost:5173'],
    ['CORS_ORIGINS', 'https://a.example,*', '* or origins, such as https://app.example,http://localhost:5173'],
    ['TRUST_PROXY', 'yes', 'true, a number of hops, or addresses, such as loopback,10.0.0.0/8'],
    ['TRUST_PROXY', '10.0.0.0/x', 'true, a number of hops, or addresses, such as loopback,10.0.0.0/8'],
  ])('rejects %s=%s and says what would be right', (name, value, right) => {
    expect(configError({ [name]: value })).toBe(`${name} is "${value}", but must be ${right}`);
  });

  test('does not show a value that may hold a password', () => {
    expect(configError({ JWKS_URL: 'https//me:secret@issuer/keys' })).toBe(
      'JWKS_URL is (not shown), but must be a URL, such as https://host/path',
    );
  });

  test('needs credentials in production', () => {
    expect(configError({ NODE_ENV: 'production' })).toMatch(
      /^ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL$/,
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
      'MISSING_OPERATIONS is "mock", but must be refuse or 501 with NODE_ENV=production: mocks are not for real clients',
    );
    expect(readConfig({ ...production, MISSING_OPERATIONS: '501' }).MISSING_OPERATIONS).toBe('501');
    expect(readConfig({ MISSING_OPERATIONS: 'mock' }).MISSING_OPERATIONS).toBe('mock');
  });
});

test('the README lists the variables with their defaults', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const listed = [...readme.matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`)? ?\|/gm)].map(([, name, preset = '']) => [
    name,
    preset,
  ]);
  const read = Object.entries(SERVER_VARIABLES).map(([name, { default: preset }]) => [name, preset]);
  expect(listed).toEqual(read);
});

describe("a project's own variables", () => {
  const own = {
    SHELF: {
      default: '7',
      description: 'a shelf',
      parse(text: string): number {
        if (text === 'none') throw new Error('a number of a shelf');
        return Number(text);
      },
    },
  } satisfies Variables;

  test('are read as the server reads its own', () => {
    expect(readVariables(own, {})).toEqual({ SHELF: 7 });
    expect(readVariables(own, { SHELF: ' ' })).toEqual({ SHELF: 7 });
    expect(readVariables(own, { SHELF: ' 9 ' })).toEqual({ SHELF: 9 });
    expect(messageOf(() => readVariables(own, { SHELF: 'none' }))).toBe(
      'SHELF is "none", but must be a number of a shelf',
    );
  });
});

describe('the start rejects', () => {
  test('an access token that is none, without showing it', async () => {
    const message = await startError({ ACCESS_TOKENS: 'fine,not fine' });
    expect(message).toMatch(
      /^ACCESS_TOKENS: entry 2 is neither a token \(.*\) nor "sha256:" and 64 hex digits; a name and a colon may stand before it$/,
    );
    expect(message).not.toContain('not fine');
  });

  test('a file of tokens that is missing or empty', async () => {
    const missing = join(folder, 'missing');
    expect(await startError({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: missing })).toBe(
      'ACCESS_TOKENS_FILE cannot be read (ENOENT)',
    );
    expect(await startError({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: file('none', '# none\n') })).toMatch(
      /^ACCESS_TOKENS_FILE holds no token/,
    );
  });

  test('keys that come in the clear', async () => {
    expect(await startError({ JWKS_URL: 'http://issuer.example/keys' })).toMatch(
      /^JWKS_URL is a http: address at issuer\.example: it must start with https:/,
    );
  });

  test('a document that is missing', async () => {
    const missing = join(folder, 'missing.yaml');
    expect(await startError({ OPENAPI_FILE: missing })).toBe(
      `OPENAPI_FILE is "${missing}", but must be an OpenAPI document that can be read (ENOENT)`,
    );
  });

  test('a document that is broken, with file, line and column', async () => {
    const broken = file('broken.yaml', 'openapi: 3.1.0\ninfo: {title: Broken, version: 1.0.0\npaths: {}\n');
    expect(await startError({ OPENAPI_FILE: broken })).toMatch(new RegExp(`^${broken}:\\d+:\\d+ \\w`));
  });

  test('an address that is not of this machine', async () => {
    expect(await startError({ HOST: '192.0.2.1' })).toMatch(
      /^listen EADDRNOTAVAIL: address not available 192\.0\.2\.1: set PORT to another port, or HOST to another address$/,
    );
  });
});
