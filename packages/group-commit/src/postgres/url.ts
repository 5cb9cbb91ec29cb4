import type { PoolConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { Unusable } from '../errors.ts';

const TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'];
const PARAMETERS = ['application_name', 'connect_timeout', 'host', 'max', 'options', 'statement_timeout', ...TLS];
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`. The parameters mean what they mean to libpq. In addition, `max`
 * is the number of connections, and `statement_timeout` the time for a statement in milliseconds.
 *
 * @throws {Unusable} if it is wrong. The message never holds the URL, which may hold a password.
 */
export function readUrl(url: string, name: string) {
  const wrong = (what: string): Unusable => new Unusable(`The PostgreSQL URL is wrong: ${what}`);
  // The first / ? or # ends the host: an @ after it was meant for the password.
  if (!URL.canParse(url.replace('@/', '@host/')) || /^[a-z]+:\/\/[^/?#]*[/?#].*@/i.test(url)) {
    throw wrong(
      'it must be of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %2F %3F %23 %40 %3A %25 for the ' +
        'characters / ? # @ : % of a user or password',
    );
  }
  const parameters = new URLSearchParams(url.split('?')[1]);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw wrong(`the parameter "${unknown}" is unknown; known are ${PARAMETERS.join(', ')}`);
  const mode = parameters.get('sslmode') ?? (process.env.PGSSLMODE || 'prefer');
  if (!MODES.includes(mode)) throw wrong(`sslmode is "${mode}", but must be one of ${MODES.join(', ')}`);
  parameters.set('sslmode', mode);

  const integer = (name: string, preset: number, least: number, most: number): number => {
    const value = Number(parameters.get(name) ?? preset);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw wrong(`${name} is "${parameters.get(name)}", but must be an integer from ${least} to ${most}`);
  };
  const config: PoolConfig = {
    application_name: name,
    ...read(),
    max: integer('max', 4, 1, 100),
    connectionTimeoutMillis: 1000 * integer('connect_timeout', 3, 1, 60),
    statement_timeout: integer('statement_timeout', 3000, 100, 60_000),
    keepAlive: true,
  };
  config.query_timeout = Number(config.statement_timeout);
  const host = config.host || process.env.PGHOST || 'localhost';
  if (mode === 'prefer' && host.startsWith('/')) config.ssl = false;
  const location = `${host}${config.port && !host.startsWith('/') ? `:${config.port}` : ''}/${config.database ?? ''}`;
  /** Whether what is sent leaves the machine. */
  const remote = !/^(\/|localhost$|127\.|::1$)/.test(host);
  return { config, location, remote, prefersTls: mode === 'prefer' };

  function read(): PoolConfig {
    try {
      return toClientConfig(parse(`${url.split('?')[0]}?${parameters}`, { useLibpqCompat: true }));
    } catch (error) {
      throw wrong(error instanceof URIError ? 'write %25 for the character %' : String(Object(error).message));
    }
  }
}
