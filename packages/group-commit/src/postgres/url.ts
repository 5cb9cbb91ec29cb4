import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import { Unusable } from '../errors.ts';

const TLS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'];
const HOSTS = ['host', 'port', 'target_session_attrs', 'load_balance_hosts'];
const PARAMETERS = ['application_name', 'connect_timeout', 'keepalives_idle', 'options', 'user', 'password'];
const KNOWN = [...PARAMETERS, ...HOSTS, ...TLS, 'max', 'statement_timeout'].sort();
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

/** A host that may serve, and how to connect to it. */
export interface Target {
  readonly config: ClientConfig & { readonly host: string };
  readonly location: string;
  /** Whether what is sent leaves the machine. */
  readonly remote: boolean;
}

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?…`. The parameters mean what they mean to libpq. In addition,
 * `max` is the number of connections, and `statement_timeout` the time for a statement in milliseconds.
 *
 * @throws {Unusable} if it is wrong. The message never holds the URL, which may hold a password.
 */
export function readUrl(url: string, name: string, password?: () => Promise<string>) {
  const wrong = (what: string): Unusable => new Unusable(`The PostgreSQL URL is wrong: ${what}`);
  // The first / ? or # ends the hosts: an @ after it was meant for the password.
  const [, start, authority = '', path = '', query] =
    /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(\/[^@?#]*)?(?:\?([^@#]*|host=[^#]*))?$/i.exec(url) ?? [];
  if (start === undefined || authority.split(',').some((host) => host !== '' && !URL.canParse(`${start}${host}`))) {
    throw wrong(
      'it must be of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %2F %3F %23 %40 %3A %25 for the ' +
        'characters / ? # @ : % of a user or password',
    );
  }
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw wrong(`the parameter "${unknown}" is unknown; known are ${KNOWN.join(', ')}`);

  function oneOf<Value extends string>(name: string, values: readonly Value[], preset: string): Value {
    const text = parameters.get(name) ?? preset;
    const value = values.find((each) => each === text);
    if (value === undefined) throw wrong(`${name} is "${text}", but must be one of ${values.join(', ')}`);
    return value;
  }
  function integer(name: string, preset: number, least: number, most: number): number {
    const value = Number(parameters.get(name) ?? preset);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw wrong(`${name} is "${parameters.get(name)}", but must be an integer from ${least} to ${most}`);
  }

  const mode = oneOf('sslmode', MODES, process.env.PGSSLMODE || 'prefer');
  parameters.set('sslmode', mode);
  const { PGSSLROOTCERT } = process.env;
  if (PGSSLROOTCERT && !parameters.has('sslrootcert')) parameters.set('sslrootcert', PGSSLROOTCERT);
  // What Node trusts without it.
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
  const statementTimeout = integer('statement_timeout', 3_000, 0, 60_000);
  const patience = statementTimeout || 3_000;
  const shared: ClientConfig = {
    connectionTimeoutMillis: 1000 * integer('connect_timeout', 3, 1, 60),
    statement_timeout: statementTimeout,
    // For statements that have no limit of their own in connections.ts.
    query_timeout: patience + 500,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1000 * integer('keepalives_idle', 30, 1, 7_200),
    pipeline: true,
    ...(password && { password }),
  };

  function targetOf(entry: string, port: string | undefined): Target {
    const own = new URLSearchParams(parameters);
    for (const each of ['host', 'port']) own.delete(each);
    if (entry.startsWith('/')) own.set('host', entry);
    if (port) own.set('port', port);
    const one = `${start}${entry.startsWith('/') ? '' : entry}${path}?${own}`;
    try {
      const config = { application_name: name, ...toClientConfig(parse(one, { useLibpqCompat: true })), ...shared };
      const host = config.host || process.env.PGHOST || 'localhost';
      const local = host.startsWith('/');
      if (local && mode === 'prefer') config.ssl = false;
      return {
        config: { ...config, host },
        location: `${host}${config.port && !local ? `:${config.port}` : ''}`,
        remote: !/^(\/|localhost$|127\.|::1$)/.test(host),
      };
    } catch (error) {
      throw wrong(error instanceof URIError ? 'write %25 for the character %' : String(Object(error).message));
    }
  }

  const hosts = (parameters.get('host') ?? authority).split(',');
  const ports = parameters.get('port')?.split(',') ?? [];
  const targets = hosts.map((host, at) => targetOf(host, ports[at] ?? ports[0]));
  return {
    targets,
    location: `${targets.map(({ location }) => location).join(',')}/${targets[0]?.config.database ?? ''}`,
    prefersTls: mode === 'prefer',
    session: oneOf('target_session_attrs', SESSIONS, process.env.PGTARGETSESSIONATTRS || 'any'),
    shuffled: oneOf('load_balance_hosts', ['disable', 'random'], 'disable') === 'random',
    max: integer('max', 4, 1, 100),
    /** Milliseconds. Without a limit at the server, statements are cancelled from here. */
    patience,
  };
}
