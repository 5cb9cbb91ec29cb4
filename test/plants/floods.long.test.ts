import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, request } from 'test-support/raw-http';
import { endAll, type Launched, launch, post } from '../support/launch.ts';

const MIB = 1024 ** 2;

/** A server for the keys of signed tokens that accepts connections and never responds. */
let stalled: Server;
let service: Launched;
const waiting = new Set<Socket>();
beforeAll(async () => {
  stalled = createServer((socket) => void waiting.add(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  await once(stalled, 'listening');
  service = startFlooded();
});
afterAll(async () => {
  await endAll();
  for (const socket of waiting) socket.destroy();
  stalled.close();
});

/** Encodes the header or the claims of a signed token. */
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token that cannot be verified, since the server of keys never responds. */
const UNVERIFIABLE = `${part({ alg: 'RS256', kid: 'a' })}.${part({ sub: 'a', exp: 4e9 })}.${'a'.repeat(340)}`;

const startFlooded = (): Launched => {
  const address = stalled.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return launch({
    ACCESS_TOKENS: 'token',
    JWKS_URL: `http://127.0.0.1:${port}/`,
    LOG_LEVEL: 'info',
    METRICS_PORT: '0',
    // Above the 20 connections that store plants, and far below the number of their requests.
    MAX_WAITING: '30',
  });
};

const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const POST = { 'Content-Type': 'application/json' };
const PLANT = '{"id":1,"name":"Fern"}';

(existsSync('/proc/self/fd') ? describe : describe.skip)(
  'many concurrent requests with unread responses',
  () => {
    test.each([
      ['for a file of the page', 4, request('GET /docs/swagger-ui-bundle.js', { Host: '' })],
      ['for readiness', 40, request('GET /readyz', { Host: '' })],
      ['for an unknown path', 40, request('GET /nothing', { Host: '' })],
      [
        'with tokens of an issuer that does not answer',
        20,
        request('POST /plants', { ...POST, Authorization: `Bearer ${UNVERIFIABLE}` }, PLANT),
      ],
      [
        'that store plants',
        20,
        request('POST /plants', { ...POST, Authorization: 'Bearer token' }, PLANT),
      ],
      ['for upgrades', 20, request('GET /docs', { Connection: 'Upgrade', Upgrade: 'h2c' })],
    ])(
      '%s use bounded memory, leak no descriptors, and other requests are served',
      async (_kind, count, bytes) => {
        const url = await service.url;
        expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
        const before = descriptors(service.pid);
        const sockets = await Promise.all(
          Array.from({ length: count }, () => connected(Number(new URL(url).port))),
        );
        // More than the buffers of an unread connection hold.
        for (const socket of sockets)
          socket.pause().write(bytes.repeat(Math.ceil((4 * MIB) / count / bytes.length) + 1_310));
        let maximum = 0;
        for (let times = 0; times < 10; times += 1) {
          expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
          maximum = Math.max(maximum, residentBytes(service.pid));
          await delay(50);
        }
        expect(maximum).toBeLessThan(300 * MIB);
        for (const socket of sockets) socket.destroy();
        // The service may have a connection to the server of keys.
        await eventually(() => descriptors(service.pid) <= before + 1);
      },
    );

    test('for metrics use bounded memory, and other requests are served', async () => {
      const listening = await service.line(({ msg }) => msg === 'listening');
      const metrics = new URL(String(listening.metrics));
      const sockets = await Promise.all(
        Array.from({ length: 40 }, () => connected(Number(metrics.port))),
      );
      for (const socket of sockets) socket.pause().write(request('GET /metrics').repeat(3_000));
      let maximum = 0;
      for (let times = 0; times < 10; times += 1) {
        expect((await fetch(metrics, { headers: { Connection: 'close' } })).status).toBe(200);
        maximum = Math.max(maximum, residentBytes(service.pid));
        await delay(50);
      }
      expect(maximum).toBeLessThan(300 * MIB);
      for (const socket of sockets) socket.destroy();
    });
  },
);
