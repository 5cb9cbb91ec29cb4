import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';
import { StoreRefused } from './store.ts';

/** What a PostgreSQL URL says, with everything that it leaves open filled in. */
export interface PostgresSettings {
  /** For pg's `Client`; holds the password. */
  readonly client: ClientConfig;
  /** The server and database, for people: never with the user's name or password. */
  readonly place: string;
  /** The most connections to open, ≥ 1. */
  readonly connections: number;
  /** Milliseconds within which a connection must be made. */
  readonly connectTimeout: number;
  /** Milliseconds within which a statement must be answered; the server is told to give up on it then, too. */
  readonly statementTimeout: number;
}

const PARAMETERS = [
  'application_name',
  'connect_timeout',
  'host',
  'max',
  'options',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'statement_timeout',
];
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** Stands where a URL has a user but no host, which WHATWG URLs do not know and libpq does. */
const NO_HOST = 'host.invalid';
const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`. The parameters mean what they mean to PostgreSQL's own clients:
 *
 * - `connect_timeout` in seconds (1 to 60; 3), `statement_timeout` in milliseconds (100 to 60000; 3000);
 * - `sslmode`: `disable` (default), `require`, `verify-ca`, `verify-full`; `sslrootcert`, `sslcert`, `sslkey` are files;
 * - `application_name`, `options`, and `host` for the folder of a Unix socket, as in `postgres://USER@/DATABASE?host=/FOLDER`;
 * - `max`, as in node-postgres, is the most connections to open (1 to 100; 4).
 *
 * What the URL leaves out may come from PGUSER, PGPASSWORD, PGHOST, PGPORT, PGDATABASE, PGOPTIONS and PGSSLMODE.
 *
 * @throws {StoreRefused} if the URL does not say that. The message never shows a part of the URL that may be the password.
 */
export function readPostgresUrl(text: string): PostgresSettings {
  const [, , afterAuthority = ''] = /^([a-z]+:\/\/[^/?#]*)(.*)$/is.exec(text) ?? [];
  const url = URL.parse(text.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[:/?#]|$)/i, `$1${NO_HOST}`));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.hash !== '' || afterAuthority.includes('@')) {
    throw new StoreRefused(
      `The PostgreSQL URL is not of the form ${FORM}. Write the characters / ? # @ : % as %2F %3F %23 %40 %3A %25 ` +
        'where they belong to a name or a password.',
    );
  }
  const parameters = readParameters(url);
  const hostname = url.hostname === NO_HOST ? '' : url.hostname;
  const host = parameters.get('host') ?? decode(hostname.replace(/^\[(.*)\]$/, '$1'), 'host');
  const database = decode(url.pathname.slice(1), 'database');
  if (url.pathname.slice(1).includes('/')) {
    throw new StoreRefused(`The PostgreSQL URL names more than one database; the form is ${FORM}`);
  }
  const connectTimeout = readInteger(parameters, 'connect_timeout', 'seconds', 3, 1, 60) * 1000;
  const statementTimeout = readInteger(parameters, 'statement_timeout', 'milliseconds', 3000, 100, 60_000);
  return {
    client: {
      user: decode(url.username, 'user') || undefined,
      password: decode(url.password, 'password') || undefined,
      host: host || undefined,
      port: url.port === '' ? undefined : Number(url.port),
      database: database || undefined,
      application_name: parameters.get('application_name') ?? 'openapi-plant-store',
      options: parameters.get('options'),
      ssl: readTls(parameters),
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      connectionTimeoutMillis: connectTimeout,
      statement_timeout: statementTimeout,
    },
    place: `${parameters.get('host') ?? ((hostname && url.host) || 'localhost')}/${database}`,
    connections: readInteger(parameters, 'max', 'connections', 4, 1, 100),
    connectTimeout,
    statementTimeout,
  };
}

function readParameters(url: URL): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.includes(name)) {
      throw new StoreRefused(
        `The PostgreSQL URL has the parameter "${name}", which is unknown here; known are ${PARAMETERS.join(', ')}`,
      );
    }
    if (parameters.has(name))
      throw new StoreRefused(`The PostgreSQL URL has the parameter "${name}" twice; once is right`);
    parameters.set(name, value);
  }
  return parameters;
}

function readInteger(
  parameters: Map<string, string>,
  name: string,
  unit: string,
  fallback: number,
  least: number,
  most: number,
): number {
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new StoreRefused(
    `${name} in the PostgreSQL URL is "${text}"; it must be a whole number of ${unit} from ${least} to ${most}`,
  );
}

/** TLS as libpq does it: `require` encrypts and trusts whoever answers, unless a root certificate is given. */
function readTls(parameters: Map<string, string>): ClientConfig['ssl'] {
  const given = parameters.get('sslmode');
  const mode = given ?? (process.env.PGSSLMODE || 'disable');
  if (!SSL_MODES.includes(mode)) {
    const place = given === undefined ? 'PGSSLMODE' : 'sslmode in the PostgreSQL URL';
    throw new StoreRefused(`${place} is "${mode}"; it must be one of ${SSL_MODES.join(', ')}`);
  }
  const files = { ca: readFile('sslrootcert'), cert: readFile('sslcert'), key: readFile('sslkey') };
  if (mode === 'disable') {
    if (files.ca !== undefined || files.cert !== undefined || files.key !== undefined) {
      throw new StoreRefused('The PostgreSQL URL names certificates but no TLS; add sslmode=verify-full');
    }
    return false;
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new StoreRefused('The PostgreSQL URL has one of sslcert and sslkey; it must have both or neither');
  }
  if (mode === 'verify-full') return files;
  if (files.ca !== undefined) return { ...files, checkServerIdentity: () => undefined };
  if (mode === 'require') return { ...files, rejectUnauthorized: false };
  throw new StoreRefused('sslmode=verify-ca needs sslrootcert=FILE in the PostgreSQL URL; or say sslmode=verify-full');

  function readFile(name: string): string | undefined {
    const path = parameters.get(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      throw new StoreRefused(
        `${name} in the PostgreSQL URL is "${path}", which cannot be read; it must be a PEM file`,
        {
          cause,
        },
      );
    }
  }
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StoreRefused(`The ${part} in the PostgreSQL URL has a stray %; write %25 for the character itself`);
  }
}
