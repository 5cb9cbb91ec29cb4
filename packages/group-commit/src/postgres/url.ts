import { Client, type ClientConfig } from 'pg';
import { Unusable } from '../errors.ts';

const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const SESSION_ATTRIBUTES = ['any', 'read-write', 'read-only', 'primary', 'standby'] as const;

/** The parameters that this file implements. They are removed before pg parses the URL. */
const HANDLED_PARAMETERS = [
  'connect_timeout',
  'keepalives_idle',
  'max',
  'statement_timeout',
  'target_session_attrs',
];

/** The supported parameters. pg implements those that are not in `HANDLED_PARAMETERS`. */
const PARAMETERS = [
  ...HANDLED_PARAMETERS,
  'application_name',
  'host',
  'options',
  'password',
  'port',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'user',
].sort();

/** Captures the scheme with the credentials, the hosts, the path and the query. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([^@?#]*)\??([^@#]*)$/i;

const FORM_ADVICE =
  'it must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, ' +
  'with %2F %3F %23 %40 %3A %25 for the characters / ? # @ : % in a user or password';

export type SessionAttributes = (typeof SESSION_ATTRIBUTES)[number];

/** A host of the URL, with the settings of its connections. */
export type Target = UrlSettings['targets'][number];

export type UrlSettings = ReturnType<typeof readUrl>;

const invalidUrl = (reason: string): Unusable =>
  new Unusable(`The PostgreSQL URL is wrong: ${reason}`);

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?…` with `PARAMETERS`.
 *
 * @throws {Unusable} if it is invalid. The message never contains the URL, since that may contain a
 *   password.
 */
export function readUrl(url: string, name: string, password?: () => Promise<string>) {
  const [, start, hosts = '', path, query] = PARTS.exec(url) ?? [];
  if (start === undefined) throw invalidUrl(FORM_ADVICE);
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((key) => !PARAMETERS.includes(key));
  if (unknown !== undefined) {
    throw invalidUrl(`unknown parameter "${unknown}"; use ${PARAMETERS.join(', ')}`);
  }

  if (parameters.get('host')?.includes(','))
    throw invalidUrl('host must be one host; use postgres://USER@HOST:PORT,HOST:PORT/DATABASE');

  function oneOf<Value extends string>(
    key: string,
    values: readonly Value[],
    preset: string,
  ): Value {
    const text = parameters.get(key) ?? preset;
    const value = values.find((name) => name === text);
    if (value !== undefined) return value;
    throw invalidUrl(`${key} must be one of ${values.join(', ')}, got "${text}"`);
  }

  function integer(key: string, preset: number, min: number, max: number): number {
    const text = parameters.get(key) ?? preset;
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw invalidUrl(`${key} must be an integer from ${min} to ${max}, got "${text}"`);
  }

  const { PGSSLMODE, PGSSLROOTCERT, PGTARGETSESSIONATTRS } = process.env;
  const mode = oneOf('sslmode', MODES, PGSSLMODE || 'prefer');
  parameters.set('sslmode', mode);
  if (PGSSLROOTCERT && !parameters.has('sslrootcert')) parameters.set('sslrootcert', PGSSLROOTCERT);
  // Without a file, pg uses the certificate authorities that Node trusts by default.
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');

  const statementTimeout = integer('statement_timeout', 3_000, 0, 60_000);
  const statementMs = statementTimeout || 3_000;
  const connectMs = 1000 * integer('connect_timeout', 3, 1, 60);
  const max = integer('max', 4, 1, 100);
  const sessionAttributes = oneOf(
    'target_session_attrs',
    SESSION_ATTRIBUTES,
    PGTARGETSESSIONATTRS || 'any',
  );
  const shared: ClientConfig = {
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementTimeout,
    // Limits the statements of `setUp`. Tasks have a limit of their own in connections.ts.
    query_timeout: statementMs + 500,
    options: parameters.get('options') ?? undefined,
    keepAlive: true,
    keepAliveInitialDelayMillis: 1000 * integer('keepalives_idle', 30, 1, 7_200),
    pipeline: true,
    application_name: parameters.get('application_name') ?? name,
  };
  for (const key of HANDLED_PARAMETERS) parameters.delete(key);

  /** @param host a host name with an optional port, or empty. */
  function targetOf(host: string) {
    const parsed = parse(`${start}${host}${path}?${parameters}`);
    const isLocal = parsed.host.startsWith('/');
    return {
      config: {
        ...parsed,
        ...shared,
        password: password ?? parsed.password,
        ssl: isLocal && mode === 'prefer' ? false : parsed.ssl,
      },
      location: `${parsed.host}${isLocal || parsed.port === 5432 ? '' : `:${parsed.port}`}`,
      /** True if the host is another machine. */
      remote: !/^(\/|localhost$|127\.|::1$)/.test(parsed.host),
    };
  }

  const [first = '', ...others] = hosts.split(',');
  const targets = [targetOf(first), ...others.map(targetOf)] as const;
  const locations = targets.map(({ location }) => location).join(',');
  return {
    targets,
    location: `${locations}/${targets[0].config.database ?? ''}`,
    prefersTls: mode === 'prefer',
    sessionAttributes,
    max,
    connectMs,
    statementMs,
    /** True with `statement_timeout=0`: a pooler may use the session for other clients. */
    pooled: statementTimeout === 0,
  };
}

/** Parses the URL of one host with pg, in its mode that is compatible with libpq. */
function parse(url: string) {
  try {
    const { host, port, user, password, database, ssl } = new Client({
      connectionString: `${url}&uselibpqcompat=true`,
    });
    return { host, port, user, password, database, ssl };
  } catch (error) {
    const { code, message } = Object(error);
    const isMalformed = error instanceof URIError || code === 'ERR_INVALID_URL';
    throw invalidUrl(isMalformed ? FORM_ADVICE : message);
  }
}
