import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { parseSize, similarName } from 'openapi-document';
import proxyAddress from 'proxy-addr';
import { ConfigError } from '../core/security/config-error.ts';

export { ConfigError };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Sets the variables of `.env`. Those of the environment take precedence. */
export function loadEnvFile(): void {
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
}

/**
 * Returns the variables of the file `.env`, or none if the file is missing. @throws {ConfigError}
 */
export function readEnvFile(): Readonly<Record<string, string | undefined>> {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    return parseEnv(readFileSync('.env', 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const { code } = Object(error);
    if (code === 'ENOENT') return {};
    throw new ConfigError(`.env cannot be read (${code})`, { cause: error });
  }
}

/** @param requirement completes "NAME must be …" */
export function wrongValue(
  name: string,
  value: string,
  requirement: string,
  cause?: unknown,
): ConfigError {
  // Any variable of a project may be a secret. A value with an @ may be a URL with a password.
  const isShown =
    Object.hasOwn(SERVER_VARIABLES, name) && !name.includes('TOKEN') && !value.includes('@');
  const quoted = isShown ? JSON.stringify(value) : 'a value that is not shown';
  return new ConfigError(`${name} must be ${requirement}, got ${quoted}`, { cause });
}

export interface Variable<Value> {
  /** The text that `parse` reads if the variable is not set or is empty. */
  readonly default: string;
  /** One line for `--help`. */
  readonly description: string;
  /**
   * Parses the value, which is trimmed.
   *
   * @throws {Error} whose message completes the sentence "NAME must be …".
   */
  readonly parse: (text: string) => Value;
}

const variable = <Value>(
  description: string,
  parse: (text: string) => Value,
  preset = '',
): Variable<Value> => ({ default: preset, description, parse });

export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of variables, by the same names. */
export type ValuesOf<V extends Variables> = {
  readonly [Name in keyof V]: ReturnType<V[Name]['parse']>;
};

/** Reads variables from the environment. @throws {ConfigError} if `parse` rejects a value. */
export function readVariables<V extends Variables>(variables: V, env: Environment): ValuesOf<V> {
  const values = Object.entries(variables).map(([name, { default: preset, parse }]) => {
    const text = env[name]?.trim() || preset;
    try {
      return [name, parse(text)] as const;
    } catch (error) {
      throw wrongValue(name, text, error instanceof Error ? error.message : String(error), error);
    }
  });
  return Object.fromEntries(values) as ValuesOf<V>;
}

/**
 * @param port the name of the variable, such as `PORT`.
 * @param host the name of the variable, such as `HOST`.
 */
export const rejectAddress = (port: string, host: string) => (cause: unknown) => {
  const { code, message } = Object(cause);
  let advice = `set ${host} to an address of this machine`;
  if (code === 'EADDRINUSE') advice = `set ${port} to another port, or ${host} to another address`;
  if (code === 'EACCES') advice = `set ${port} to another port`;
  throw new ConfigError(`${message}: ${advice}`, { cause });
};

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const SERVER_VARIABLES = {
  PORT: variable('the port to listen on; 0 for any free one', integer(0, 65_535), '3000'),
  HOST: variable('the address to listen on; 0.0.0.0 or :: for all', String, '127.0.0.1'),
  ACCESS_TOKENS: variable(
    'comma-separated: [NAME:]TOKEN or [NAME:]sha256:HEX [scheme=NAME] [scope=NAME]; ' +
      'a random one by default, but not with NODE_ENV=production',
    parseList,
  ),
  ACCESS_TOKENS_FILE: variable(
    'a file with one such token per line, and comments after #; SIGHUP reloads it',
    optional(String),
  ),
  DEVELOPMENT_TOKEN: variable(
    'a bearer token or API key with all scopes; not with NODE_ENV=production',
    optional(parseToken),
  ),
  JWKS_URL: variable('the URL of the keys of signed tokens (RFC 7517)', optional(parseUrl)),
  JWT_ISSUER: variable('the required issuer of signed tokens', optional(String)),
  JWT_AUDIENCE: variable('the required audience of signed tokens', optional(String)),
  CORS_ORIGINS: variable(
    'origins whose pages may send requests, comma-separated; * for all, but without cookies',
    parseOrigins,
  ),
  TRUST_PROXY: variable(
    'proxies whose X-Forwarded-For is trusted: a number of hops, addresses, loopback, or true',
    parseProxies,
  ),
  BODY_LIMIT: variable(
    'the maximum size of a body, also after decompression; at most 256mb',
    parseSize,
    '100kb',
  ),
  LOG_LEVEL: variable(LOG_LEVELS.join(', '), oneOf(...LOG_LEVELS), 'info'),
  SLOW_MS: variable(
    'milliseconds after which a request is logged as slow; 0 for never',
    integer(0, 3_600_000),
    '0',
  ),
  OPENAPI_FILE: variable('the document that is served', String, 'openapi.yaml'),
  MISSING_OPERATIONS: variable(
    'operations without a handler: refuse (the start fails), 501, or mock, except in production',
    oneOf('refuse', '501', 'mock'),
    'refuse',
  ),
  DOCS: variable('on or off: /docs, /openapi.yaml and /openapi.json', oneOf('on', 'off'), 'on'),
  DRAIN_SECONDS: variable(
    'seconds between a signal to stop and the closing of the port',
    integer(0, 3600),
    '0',
  ),
  OPERATOR_PREFIX: variable(
    'a path before /healthz, /readyz, /docs, /openapi.yaml and /openapi.json, such as /ops',
    parsePrefix,
  ),
  METRICS_PORT: variable(
    'a port for GET /metrics, /healthz and /readyz',
    optional(integer(0, 65_535)),
  ),
  METRICS_HOST: variable('the address of METRICS_PORT; HOST by default', optional(String)),
};

export type Config = ValuesOf<typeof SERVER_VARIABLES>;

/** Pairs of variables. The first one has no effect if the second one is not set. */
const REQUIREMENTS = [
  ['JWT_ISSUER', 'JWKS_URL'],
  ['JWT_AUDIENCE', 'JWKS_URL'],
  ['METRICS_HOST', 'METRICS_PORT'],
] as const;

/** Reads the server's variables. An empty value counts as unset. @throws {ConfigError} */
export function readConfig(env: Environment): Config {
  const config = readVariables(SERVER_VARIABLES, env);
  for (const [name, required] of REQUIREMENTS) {
    if (config[name] !== undefined && config[required] === undefined) {
      throw new ConfigError(`${required} must be set together with ${name}`);
    }
  }
  if (!isProduction(env)) return config;
  if (config.DEVELOPMENT_TOKEN !== undefined) {
    throw new ConfigError(
      'DEVELOPMENT_TOKEN must not be set with NODE_ENV=production: it has all scopes',
    );
  }
  if (config.MISSING_OPERATIONS === 'mock') {
    const requirement = 'refuse or 501 with NODE_ENV=production';
    throw wrongValue('MISSING_OPERATIONS', 'mock', requirement);
  }
  return config;
}

export const isProduction = (env: Environment): boolean => env.NODE_ENV?.trim() === 'production';

/** `spec-first dev` sets NODE_ENV to `development`. */
export const isDevelopment = (env: Environment): boolean => env.NODE_ENV?.trim() === 'development';

export const hasCredentials = (config: Config): boolean =>
  config.ACCESS_TOKENS.length > 0 ||
  config.ACCESS_TOKENS_FILE !== undefined ||
  config.JWKS_URL !== undefined ||
  config.DEVELOPMENT_TOKEN !== undefined;

function optional<T>(parse: (text: string) => T) {
  return (text: string): T | undefined => (text === '' ? undefined : parse(text));
}

function integer(min: number, max: number) {
  return (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new Error(`an integer from ${min} to ${max}`);
  };
}

function oneOf<T extends string>(...words: readonly T[]) {
  return (text: string): T => {
    const word = words.find((each) => each === text);
    if (word === undefined) throw new Error(`one of ${words.join(', ')}`);
    return word;
  };
}

function parseList(text: string): readonly string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.filter(Boolean);
}

function parseUrl(text: string): URL {
  const parsed = URL.parse(text);
  if (parsed === null) throw new Error('a URL, such as https://host/path');
  return parsed;
}

function parsePrefix(text: string): string {
  if (/^(\/[\w.~-]+)*$/.test(text)) return text;
  throw new Error('a path, such as /ops, without a slash at its end');
}

function parseOrigins(text: string): '*' | readonly string[] {
  if (text === '*') return '*';
  const entries = parseList(text);
  if (entries.every((entry) => URL.parse(entry)?.origin === entry)) return entries;
  throw new Error(
    '* or origins without a slash at the end, such as https://app.example,http://localhost:5173',
  );
}

function parseProxies(text: string): boolean | number | readonly string[] {
  if (text === '' || text === 'true' || text === 'false') return text === 'true';
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const addresses = parseList(text);
  try {
    proxyAddress.compile([...addresses]);
    return addresses;
  } catch (cause) {
    const requirement = 'true, a number of hops, or addresses, such as loopback,10.0.0.0/8';
    throw new Error(requirement, { cause });
  }
}

/** Returns a record with misspelled names as its keys and the correct names as its values. */
export function misspelledVariables(
  env: Environment,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const misspelled = Object.keys(env).flatMap((name) => {
    const similar = similarName(name, names);
    return similar === undefined || names.includes(name) ? [] : [[name, similar] as const];
  });
  return Object.fromEntries(misspelled);
}

function parseToken(text: string): string {
  if (/^[\w\-.~+/]+=*$/.test(text)) return text;
  throw new Error('made of letters, digits and -._~+/ with = only at its end');
}
