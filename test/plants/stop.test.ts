import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { exchange, request } from 'test-support/raw-http';
import { endAll, launch } from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';

/** The number of stops per test. */
const ROUNDS = Number(process.env.STOP_ROUNDS ?? 1);
const CLIENTS = 24;
const HEADERS = { Authorization: 'Bearer token', 'Content-Type': 'application/json' };

const folder = mkdtempSync(join(tmpdir(), 'plants-stop-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Sends plants from many clients. Each client sends one plant at a time, and connects again when the
 * service closes its connection. Ends when no client can connect.
 */
function load(port: number) {
  const lost: string[] = [];
  const acknowledged: bigint[] = [];
  let ids = 0;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (await connection());
  };
  /** Resolves to false if the port was closed. */
  const connection = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let connected = false;
      let waiting = 0;
      let received = '';
      const send = () => {
        ids += 1;
        waiting = ids;
        socket.write(
          request('POST /plants', HEADERS, JSON.stringify({ id: waiting, name: 'Fern' })),
        );
      };
      socket.on('connect', () => {
        connected = true;
        send();
      });
      socket.on('data', (chunk) => {
        received += chunk;
        const [head = '', body] = received.split('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
        if (body === undefined || body.length < length) return;
        if (head.startsWith('HTTP/1.1 200')) acknowledged.push(BigInt(waiting));
        else lost.push(head);
        answered += 1;
        waiting = 0;
        received = '';
        if (/^connection: close$/im.test(head)) socket.end();
        else send();
      });
      let reason = 'closed';
      socket.on('error', (error) => {
        reason = error.message;
      });
      socket.on('close', () => {
        if (connected && waiting !== 0) lost.push(`${reason} after ${answered} answers`);
        resolve(connected);
      });
    });
  return { lost, acknowledged, over: Promise.all(Array.from({ length: CLIENTS }, client)) };
}

test.each(['0', '1'])(
  'a stop under load resets no request, with DRAIN_SECONDS=%s',
  async (DRAIN_SECONDS) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const database = join(folder, `${DRAIN_SECONDS}-${round}.db`);
      const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}`, DRAIN_SECONDS };
      const service = launch(env);
      const { lost, acknowledged, over } = load(Number(new URL(await service.url).port));
      await eventually(() => acknowledged.length > 10 * CLIENTS);
      service.child.kill('SIGTERM');
      await over;
      const log = lost.length === 0 ? '' : service.stdout();
      expect({ round, lost, log }).toEqual({ round, lost: [], log: '' });
      expect(await service.exit).toBe(0);
      const stored = plantsIn(database);
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    }
  },
  120_000 + ROUNDS * 10_000,
);

test('a stop closes connections after a response, and gives idle ones time for a request', async () => {
  const service = launch({ ACCESS_TOKENS: 'token', DRAIN_SECONDS: '4' });
  const port = Number(new URL(await service.url).port);
  const idle = connect(port, '127.0.0.1');
  const post = request('POST /plants', HEADERS, '{"id":1,"name":"Fern"}');
  let received = '';
  idle.on('data', (chunk) => {
    received += chunk;
  });
  idle.write(post);
  await eventually(() => received.includes('Fern'));
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toMatch(/\r\nConnection: keep-alive\r\n/);
  service.child.kill('SIGTERM');
  await service.line(({ msg }) => msg === 'stopping');
  const { responses } = await exchange(port, post);
  expect(responses).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
  received = '';
  idle.write(post);
  await new Promise((resolve) => idle.once('close', resolve));
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toMatch(/\r\nConnection: close\r\n/);
  expect(await service.exit).toBe(0);
});
