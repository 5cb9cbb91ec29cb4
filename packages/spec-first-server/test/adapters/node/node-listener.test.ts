import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { nodeListener, requestListener } from '../../../src/adapters/node/node-listener.ts';
import type { Answer, Call, CallRecord } from '../../../src/core/call.ts';
import type { Log } from '../../../src/core/handlers/types.ts';
import type { ServiceOptions } from '../../../src/core/prepare.ts';
import { createService } from '../../../src/core/service.ts';
import { createNotes } from '../notes.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function start(listener: RequestListener): Promise<number> {
  const server = createServer({ requireHostHeader: false }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const POST = { 'Content-Type': 'application/octet-stream' };

test.each<[string, string[]]>([
  ['with its head', [request('POST /notes', POST, 'moss')]],
  ['in pieces', [request('POST /notes', { ...POST, 'Content-Length': '4' }), 'mo', 'ss']],
])('a request whose body arrives %s is answered', async (name, pieces) => {
  const notes = await createNotes();
  let body: Call['body'];
  const handle = (call: Call, record?: CallRecord): Promise<Answer> => {
    body = call.body;
    return notes.handle(call, record);
  };
  const accepted = Promise.withResolvers<Socket>();
  const listener = nodeListener({ ...notes, handle });
  const port = await start((received, response) => {
    accepted.resolve(received.socket);
    listener(received, response);
  });
  const socket = await connected(port);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  let sent = 0;
  for (const piece of pieces) {
    socket.write(piece);
    sent += piece.length;
    const serverSocket = await accepted.promise;
    await eventually(() => serverSocket.bytesRead === sent);
    // The listener begins the call one round after Node has read the bytes.
    await immediate();
  }
  await eventually(() => /^HTTP\/1\.1 200 .*mo(\r\n2\r\n)?ss\r\n0/s.test(received));
  // A body that is complete needs no stream.
  expect(body instanceof Uint8Array).toBe(name === 'with its head');
  socket.destroy();
});

test('100 Continue is sent once, by Node or by the listener', async () => {
  const listener = nodeListener(await createNotes());
  const headers = { ...POST, 'Content-Length': '4', Expect: '100-continue' };
  for (const events of [['request'], ['request', 'checkContinue']]) {
    const server = createServer();
    for (const event of events) server.on(event, listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const socket = await connected((server.address() as AddressInfo).port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(request('POST /notes', headers));
    await eventually(() => received.includes('100 Continue'));
    socket.write('moss');
    await eventually(() => received.endsWith('0\r\n\r\n'));
    expect(received.match(/^HTTP.*$/gm)).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK']);
    socket.destroy();
  }
});

describe('an ambiguous request', () => {
  const FAULTY = request('DELETE /notes', { Host: 'a/b' });

  test('is rejected by nodeListener, which closes the connection', async () => {
    const notes = await createNotes();
    const port = await start(nodeListener(notes));
    const { responses, closed } = await exchange(port, FAULTY, { responses: 2 });
    expect(responses).toMatchObject([{ status: 400, headers: { connection: 'close' } }]);
    expect(closed).toBe(true);
    await eventually(() => notes.ends[0]?.end.status === 400);
  });

  test('is not rejected by requestListener, since the server of listen does that', async () => {
    const port = await start(requestListener(await createNotes(), {}));
    expect((await exchange(port, FAULTY)).responses).toMatchObject([{ status: 204 }]);
  });
});

test('an answer that cannot be written closes the connection and is recorded', async () => {
  const notes = await createNotes();
  const failures: unknown[] = [];
  const port = await start(
    nodeListener({
      ...notes,
      handle: async () => ({ status: 200, headers: ['X-A', 'a\nb'], body: '' }),
      fail(call, record, error) {
        failures.push(error);
        return notes.fail(call, record, error);
      },
    }),
  );
  const { responses, closed } = await exchange(port, request('GET /notes'));
  expect([responses, closed]).toEqual([[], true]);
  expect(failures).toEqual([expect.objectContaining({ code: 'ERR_INVALID_CHAR' })]);
  await eventually(() => notes.ends[0]?.end.isComplete === false);
});

describe('a hook that throws is logged and does not end the process', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/a': { get: { operationId: 'a', responses: { 204: { description: 'done' } } } } },
  };
  const fail = (): never => {
    throw new Error('the hook failed');
  };

  test.each<[string, Partial<ServiceOptions>, number, string]>([
    ['observe', { observe: fail }, 204, 'the hook "observe" failed'],
    ['tracing.name', { tracing: { name: fail, traceId() {} } }, 204, 'the hook "tracing" failed'],
    [
      'tracing.traceId',
      { tracing: { name() {}, traceId: fail } },
      204,
      'the hook "tracing" failed',
    ],

    ['headers, whose call fails', { headers: fail }, 500, 'failed'],
  ])('%s', async (_title, hooks, status, message) => {
    const lines: unknown[] = [];
    const log: Log = {
      debug() {},
      info() {},
      warn() {},
      error: (...line: unknown[]) => void lines.push(line),
      child: () => log,
    };
    const handlers = { a: () => ({ status: 204 }) };
    const port = await start(
      nodeListener(await createService(document, { handlers, log, ...hooks })),
    );
    expect((await exchange(port, request('GET /a'))).responses).toMatchObject([{ status }]);
    await eventually(() => lines.length > 0);
    expect(lines).toMatchObject([[{ err: { message: 'the hook failed' } }, message]]);
  });
});
