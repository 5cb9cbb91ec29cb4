import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from 'pg';
import { type Certificate, makeCertificate } from 'test-support/certificate';
import { eventually } from 'test-support/eventually';
import { Unusable } from '../../src/errors.ts';
import { createHosts } from '../../src/postgres/hosts.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { listen, open, opened, server, useServer } from './support.ts';

useServer();

/** Creates the hosts of a URL, and collects what they report. */
function create(url: string, setUp: (client: Client) => Promise<void> = async () => {}) {
  const warnings: string[] = [];
  const seconds: number[] = [];
  const settings = readUrl(url, 'notes');
  const hosts = createHosts(
    settings,
    setUp,
    (message) => warnings.push(message),
    (took) => seconds.push(took),
  );
  opened.push({ close: hosts.end });
  return { ...hosts, settings, warnings, seconds };
}

/** Adds hosts before or after the host of the server. */
const withHosts = (url: string, before: string, after = ''): string =>
  url.replace(`@127.0.0.1:${server.port}`, `@${before}127.0.0.1:${server.port}${after}`);

/** Starts a host that closes each connection, and counts them. */
async function startDeadHost() {
  const state = { port: 0, attempts: 0 };
  const listener = createServer((socket) => {
    state.attempts += 1;
    socket.destroy();
  });
  opened.push({ close: () => listener.close() });
  state.port = await listen(listener);
  return state;
}

describe('connect', () => {
  test('opens and prepares a connection, and returns it again when it is idle', async () => {
    const clients: unknown[] = [];
    const url = await server.createSchema();
    const { connect, seconds, settings, stats } = create(url, async (client) => {
      clients.push(client);
    });
    const before = performance.now();
    const connection = await connect();
    const { client, opened: time, pid, target } = connection;
    expect((await client.query('SELECT pg_backend_pid() AS pid')).rows).toEqual([{ pid }]);
    expect(target).toBe(settings.targets[0]);
    expect(time).toBeGreaterThan(before);
    expect(time).toBeLessThan(performance.now());
    expect(stats()).toEqual({ connections: 1, connections_idle: 0 });
    client.release();
    expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
    expect(await connect()).toBe(connection);
    const other = await connect();
    expect(other.pid).not.toBe(pid);
    expect(clients).toEqual([client, other.client]);
    expect(seconds).toHaveLength(2);
    expect(seconds[0]).toBeGreaterThan(0);
    expect(seconds[0]).toBeLessThan(60);
  });

  test('closes a connection whose setUp fails', async () => {
    const { connect, stats, seconds } = create(await server.createSchema(), async () => {
      throw new Unusable('The table has no column id.');
    });
    await expect(connect()).rejects.toThrow('The table has no column id.');
    expect(stats()).toEqual({ connections: 0, connections_idle: 0 });
    expect(seconds).toEqual([]);
  });

  test('turns on synchronous_commit if the role turned it off', async () => {
    await server.query(
      "CREATE ROLE hasty LOGIN PASSWORD 'p'; ALTER ROLE hasty SET synchronous_commit = off",
    );
    const url = (await server.createSchema()).replace(/\/\/.*@/, '//hasty:p@');
    const { client } = await create(url).connect();
    expect((await client.query('SHOW synchronous_commit')).rows).toEqual([
      { synchronous_commit: 'on' },
    ]);
  });

  test('uses the first host that responds, and starts with it the next time', async () => {
    const dead = await startDeadHost();
    const url = withHosts(await server.createSchema(), `127.0.0.1:${dead.port},`);
    const { connect, settings } = create(url);
    expect((await connect()).target).toBe(settings.targets[1]);
    expect(dead.attempts).toBe(1);
    expect((await connect()).target).toBe(settings.targets[1]);
    expect(dead.attempts).toBe(1);
  });

  test('rejects with the error of the host, or with those of all hosts', async () => {
    const [first, second] = [await startDeadHost(), await startDeadHost()];
    const url = `postgres://u:p@127.0.0.1:${first.port}`;
    await expect(create(`${url}/notes`).connect()).rejects.toThrow(/ECONNRESET|terminated/);
    const both = create(`${url},127.0.0.1:${second.port}/notes`).connect();
    await expect(both).rejects.toBeInstanceOf(AggregateError);
    await expect(both).rejects.toHaveProperty('errors.length', 2);
    expect([first.attempts, second.attempts]).toEqual([2, 1]);
  });

  test.each([
    ['any', true],
    ['read-write', true],
    ['read-only', false],
    ['primary', true],
    ['standby', false],
  ])('with target_session_attrs=%s, accepts a primary: %p', async (session, isAccepted) => {
    const url = await server.createSchema();
    const { connect, stats } = create(`${url}&target_session_attrs=${session}`);
    if (isAccepted) await connect();
    else {
      await expect(connect()).rejects.toThrow(
        `127.0.0.1:${server.port} does not have target_session_attrs=${session}`,
      );
      expect(stats().connections).toBe(0);
    }
  });
});

test('avoid uses the next host, and after the last one the first', async () => {
  const url = withHosts(await server.createSchema(), '', `,localhost:${server.port}`);
  const { avoid, connect, discard, settings } = create(url);
  const [first, second] = settings.targets;
  const targetOfNext = async () => {
    const { client, target } = await connect();
    discard(client);
    return target;
  };
  expect(await targetOfNext()).toBe(first);
  avoid(first);
  expect(await targetOfNext()).toBe(second);
  // Another call has changed the host before.
  avoid(first);
  expect(await targetOfNext()).toBe(second);
  if (second) avoid(second);
  expect(await targetOfNext()).toBe(first);
});

test('cancel ends the statement of a connection, which stays usable', async () => {
  const { cancel, connect } = create(await server.createSchema());
  const connection = await connect();
  const sleep = connection.client.query('SELECT pg_sleep(600)');
  const failed = expect(sleep).rejects.toHaveProperty('code', '57014');
  await cancel(connection);
  await failed;
  await connection.client.query('SELECT 1');
  const names = "SELECT FROM pg_stat_activity WHERE application_name = 'group-commit cancel'";
  await eventually(async () => (await server.query(names)).length === 0);
});

test('cancel resolves if the host does not respond', async () => {
  const dead = await startDeadHost();
  const { cancel, connect, settings } = create(
    withHosts(await server.createSchema(), `127.0.0.1:${dead.port},`),
  );
  await cancel({ ...(await connect()), target: settings.targets[0] });
  expect(dead.attempts).toBe(2);
});

test('end does not wait for connections that are closed', async () => {
  const { connect, discard, end, stats } = create(await server.createSchema());
  opened.pop();
  const { client } = await connect();
  const closed = new Promise<void>((resolve) => client.once('end', resolve));
  discard(client);
  await closed;
  const start = performance.now();
  await end();
  expect(performance.now() - start).toBeLessThan(900);
  expect(stats().connections).toBe(0);
});

test.each(['discard', 'end'] as const)(
  '%s destroys the socket of a server that does not respond for a second',
  async (name) => {
    const destroyed = Promise.withResolvers<void>();
    // Forwards everything but the end of the server's side.
    const listener = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect(server.port, '127.0.0.1');
      let interval: NodeJS.Timeout | undefined;
      near.on('data', (data) => void far.write(data));
      far.on('data', (data) => void near.write(data));
      far.on('error', () => {});
      near.on('error', () => {});
      near.on('end', () => {
        // Only a destroyed socket resets the connection.
        interval = setInterval(() => near.write('x'), 50);
      });
      near.on('close', () => {
        clearInterval(interval);
        far.destroy();
        destroyed.resolve();
      });
    });
    opened.push({ close: () => listener.close() });
    const port = await listen(listener);
    const url = (await server.createSchema()).replace(String(server.port), String(port));
    const { connect: open, ...hosts } = create(`${url}&sslmode=disable`);
    const { client } = await open();
    const start = performance.now();
    if (name === 'discard') hosts.discard(client);
    else {
      client.release();
      opened.pop();
      await hosts.end();
    }
    await destroyed.promise;
    expect(performance.now() - start).toBeGreaterThan(900);
  },
);

const serverCertificate = makeCertificate('127.0.0.1');
const elsewhere = makeCertificate('192.0.2.1');

/** Starts a proxy with TLS in front of the server. */
async function tlsProxy(certificate: Certificate): Promise<number> {
  const listener = createServer((near) => {
    near.on('error', () => {});
    // The client requests TLS with eight bytes, and starts it after the response S.
    near.once('data', () => {
      near.write('S');
      const plain = new TLSSocket(near, { isServer: true, ...certificate });
      const far = connect(server.port, '127.0.0.1');
      plain.on('error', () => far.destroy());
      far.on('error', () => plain.destroy());
      plain.pipe(far).pipe(plain);
    });
  });
  opened.unshift({ close: () => listener.close() });
  return listen(listener);
}

describe('TLS', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notes-tls-'));
    await writeFile(join(folder, 'own.pem'), serverCertificate.cert);
    await writeFile(join(folder, 'elsewhere.pem'), elsewhere.cert);
    await writeFile(join(folder, 'serverCertificate.key'), serverCertificate.key);
    await writeFile(join(folder, 'elsewhere.key'), elsewhere.key);
    await writeFile(join(folder, 'garbage'), 'garbage');
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.each<[string, Certificate, string, RegExp | undefined]>([
    ['require trusts any certificate', elsewhere, 'require', undefined],
    [
      'verify-ca trusts a certificate of its issuer for any host',
      elsewhere,
      'verify-ca&sslrootcert=elsewhere.pem',
      undefined,
    ],
    [
      'verify-full trusts a certificate of its issuer for the host',
      serverCertificate,
      'verify-full&sslrootcert=own.pem',
      undefined,
    ],
    [
      'require with sslrootcert rejects another authority',
      elsewhere,
      'require&sslrootcert=own.pem',
      /sslrootcert=FILE/,
    ],
    [
      'verify-ca rejects another authority',
      elsewhere,
      'verify-ca&sslrootcert=own.pem',
      /sslrootcert=FILE/,
    ],
    [
      'verify-full rejects another host',
      elsewhere,
      'verify-full&sslrootcert=elsewhere.pem',
      /not in the cert.*must have the host name/,
    ],
    [
      'verify-full rejects an unknown authority',
      serverCertificate,
      'verify-full',
      /self-signed.*sslrootcert=FILE/,
    ],
    [
      'an sslrootcert that is not a certificate is rejected',
      serverCertificate,
      'verify-full&sslrootcert=garbage',
      /sslrootcert=FILE|sslcert/,
    ],
    [
      'a client certificate is sent with its key',
      serverCertificate,
      'require&sslcert=own.pem&sslkey=serverCertificate.key',
      undefined,
    ],
    [
      'a client certificate with another key is rejected',
      serverCertificate,
      'require&sslcert=own.pem&sslkey=elsewhere.key',
      /sslcert and sslkey.*its key/,
    ],
    [
      'an sslcert that is not a certificate is rejected',
      serverCertificate,
      'require&sslcert=garbage&sslkey=serverCertificate.key',
      /sslcert and sslkey.*its key/,
    ],
    [
      'an sslkey that is not a key is rejected',
      serverCertificate,
      'require&sslcert=own.pem&sslkey=garbage',
      /sslcert and sslkey.*its key/,
    ],
  ])('%s', async (_, certificate, parameters, rejected) => {
    const port = await tlsProxy(certificate);
    const mode = parameters.replaceAll(/(rootcert|cert|key)=/g, `$&${encodeURIComponent(folder)}/`);
    const url = `${(await server.createSchema()).replace(String(server.port), String(port))}&sslmode=${mode}`;
    if (rejected) {
      const error = await open(url).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(Unusable);
      expect(String(error)).toMatch(rejected);
    } else {
      await (await open(url)).add('Basil');
    }
  });
});

describe('sslmode', () => {
  /** Returns the warnings of an open database. */
  async function warningsOf(url: string): Promise<string[]> {
    const warnings: string[] = [];
    await open(url, { warn: (message) => warnings.push(message) });
    return warnings;
  }

  test.each(['', '&sslmode=prefer'])('"%s" uses TLS if the server supports it', async (mode) => {
    const url = await server.createSchema();
    const port = await tlsProxy(elsewhere);
    await (await open(`${url.replace(String(server.port), String(port))}${mode}`)).add('Basil');
  });

  test('concurrent connections without TLS all succeed, with one warning', async () => {
    const url = (await server.createSchema()).replace('@127.0.0.1', '@0.0.0.0');
    const { connect, warnings } = create(url);
    await Promise.all([connect(), connect(), connect()]);
    expect(warnings).toEqual([
      `the connection to PostgreSQL at 0.0.0.0:${server.port} is not encrypted: add sslmode=verify-full to the URL`,
    ]);
  });

  test.each([
    ['sslmode=disable', '0.0.0.0', 1],
    ['sslmode=disable', '127.0.0.1', 0],
    ['sslmode=require', '0.0.0.0', 0],
  ])('%s warns at the start about the host %s: %d times', (mode, host, count) => {
    expect(create(`postgres://u@${host}/notes?${mode}`).warnings).toHaveLength(count);
  });

  test.each(['', '&sslmode=prefer'])(
    '"%s" connects without TLS if the server does not support it',
    async (mode) => {
      const url = `${await server.createSchema()}${mode}`;
      expect(await warningsOf(url)).toEqual([]);
      const remote = url.replace('@127.0.0.1', '@0.0.0.0');
      expect(await warningsOf(remote)).toEqual([
        expect.stringMatching(/0\.0\.0\.0:\d+ is not encrypted/),
      ]);
    },
  );
});

describe('an environment variable', () => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  test('PGSSLMODE is the default of sslmode', async () => {
    const url = await server.createSchema();
    process.env.PGSSLMODE = 'verify-full';
    await expect(open(url)).rejects.toThrow(/does not support SSL/);
    await (await open(`${url}&sslmode=disable`)).add('Basil');
    process.env.PGSSLMODE = 'always';
    await expect(open(url)).rejects.toThrow('sslmode must be one of disable, prefer');
  });

  test('PGSSLROOTCERT is the default of sslrootcert', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'notes-authority-'));
    await writeFile(join(folder, 'own.pem'), serverCertificate.cert);
    const port = await tlsProxy(serverCertificate);
    const url = `${(await server.createSchema()).replace(String(server.port), String(port))}&sslmode=verify-full`;
    process.env.PGSSLROOTCERT = join(folder, 'own.pem');
    await (await open(url)).add('Basil');
    await expect(open(`${url}&sslrootcert=system`)).rejects.toThrow(
      /self-signed.*sslrootcert=FILE/,
    );
    process.env.PGSSLROOTCERT = 'system';
    await expect(open(url)).rejects.toThrow(/self-signed.*sslrootcert=FILE/);
    await rm(folder, { recursive: true });
  });
});
