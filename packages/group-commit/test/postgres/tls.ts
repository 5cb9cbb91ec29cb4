import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Certificate, makeCertificate } from 'test-support/certificate';
import { Unusable } from '../../src/errors.ts';
import { createConnections } from '../../src/postgres/connections.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { listen, open, opened, server } from './support.ts';

const serverCertificate = makeCertificate('127.0.0.1');
const elsewhere = makeCertificate('192.0.2.1');

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
    await writeFile(join(folder, 'server.pem'), serverCertificate.cert);
    await writeFile(join(folder, 'elsewhere.pem'), elsewhere.cert);
    await writeFile(join(folder, 'server.key'), serverCertificate.key);
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
      'verify-full&sslrootcert=server.pem',
      undefined,
    ],

    [
      'verify-ca rejects another authority',
      elsewhere,
      'verify-ca&sslrootcert=server.pem',
      /sslrootcert/,
    ],
    [
      'verify-full rejects another host',
      elsewhere,
      'verify-full&sslrootcert=elsewhere.pem',
      /not in the cert.*sslmode/,
    ],

    [
      'a client certificate is sent with its key',
      serverCertificate,
      'require&sslcert=server.pem&sslkey=server.key',
      undefined,
    ],
    [
      'a client certificate with another key is rejected',
      serverCertificate,
      'require&sslcert=server.pem&sslkey=elsewhere.key',
      /sslcert and sslkey/,
    ],

    [
      'an sslkey that is not a key is rejected',
      serverCertificate,
      'require&sslcert=server.pem&sslkey=garbage',
      /sslcert and sslkey/,
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
  function create(url: string) {
    const warnings: string[] = [];
    const connections = createConnections(
      readUrl(url, 'notes'),
      async () => {},
      (message) => warnings.push(message),
    );
    opened.push({ close: connections.end });
    return { ...connections, warnings };
  }

  test('prefers TLS if the server supports it', async () => {
    const url = await server.createSchema();
    const port = await tlsProxy(elsewhere);
    await (await open(url.replace(String(server.port), String(port)))).add('Basil');
  });

  test('concurrent connections without TLS all succeed, with one warning', async () => {
    const url = (await server.createSchema()).replace('@127.0.0.1', '@0.0.0.0');
    const { connect, stats, warnings } = create(url);
    await Promise.all([connect(), connect(), connect()]);
    expect(stats().connections).toBe(3);
    expect(warnings).toEqual([
      `the connection to PostgreSQL at 0.0.0.0:${server.port} is not encrypted: add sslmode=verify-full to the URL`,
    ]);
  });

  test.each([
    ['sslmode=disable', '0.0.0.0', 1],
    ['sslmode=disable', '127.0.0.1', 0],
    ['sslmode=disable', '127.0.0.1,0.0.0.0,0.0.0.1', 2],
    ['sslmode=require', '0.0.0.0', 0],
  ])('%s warns at the start about the host %s: %d times', (mode, host, count) => {
    expect(create(`postgres://u@${host}/notes?${mode}`).warnings).toHaveLength(count);
  });
});
