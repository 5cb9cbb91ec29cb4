import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable has a wrong value, or the file `.env` cannot be read. The message is one line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Sets each variable of a file `.env` in the working directory, unless the environment has it. @throws {ConfigError} */
export function loadEnvFile(): void {
  try {
    // Some editors begin a file with a byte order mark, which would become part of the first name.
    const text = readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
    for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
  } catch (error) {
    const { code } = Object(error);
    if (code !== 'ENOENT') throw new ConfigError(`.env cannot be read (${code})`, { cause: error });
  }
}

/** The error for a wrong value. @param right completes the sentence "… but must be". */
export function wrongValue(name: string, value: string, right: string, cause?: unknown): ConfigError {
  // A value with an @ may hold a password.
  const shown = value.includes('@') ? '(not shown)' : JSON.stringify(value);
  return new ConfigError(`${name} is ${shown}, but must be ${right}`, { cause });
}

export interface Variable<Value> {
  /** What `parse` reads when the variable is not set or is empty. */
  readonly default: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Reads a text without spaces around it. @throws {Error} whose message completes the sentence "… but must be". */
  readonly parse: (text: string) => Value;
}

export const variable = <Value>(
  preset: string,
  description: string,
  parse: (text: string) => Value,
): Variable<Value> => ({ default: preset, description, parse });

export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of variables, by the same names. */
export type ValuesOf<V extends Variables> = { readonly [Name in keyof V]: ReturnType<V[Name]['parse']> };

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

/** Throws Node's error for an address that cannot be listened on, and says what to change. @param port its variable */
export const rejectAddress = (port: string) => (cause: unknown) => {
  const advice = `set ${port} to another port, or HOST to another address`;
  throw new ConfigError(`${Object(cause).message}: ${advice}`, { cause });
};

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const SERVER_VARIABLES = {
  PORT: variable('3000', 'the port to listen on; 0 takes any free one', integer(0, 65_535)),
  HOST: variable('127.0.0.1', 'the address to listen on; 0.0.0.0 or :: for all', String),
  ACCESS_TOKENS: variable('', 'comma-separated, or sha256:HEX of each; by default a random one', list),
  ACCESS_TOKENS_FILE: variable('', 'the same, one a line; SIGHUP reads it again', optional(String)),
  JWKS_URL: variable('', 'the keys of signed tokens (RFC 7517)', optional(url)),
  JWT_ISSUER: variable('', 'the issuer that signed tokens must name', optional(String)),
  JWT_AUDIENCE: variable('', 'the audience that signed tokens must name', optional(String)),
  CORS_ORIGINS: variable('', 'origins whose pages may call, comma-separated, or *', origins),
  TRUST_PROXY: variable('', "proxies that tell a client's address: a number of hops, addresses, or true", proxies),
  BODY_LIMIT: variable('100kb', 'the most bytes of a body, also after decompression', bodySize),
  LOG_LEVEL: variable('info', LEVELS.join(', '), oneOf(...LEVELS)),
  SLOW_MS: variable('0', 'milliseconds after which a request is logged as slow; 0 for never', integer(0, 3_600_000)),
  OPENAPI_FILE: variable('openapi.yaml', 'the document that is served', String),
  MISSING_OPERATIONS: variable('refuse', 'without a handler: refuse, 501 or mock', oneOf('refuse', '501', 'mock')),
  READ_ONLY: variable('', 'read-only members of a request: reject or drop', optional(oneOf('reject', 'drop'))),
  DISCRIMINATOR: variable('selects', 'selects a schema, or only describes oneOf', oneOf('selects', 'describes')),
  DOCS: variable('on', 'on or off: /docs, /openapi.yaml and /openapi.json', oneOf('on', 'off')),
  DRAIN_SECONDS: variable('0', 'how long a stop answers on before it closes the port', integer(0, 3600)),
  WORKERS: variable('1', 'processes that share the port', integer(1, 1024)),
  METRICS_PORT: variable('', 'a port for GET /metrics', optional(integer(0, 65_535))),
};

export type Config = ValuesOf<typeof SERVER_VARIABLES>;

/** Reads the server's variables. An empty value counts as unset. @throws {ConfigError} */
export function readConfig(env: Environment): Config {
  const config = readVariables(SERVER_VARIABLES, env);
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (config[name] !== undefined && config.JWKS_URL === undefined) {
      throw wrongValue(name, config[name], 'set together with JWKS_URL, which is not set');
    }
  }
  if (isProduction(env) && !hasCredentials(config)) {
    throw new ConfigError(
      'ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL',
    );
  }
  if (isProduction(env) && config.MISSING_OPERATIONS === 'mock') {
    const right = 'refuse or 501 with NODE_ENV=production: mocks are not for real clients';
    throw wrongValue('MISSING_OPERATIONS', 'mock', right);
  }
  return config;
}

export const isProduction = (env: Environment): boolean => env.NODE_ENV?.trim() === 'production';

/** Whether any credentials are configured. Without them the start makes a token and shows it. */
export const hasCredentials = ({ ACCESS_TOKENS, ACCESS_TOKENS_FILE, JWKS_URL }: Config): boolean =>
  ACCESS_TOKENS.length > 0 || ACCESS_TOKENS_FILE !== undefined || JWKS_URL !== undefined;

function optional<T>(parse: (text: string) => T) {
  return (text: string): T | undefined => (text === '' ? undefined : parse(text));
}

function integer(least: number, most: number) {
  return (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new Error(`an integer from ${least} to ${most}`);
  };
}

function oneOf<T extends string>(...words: readonly T[]) {
  return (text: string): T => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new Error(`one of ${words.join(', ')}`);
    return found;
  };
}

function list(text: string): readonly string[] {
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.filter(Boolean);
}

function url(text: string): URL {
  const parsed = URL.parse(text);
  if (parsed === null) throw new Error('a URL, such as https://host/path');
  return parsed;
}

function origins(text: string): '*' | readonly string[] {
  if (text === '*') return '*';
  const found = list(text);
  if (found.every((origin) => URL.parse(origin)?.origin === origin)) return found;
  throw new Error('* or origins, such as https://app.example,http://localhost:5173');
}

function proxies(text: string): boolean | number | readonly string[] {
  if (text === '' || text === 'true' || text === 'false') return text === 'true';
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const found = list(text);
  const isRange = (entry: string): boolean =>
    /^(loopback|linklocal|uniquelocal)$/.test(entry) || isIP(entry.replace(/\/\d{1,3}$/, '')) > 0;
  if (found.every(isRange)) return found;
  throw new Error('true, a number of hops, or addresses, such as loopback,10.0.0.0/8');
}

/** At most 256 MiB: a body is parsed as one string, and V8 holds at most 512 MiB in one. */
function bodySize(text: string): number {
  const [, amount, unit = 'b'] = /^(\d{1,10})\s*(b|kb|mb)?$/i.exec(text) ?? [];
  const size = Number(amount) * 1024 ** ['b', 'kb', 'mb'].indexOf(unit.toLowerCase());
  if (size >= 1 && size <= 256 * 1024 ** 2) return size;
  throw new Error('a size from 1 to 256mb, such as 500, 100kb or 10mb');
}
