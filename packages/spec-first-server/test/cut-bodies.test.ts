import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';

interface Counts {
  readonly begun: number;
  readonly ended: number;
  readonly failed: number;
  readonly descriptors: number;
  /** Folders of uploads on disk. */
  readonly folders: number;
  /** Folders of uploads since the start of the server. */
  readonly seenFolders: number;
  /** The memory that calls may still use. */
  readonly bytesLeft: number;
  /** Listeners for the stop of the service. */
  readonly listeners: number;
  readonly timers: number;
}

const folder = mkdtempSync(join(tmpdir(), 'cut-bodies-'));
const sockets = new Set<Socket>();
let server: ChildProcess;
let port: number;

beforeAll(async () => {
  const env = { ...ENVIRONMENT, TMPDIR: folder };
  server = fork(join(import.meta.dirname, 'cut-bodies-server.ts'), { env });
  [{ port }] = await once(server, 'message');
});
afterAll(async () => {
  const exit = once(server, 'exit');
  server.disconnect();
  await exit;
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

async function counts(): Promise<Counts> {
  server.send('counts');
  return (await once(server, 'message'))[0];
}

const type = {
  form: 'multipart/form-data; boundary=b',
  bytes: 'application/octet-stream',
  late: 'application/octet-stream',
  items: 'application/x-ndjson',
};
const disposition = 'Content-Disposition: form-data; name="file"; filename="a.bin"';
const part = `--b\r\n${disposition}\r\nContent-Type: image/x\r\n\r\n`;
const start = { form: `${part}${'x'.repeat(100_000)}`, bytes: 'abc', late: 'abc', items: '{}\n' };

async function begin(path: keyof typeof type): Promise<Socket> {
  const socket = connect({ port, allowHalfOpen: true });
  sockets.add(socket);
  socket.on('error', () => undefined);
  const headers = `Host: localhost\r\nContent-Type: ${type[path]}\r\nContent-Length: 5000000\r\n`;
  socket.write(`POST /${path} HTTP/1.1\r\n${headers}\r\n${start[path]}`);
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

const ends = {
  'whose client sends FIN': (socket: Socket) => void socket.end(),
  'whose client disconnects': (socket: Socket) => void socket.resetAndDestroy(),
  'that do not arrive in time': (socket: Socket) => socket,
};

const files = ['file', 'second'].map((name) => {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="a.bin"`;
  return `--b\r\n${disposition}\r\n\r\n${'x'.repeat(100_000)}\r\n`;
});

test.each<[path: string, type: string, body: string | Buffer, status: number]>([
  ['form', 'multipart/form-data; boundary=b', `${files.join('')}--b--\r\n`, 204],
  ['form', 'multipart/form-data; boundary=b', `${files.join('')}--b`, 400],
  ['json', 'application/json', `[${Array(20_000).fill('{}')}]`, 200],
  ['json', 'application/json', `[${Array(20_000).fill('{}')}`, 400],
  ['events', 'application/json', '{}', 200],
  ['items', 'application/x-ndjson', '{}\n{}\n', 204],
  ['items', 'application/x-ndjson', '{}\n[]\n', 400],
  ['bytes', 'application/octet-stream', 'x'.repeat(200_000), 204],
  ['late', 'application/octet-stream', 'x'.repeat(200_000), 204],
])('a request to %s of %s leaves nothing behind', async (path, type, body, status) => {
  const { begun: _, ended: __, failed: ___, seenFolders: ____, ...before } = await counts();
  const headers = { 'Content-Type': type, Connection: 'close' };
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
    method: 'POST',
    headers,
    body,
  });
  await response.arrayBuffer();
  expect(response.status).toBe(status);
  await eventually(async () => expect(await counts()).toMatchObject(before));
});

const rounds = Number(process.env.UPLOAD_ROUNDS ?? 1);

test.each(Object.entries(ends))(
  '50 uploads %s leave no file, no folder and no descriptor',
  async (_how, end) => {
    const before = await counts();
    for (let round = 0; round < rounds; round += 1) {
      const { seenFolders } = await counts();
      const opened = await Promise.all(Array.from({ length: 50 }, () => begin('form')));
      await eventually(async () => (await counts()).seenFolders > seenFolders);
      for (const socket of opened) end(socket);
      await eventually(async () => (await counts()).folders === 0);
      for (const socket of opened) socket.destroy();
    }
    await eventually(async () => (await counts()).descriptors <= before.descriptors);
  },
);

test.each(
  Object.entries(ends).flatMap(([how, end]) =>
    (['bytes', 'items'] as const).map((path) => [path, how, end] as const),
  ),
)('handlers of %s %s get an error, and clean up', async (path, _how, end) => {
  const before = await counts();
  const opened = await Promise.all(Array.from({ length: 20 }, () => begin(path)));
  await eventually(async () => (await counts()).begun === before.begun + 20);
  for (const socket of opened) end(socket);
  await eventually(async () => (await counts()).ended === before.ended + 20);
  expect((await counts()).failed).toBe(before.failed + 20);
});

test('a handler that answers before it reads the body gets an error if the body is cut', async () => {
  const before = await counts();
  const socket = await begin('late');
  await eventually(async () => (await counts()).begun === before.begun + 1);
  socket.end();
  await eventually(async () => (await counts()).failed === before.failed + 1);
});
