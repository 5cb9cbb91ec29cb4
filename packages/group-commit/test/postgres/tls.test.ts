import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Certificate, makeCertificate } from 'test-support/certificate';
import { Unusable } from '../../src/postgres/database.ts';
import { listen, open, opened, server, useServer } from './support.ts';

useServer();

const serverCertificate = makeCertificate('127.0.0.1');
const elsewhere = makeCertificate('192.0.2.1');

/** Takes connections with TLS only, and forwards them to the server. */
async function tlsProxy(certificate: Certificate): Promise<number> {
  const listener = createServer((near) => {
    near.on('error', () => {});
    // The client asks for TLS with eight bytes, and starts it when the answer is S.
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
    folder = await mkdtemp(join(tmpdir(), 'plants-tls-'));
    await writeFile(join(folder, 'own.pem'), serverCertificate.cert);
    await writeFile(join(folder, 'elsewhere.pem'), elsewhere.cert);
    await writeFile(join(folder, 'serverCertificate.key'), serverCertificate.key);
    await writeFile(join(folder, 'elsewhere.key'), elsewhere.key);
    await writeFile(join(folder, 'garbage'), 'garbage');
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.each<[string, Certificate, string, RegExp | undefined]>([
    ['trusts whoever answers under require', elsewhere, 'require', undefined],
    [
      'trusts its authority for any host under verify-ca',
      elsewhere,
      'verify-ca&sslrootcert=elsewhere.pem',
      undefined,
    ],
    [
      'trusts its authority for the host under verify-full',
      serverCertificate,
      'verify-full&sslrootcert=own.pem',
      undefined,
    ],
    [
      'rejects another authority under require',
      elsewhere,
      'require&sslrootcert=own.pem',
      /sslrootcert=FILE/,
    ],
    [
      'rejects another authority under verify-ca',
      elsewhere,
      'verify-ca&sslrootcert=own.pem',
      /sslrootcert=FILE/,
    ],
    [
      'rejects another host under verify-full',
      elsewhere,
      'verify-full&sslrootcert=elsewhere.pem',
      /not in the cert.*must have the host name/,
    ],
    [
      'rejects an authority that nobody knows under verify-full',
      serverCertificate,
      'verify-full',
      /self-signed.*sslrootcert=FILE/,
    ],
    [
      'rejects an authority that is not a certificate',
      serverCertificate,
      'verify-full&sslrootcert=garbage',
      /sslrootcert=FILE|sslcert/,
    ],
    [
      'shows a certificate of its own',
      serverCertificate,
      'require&sslcert=own.pem&sslkey=serverCertificate.key',
      undefined,
    ],
    [
      "rejects a certificate with another one's key",
      serverCertificate,
      'require&sslcert=own.pem&sslkey=elsewhere.key',
      /sslcert and sslkey.*its own key/,
    ],
    [
      'rejects a certificate that is none',
      serverCertificate,
      'require&sslcert=garbage&sslkey=serverCertificate.key',
      /sslcert and sslkey.*its own key/,
    ],
    [
      'rejects a key that is none',
      serverCertificate,
      'require&sslcert=own.pem&sslkey=garbage',
      /sslcert and sslkey.*its own key/,
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
  /** The warnings of an open store. */
  async function warningsOf(url: string): Promise<string[]> {
    const warnings: string[] = [];
    await open(url, { warn: (message) => warnings.push(message) });
    return warnings;
  }

  test.each(['', '&sslmode=prefer'])('%s uses TLS where the server offers it', async (mode) => {
    const url = await server.createSchema();
    const port = await tlsProxy(elsewhere);
    await (await open(`${url.replace(String(server.port), String(port))}${mode}`)).add('Basil');
  });

  test.each(['', '&sslmode=prefer'])(
    '%s goes on without TLS where the server offers none',
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

describe('a default of the URL', () => {
  const environment = { ...process.env };
  afterEach(() => {
    process.env = { ...environment };
  });

  test('comes from PGSSLMODE', async () => {
    const url = await server.createSchema();
    process.env.PGSSLMODE = 'verify-full';
    await expect(open(url)).rejects.toThrow(/does not support SSL/);
    await (await open(`${url}&sslmode=disable`)).add('Basil');
    process.env.PGSSLMODE = 'always';
    await expect(open(url)).rejects.toThrow('sslmode must be one of disable, prefer');
  });

  test('comes from PGSSLROOTCERT, unless the URL says sslrootcert=system', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plants-authority-'));
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
