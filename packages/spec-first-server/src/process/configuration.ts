import { isIP } from 'node:net';
import type { AuthSettings } from '../security/tokens.ts';
import {
  ConfigError,
  type Environment,
  integer,
  list,
  oneOf,
  optional,
  readVariables,
  type ValuesOf,
  type Variables,
  wrongValue,
} from './environment.ts';

/** The server's own variables. The README has the same table. */
export const SERVER_VARIABLES = {
  PORT: { default: '3000', description: 'the port to listen on; 0 takes any free one', parse: integer(0, 65_535) },
  HOST: { default: '127.0.0.1', description: 'the address to listen on; 0.0.0.0 or :: for all', parse: String },
  ACCESS_TOKENS: {
    default: '',
    description:
      'comma-separated; an entry may be sha256:HEX; by default a random one, shown at the start, ' +
      'but not with NODE_ENV=production or LOG_LEVEL above info',
    parse: list,
  },
  ACCESS_TOKENS_FILE: {
    default: '',
    description: 'the same, one a line; SIGHUP reads it again',
    parse: optional(String),
  },
  JWKS_URL: { default: '', description: 'the keys of signed tokens (RFC 7517)', parse: optional(url) },
  JWT_ISSUER: { default: '', description: 'the issuer that signed tokens must name', parse: optional(String) },
  JWT_AUDIENCE: { default: '', description: 'the audience that signed tokens must name', parse: optional(String) },
  CORS_ORIGINS: { default: '', description: 'origins whose pages may call, comma-separated, or *', parse: origins },
  TRUST_PROXY: {
    default: '',
    description: "proxies that tell a client's address: a number of hops, addresses, true (Express's trust proxy)",
    parse: proxies,
  },
  BODY_LIMIT: { default: '100kb', description: 'the most bytes of a body, also after decompression', parse: bodySize },
  LOG_LEVEL: {
    default: 'info',
    description: 'fatal, error, warn, info, debug, trace, silent',
    parse: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  SLOW_MS: {
    default: '0',
    description: 'milliseconds after which a request is logged as slow; 0 for never',
    parse: integer(0, 3_600_000),
  },
  OPENAPI_FILE: { default: 'openapi.yaml', description: 'the document that is served', parse: String },
  MISSING_OPERATIONS: {
    default: 'refuse',
    description: 'operations without a handler: refuse to start, answer 501, or mock',
    parse: oneOf('refuse', '501', 'mock'),
  },
  READ_ONLY: {
    default: '',
    description: 'read-only members of a request: reject, or drop; drop by default in documents of OpenAPI 3.0',
    parse: optional(oneOf('reject', 'drop')),
  },
  DISCRIMINATOR: {
    default: 'selects',
    description: 'a discriminator selects the schema that is validated, or only describes what oneOf admits',
    parse: oneOf('selects', 'describes'),
  },
  DOCS: { default: 'on', description: 'on or off: /docs, /openapi.yaml and /openapi.json', parse: oneOf('on', 'off') },
  DRAIN_SECONDS: {
    default: '0',
    description: 'how long to answer on after readiness falls, before a stop closes the port',
    parse: integer(0, 3600),
  },
  WORKERS: { default: '1', description: 'processes that share the port', parse: integer(1, 1024) },
  METRICS_PORT: { default: '', description: 'a port for GET /metrics', parse: optional(integer(0, 65_535)) },
} satisfies Variables;

/** The values of the server's variables, by their names. */
export type Config = ValuesOf<typeof SERVER_VARIABLES>;

/** Reads the server's variables. An empty value counts as unset. @throws {ConfigError} */
export function readConfig(env: Environment): Config {
  const config = readVariables(SERVER_VARIABLES, env);
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (config[name] !== undefined && config.JWKS_URL === undefined) {
      throw wrongValue(name, config[name], 'set together with JWKS_URL, which is not set');
    }
  }
  if (!isProduction(env)) return config;
  if (!hasCredentials(config)) {
    throw new ConfigError(
      'ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL',
    );
  }
  if (config.MISSING_OPERATIONS === 'mock') {
    const right = 'refuse or 501 with NODE_ENV=production: mocks are not for real clients';
    throw wrongValue('MISSING_OPERATIONS', 'mock', right);
  }
  return config;
}

/** Whether the environment says that clients are real. */
export const isProduction = (env: Environment): boolean => env.NODE_ENV?.trim() === 'production';

/** Whether any credentials are configured. Without them the start makes a token and shows it. */
export const hasCredentials = ({ ACCESS_TOKENS, ACCESS_TOKENS_FILE, JWKS_URL }: Config): boolean =>
  ACCESS_TOKENS.length > 0 || ACCESS_TOKENS_FILE !== undefined || JWKS_URL !== undefined;

/** The credentials that a configuration accepts. */
export const authSettings = (config: Config): AuthSettings => ({
  accessTokens: config.ACCESS_TOKENS,
  accessTokensFile: config.ACCESS_TOKENS_FILE,
  jwt: config.JWKS_URL && { jwksUrl: config.JWKS_URL, issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE },
});

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

/** A value of Express's setting `trust proxy`. */
function proxies(text: string): boolean | number | readonly string[] {
  if (text === '' || text === 'true' || text === 'false') return text === 'true';
  if (/^\d{1,3}$/.test(text)) return Number(text);
  const found = list(text);
  const isRange = (entry: string): boolean =>
    /^(loopback|linklocal|uniquelocal)$/.test(entry) || (isIP(entry.replace(/\/\d{1,3}$/, '')) > 0 && entry !== '');
  if (found.every(isRange)) return found;
  throw new Error('true, a number of hops, or addresses, such as loopback,10.0.0.0/8');
}

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2 };

/** V8 holds at most 512 MiB of text as one string, and a body is parsed as one: half of that leaves room. */
const LARGEST_BODY = 256 * 1024 ** 2;

function bodySize(text: string): number {
  const [, amount = '', unit = 'b'] = /^(\d{1,10})\s*(b|kb|mb)?$/i.exec(text) ?? [];
  const size = Number(amount) * (UNITS[unit.toLowerCase()] ?? 1);
  if (size >= 1 && size <= LARGEST_BODY) return size;
  throw new Error('a size from 1 to 256mb, such as 500, 100kb or 10mb');
}
