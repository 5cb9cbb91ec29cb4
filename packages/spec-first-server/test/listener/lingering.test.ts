import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { Lingering, type LingerLimits } from '../../src/listener/lingering.ts';

const NEVER = 600_000;

const server = createServer({ allowHalfOpen: true });
let port: number;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = Number(Object(server.address()).port);
});
afterAll(() => void server.close());

/** Opens connections that linger in this order. Their clients end their side on demand. */
async function linger(limits: Partial<LingerLimits> = {}, count = 1) {
  const lingering = new Lingering({ lingerTimeout: NEVER, maxLinger: NEVER, ...limits });
  const pairs: { readonly client: Socket; readonly socket: Socket }[] = [];
  for (let index = 0; index < count; index += 1) {
    const accepted = once(server, 'connection');
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [socket] = await accepted;
    for (const end of [client, socket]) end.on('error', () => undefined);
    pairs.push({ client, socket });
    lingering.add(socket, () => {
      socket.pause();
      void immediate().then(() => socket.resume());
    });
  }
  return { lingering, pairs, ...pairs[0] };
}

/** Sends the same bytes again and again, until the server closes the connection. */
async function sendUntilClosed(client: Socket | undefined, bytes: Buffer): Promise<void> {
  while (client?.writable === true) {
    if (!client.writableNeedDrain) client.write(bytes);
    await immediate();
  }
}

test('at most 64 MiB are read', async () => {
  const { lingering, client, socket } = await linger();
  await sendUntilClosed(client, Buffer.alloc(1024 ** 2));
  expect(socket?.bytesRead).toBeGreaterThan(64 * 1024 ** 2);
  expect(socket?.bytesRead).toBeLessThan(65 * 1024 ** 2);
  expect(lingering.size).toBe(0);
});

test('a connection is closed if the client sends nothing', async () => {
  const { lingering, client } = await linger({ lingerTimeout: 20 });
  await eventually(() => lingering.size === 0);
  client?.destroy();
});

test('a connection is closed at its time limit if the client keeps sending', async () => {
  const { lingering, client } = await linger({ maxLinger: 200 });
  await sendUntilClosed(client, Buffer.alloc(1));
  expect(lingering.size).toBe(0);
});

test('the oldest of 257 connections is closed', async () => {
  const { lingering, pairs } = await linger({}, 257);
  await eventually(() => lingering.size === 256);
  expect(pairs.map(({ socket }) => socket.destroyed).indexOf(true)).toBe(0);
  for (const { client } of pairs) client.destroy();
  await eventually(() => lingering.size === 0);
});
