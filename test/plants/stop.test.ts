import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { endAll, launch } from '../support/launch.ts';
import { exchange, request } from '../support/raw-http.ts';
import { plantsIn } from './support/plant-service.ts';

/** How many stops each test makes. */
const ROUNDS = Number(process.env.STOP_ROUNDS ?? 1);
const CLIENTS = 24;
const HEADERS = { Authorization: 'Bearer token', 'Content-Type': 'application/json' };

/** The service without a store, as several workers can run it. */
const STORELESS = join(import.meta.dirname, 'support/storeless.ts');

const folder = mkdtempSync(join(tmpdir(), 'plants-stop-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Sends plants from many clients, each of which waits for its answer before it sends the next one, and connects again
 * when the service closes its connection. It is over when the port is closed to all.
 */
function load(port: number) {
  const lost: string[] = [];
  const acknowledged: bigint[] = [];
  let ids = 0;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (await connection());
  };
  /** Resolves to whether there was one. */
  const connection = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let connected = false;
      let waiting = 0;
      let received = '';
      const send = () => {
        ids += 1;
        waiting = ids;
        socket.write(request('POST /plants', HEADERS, JSON.stringify({ id: waiting, name: 'Fern' })));
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

test.each([
  ['1', '0'],
  ['1', '1'],
  ['2', '0'],
])(
  'a stop under load resets no request, with WORKERS=%s and DRAIN_SECONDS=%s',
  async (WORKERS, DRAIN_SECONDS) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const database = join(folder, `${WORKERS}-${DRAIN_SECONDS}-${round}.db`);
      const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}`, WORKERS, DRAIN_SECONDS };
      const service = launch(env, WORKERS === '1' ? {} : { main: STORELESS });
      const { lost, acknowledged, over } = load(Number(new URL(await service.url).port));
      await eventually(() => acknowledged.length > 10 * CLIENTS);
      service.child.kill('SIGTERM');
      await over;
      expect(lost).toEqual([]);
      expect(await service.exit).toBe(0);
      if (WORKERS !== '1') continue;
      const stored = plantsIn(database);
      expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    }
  },
  60_000 + ROUNDS * 10_000,
);

test('a stop announces itself in every answer, and gives idle connections time for a request', async () => {
  const service = launch({ ACCESS_TOKENS: 'token', DRAIN_SECONDS: '2' });
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
