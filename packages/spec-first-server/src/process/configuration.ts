import type { WhenMissing } from '../response/complete-handlers.ts';
import type { AuthSettings } from '../security/tokens.ts';
import type { LogLevel } from './log.ts';

/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A variable of the environment is wrong, or the file that holds them. The message is one line: its name, what it holds,
 * what would be right.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** What the service is told by its environment; derived from the reader, so that the two cannot differ. */
export type Config = ReturnType<typeof readConfig>;

const LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const WHEN_MISSING: readonly WhenMissing[] = ['refuse', '501', 'mock'];

/** The variables with their defaults, for people: what `--help` prints and the README's table says. */
export const VARIABLES: readonly (readonly [name: string, preset: string, meaning: string])[] = [
  ['PORT', '3000', 'the port to listen on; 0 takes any free one'],
  ['HOST', '127.0.0.1', 'the address to listen on; 0.0.0.0 or :: for all'],
  [
    'ACCESS_TOKENS',
    'a random one, shown at the start',
    'comma-separated; an entry may be sha256:HEX; no default with NODE_ENV=production, or LOG_LEVEL above info',
  ],
  ['ACCESS_TOKENS_FILE', '', 'the same, one a line; SIGHUP reads it again'],
  ['JWKS_URL', '', 'the keys of signed tokens (RFC 7517)'],
  ['JWT_ISSUER', '', 'the issuer that signed tokens must name'],
  ['JWT_AUDIENCE', '', 'the audience that signed tokens must name'],
  ['BODY_LIMIT', '100kb', 'the most bytes of a body, also after decompression'],
  ['LOG_LEVEL', 'info', LEVELS.join(', ')],
  ['OPENAPI_FILE', 'openapi.yaml', 'the document that is served'],
  ['MISSING_OPERATIONS', 'refuse', 'operations without a handler: refuse to start, answer 501, or mock'],
  ['DOCS', 'on', 'on or off: /docs, /openapi.yaml and /openapi.json'],
  ['DRAIN_SECONDS', '0', 'how long to answer on after readiness falls, before a stop closes the port'],
  ['WORKERS', '1', 'processes that share the port'],
  ['METRICS_PORT', '', 'a port for GET /metrics, off without it'],
];

/** Reads the configuration. An empty value counts as none. @throws {ConfigError} */
export function readConfig(env: Environment) {
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const fail = (name: string, right: string): never => {
    const value = env[name] ?? '';
    // What has an @ may hold a password.
    throw new ConfigError(
      `${name} is ${value.includes('@') ? '(not shown)' : JSON.stringify(value)}, but must be ${right}`,
    );
  };
  const integer = (name: string, preset: number, least: number, most: number): number => {
    const value = text(name);
    if (value === undefined) return preset;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= least && number <= most ? number : fail(name, `an integer from ${least} to ${most}`);
  };
  const oneOf = <T extends string>(name: string, values: readonly T[], preset: T): T => {
    const value = text(name);
    if (value === undefined) return preset;
    return values.find((candidate) => candidate === value) ?? fail(name, `one of ${values.join(', ')}`);
  };
  const url = (name: string): URL | undefined => {
    const value = text(name);
    return value === undefined ? undefined : (URL.parse(value) ?? fail(name, 'a URL, such as https://host/path'));
  };

  const jwksUrl = url('JWKS_URL');
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE']) {
    if (text(name) !== undefined && jwksUrl === undefined) fail(name, 'set together with JWKS_URL, which is not set');
  }
  const auth: AuthSettings = {
    accessTokens: (text('ACCESS_TOKENS') ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
    accessTokensFile: text('ACCESS_TOKENS_FILE'),
    jwt: jwksUrl && { jwksUrl, issuer: text('JWT_ISSUER'), audience: text('JWT_AUDIENCE') },
  };
  const production = text('NODE_ENV') === 'production';
  const open = auth.accessTokens.length === 0 && auth.accessTokensFile === undefined && auth.jwt === undefined;
  if (production && open) {
    throw new ConfigError(
      'ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL',
    );
  }
  if (production && text('MISSING_OPERATIONS') === 'mock') {
    fail('MISSING_OPERATIONS', 'refuse or 501 with NODE_ENV=production: a mock is no answer for real clients');
  }
  const workers = integer('WORKERS', 1, 1, 1024);
  const metricsPort = integer('METRICS_PORT', -1, 0, 65_535);
  return {
    port: integer('PORT', 3000, 0, 65_535),
    host: text('HOST') ?? '127.0.0.1',
    auth,
    /** No credentials are configured: the start makes a token and shows it. */
    makeToken: open,
    bodyLimit:
      bytes(text('BODY_LIMIT') ?? '100kb') ?? fail('BODY_LIMIT', 'a size from 1 to 1gb, such as 500, 100kb or 10mb'),
    logLevel: oneOf('LOG_LEVEL', LEVELS, 'info'),
    openapiFile: text('OPENAPI_FILE') ?? 'openapi.yaml',
    missing: oneOf('MISSING_OPERATIONS', WHEN_MISSING, 'refuse'),
    docs: oneOf('DOCS', ['on', 'off'], 'on') === 'on',
    drainSeconds: integer('DRAIN_SECONDS', 0, 0, 3600),
    workers,
    metricsPort: metricsPort < 0 ? undefined : metricsPort,
  };
}

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

function bytes(text: string): number | undefined {
  const [, amount = '', unit = 'b'] = /^(\d{1,10})\s*(b|kb|mb|gb)?$/i.exec(text) ?? [];
  const size = amount === '' ? 0 : Number(amount) * (UNITS[unit.toLowerCase()] ?? 1);
  return size >= 1 && size <= 1024 ** 3 ? size : undefined;
}

/** What Node says of an address, in words. */
const ADDRESS_ERRORS: Readonly<Record<string, (portName: string) => string>> = {
  EADDRINUSE: (portName) => `is taken by another process: stop that one, or set ${portName} to another port`,
  EACCES: (portName) => `may not be used by this user: set ${portName} to a port from 1024 on`,
  EADDRNOTAVAIL: () => 'is not an address of this machine: set HOST to one, such as 127.0.0.1 or 0.0.0.0',
  ENOTFOUND: () => 'is not known: set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0',
  EAI_AGAIN: () => 'cannot be looked up now: set HOST to an address of this machine, such as 127.0.0.1 or 0.0.0.0',
};

/** An error of Node for an address that cannot be had, as the operator's variables put it; any other error as it is. */
export function explainAddress(error: unknown, portName: string): unknown {
  if (!Error.isError(error)) return error;
  const { code, address, port, hostname } = error as Error & Record<string, unknown>;
  const words = ADDRESS_ERRORS[String(code)];
  if (words === undefined) return error;
  const place = [address ?? hostname, port].filter((part) => part !== undefined).join(' port ');
  return new ConfigError(`${place} ${words(portName)}`, { cause: error });
}
