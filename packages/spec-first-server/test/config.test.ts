import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { ConfigError, type Environment, readConfig, VARIABLES } from '../src/process/configuration.ts';
import { type Stub, startService } from '../src/process/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

function refusal(env: Environment): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

/** A project without handlers. */
const STUB: Stub = { open: () => ({ handlers: {} }), errorBody: undefined, verifiers: undefined };

const startRefusal = async (env: Environment): Promise<string> => {
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
      port: 3000,
      host: '127.0.0.1',
      auth: { accessTokens: [], accessTokensFile: undefined, jwt: undefined },
      makeToken: true,
      bodyLimit: 102_400,
      logLevel: 'info',
      openapiFile: 'openapi.yaml',
      missing: 'refuse',
      docs: true,
      drainSeconds: 0,
      workers: 1,
      metricsPort: undefined,
    });
  });

  test('takes an empty or blank value for none', () => {
    const empty = Object.fromEntries(VARIABLES.map(([name]) => [name, ' ']));
    expect(readConfig({ ...empty, NODE_ENV: '' })).toEqual(readConfig({}));
  });

  test('reads each variable', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::1',
      DATABASE_URL: 'postgres://plants@database/plants',
      ACCESS_TOKENS: ' one, two ,,sha256:ab',
      ACCESS_TOKENS_FILE: '/run/secrets/tokens',
      JWKS_URL: 'https://issuer.example/keys',
      JWT_ISSUER: 'https://issuer.example',
      JWT_AUDIENCE: 'plants',
      BODY_LIMIT: '2 MB',
      LOG_LEVEL: 'silent',
      OPENAPI_FILE: 'other.yaml',
      MISSING_OPERATIONS: '501',
      MAX_WAITING: '7',
      DOCS: 'off',
      DRAIN_SECONDS: '5',
      WORKERS: '2',
      METRICS_PORT: '9090',
      NODE_ENV: 'production',
    });
    expect(config).toEqual({
      port: 0,
      host: '::1',
      databaseUrl: 'postgres://plants@database/plants',
      auth: {
        accessTokens: ['one', 'two', 'sha256:ab'],
        accessTokensFile: '/run/secrets/tokens',
        jwt: {
          jwksUrl: new URL('https://issuer.example/keys'),
          issuer: 'https://issuer.example',
          audience: 'plants',
        },
      },
      makeToken: false,
      bodyLimit: 2 * 1024 ** 2,
      logLevel: 'silent',
      openapiFile: 'other.yaml',
      missing: '501',
      maxWaiting: 7,
      docs: false,
      drainSeconds: 5,
      workers: 2,
      metricsPort: 9090,
    });
  });

  test.each([
    ['PORT', '65536', 'an integer from 0 to 65535'],
    ['PORT', '3000.5', 'an integer from 0 to 65535'],
    ['METRICS_PORT', 'on', 'an integer from 0 to 65535'],
    ['WORKERS', '0', 'an integer from 1 to 1024'],
    ['MAX_WAITING', '0', 'an integer from 1 to 1000000'],
    ['DRAIN_SECONDS', '-1', 'an integer from 0 to 3600'],
    ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
    ['MISSING_OPERATIONS', 'ignore', 'one of refuse, 501, mock'],
    ['DOCS', 'yes', 'one of on, off'],
    ['BODY_LIMIT', '2gb', 'a size from 1 to 1gb, such as 500, 100kb or 10mb'],
    ['BODY_LIMIT', '0', 'a size from 1 to 1gb, such as 500, 100kb or 10mb'],
    ['JWKS_URL', 'issuer/keys', 'a URL, such as https://host/path'],
    ['JWT_ISSUER', 'me', 'set together with JWKS_URL, which is not set'],
    ['JWT_AUDIENCE', 'plants', 'set together with JWKS_URL, which is not set'],
  ])('refuses %s=%s and says what would be right', (name, value, right) => {
    expect(refusal({ [name]: value })).toBe(`${name} is "${value}", but must be ${right}`);
  });

  test('does not show a value that may hold a password', () => {
    expect(refusal({ JWKS_URL: 'https//me:secret@issuer/keys' })).toBe(
      'JWKS_URL is (not shown), but must be a URL, such as https://host/path',
    );
  });

  test('refuses several workers on a database that is of one process', () => {
    for (const url of ['sqlite::memory:', 'SQLite::memory:']) {
      expect(refusal({ WORKERS: '2', DATABASE_URL: url })).toMatch(/^WORKERS is "2", but must be 1 with/);
    }
  });

  test('refuses production without credentials, and takes each kind of them', () => {
    expect(refusal({ NODE_ENV: 'production' })).toBe(
      'ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL',
    );
    for (const env of [{ ACCESS_TOKENS: 't' }, { ACCESS_TOKENS_FILE: 'f' }, { JWKS_URL: 'https://issuer/keys' }]) {
      expect(readConfig({ NODE_ENV: 'production', ...env }).makeToken).toBe(false);
    }
  });

  test('rejects mocks in production', () => {
    const production = { NODE_ENV: 'production', ACCESS_TOKENS: 't' };
    expect(refusal({ ...production, MISSING_OPERATIONS: 'mock' })).toBe(
      'MISSING_OPERATIONS is "mock", but must be refuse or 501 with NODE_ENV=production: a mock is no answer for real clients',
    );
    expect(readConfig({ ...production, MISSING_OPERATIONS: '501' }).missing).toBe('501');
    expect(readConfig({ MISSING_OPERATIONS: 'mock' }).missing).toBe('mock');
  });
});

describe('the start refuses', () => {
  test('an access token that is none, without showing it', async () => {
    const message = await startRefusal({ ACCESS_TOKENS: 'fine,not fine' });
    expect(message).toMatch(/^ACCESS_TOKENS: entry 2 is neither a token \(.*\) nor "sha256:" and 64 hex digits$/);
    expect(message).not.toContain('not fine');
  });

  test('a file of tokens that is not there or holds none', async () => {
    const missing = join(folder, 'missing');
    expect(await startRefusal({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: missing })).toBe(
      'ACCESS_TOKENS_FILE cannot be read (ENOENT)',
    );
    expect(await startRefusal({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: file('none', '# none\n') })).toMatch(
      /^ACCESS_TOKENS_FILE holds no token/,
    );
  });

  test('keys that come in the clear', async () => {
    expect(await startRefusal({ JWKS_URL: 'http://issuer.example/keys' })).toMatch(
      /^JWKS_URL is a http: address at issuer\.example: it must start with https:/,
    );
  });

  test('a document that is not there', async () => {
    const missing = join(folder, 'missing.yaml');
    expect(await startRefusal({ OPENAPI_FILE: missing })).toBe(
      `OPENAPI_FILE is "${missing}", which cannot be read (ENOENT), but must name an OpenAPI document`,
    );
  });

  test('a document that is broken, with file, line and column', async () => {
    const broken = file('broken.yaml', 'openapi: 3.1.0\ninfo: {title: Broken, version: 1.0.0\npaths: {}\n');
    expect(await startRefusal({ OPENAPI_FILE: broken })).toMatch(new RegExp(`^${broken}:\\d+:\\d+ \\w`));
  });

  test('an address that is not of this machine', async () => {
    expect(await startRefusal({ HOST: '192.0.2.1' })).toMatch(
      /^192\.0\.2\.1 is not an address of this machine: set HOST to one/,
    );
  });
});
