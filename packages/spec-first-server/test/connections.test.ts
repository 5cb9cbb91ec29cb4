import { type EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { serve, withFiles } from '../../../test/support/documents.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { connected, exchange, request } from '../../../test/support/raw-http.ts';
import type { AnyHandler, AnyRequest } from '../src/document/handler-types.ts';
import { LIMITS, type Listening, listen } from '../src/http/listen.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses: { '204': { description: done } }
`;
const GET = request('GET /a');

/** The requests that the handler holds, until they are released. */
let held: AnyRequest[] = [];
let release = Promise.withResolvers<void>();
const hold: AnyHandler = async (asked) => {
  held.push(asked);
  await release.promise;
  return { status: 204 };
};

let app: RequestListener;
let listening: Listening;
let port: number;

beforeAll(async () => {
  ({ app } = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { a: hold }),
  ));
  listening = await listen(app, '127.0.0.1', 0);
  port = Number(new URL(listening.url).port);
});
beforeEach(() => {
  held = [];
  release = Promise.withResolvers();
});
afterAll(() => listening.stop());

const connections = (): Promise<number> =>
  new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

describe('a client that closes its side', () => {
  test('is answered all that it has asked for', async () => {
    const answers = exchange(port, `${GET}${request('GET /b')}${GET}`, {
      end: true,
      responses: Number.POSITIVE_INFINITY,
    });
    await eventually(() => held.length === 2 && held.every(({ signal }) => signal.aborted));
    release.resolve();
    const { responses, rest, closed } = await answers;
    expect({ statuses: responses.map(({ status }) => status), rest, closed }).toEqual({
      statuses: [204, 404, 204],
      rest: '',
      closed: true,
    });
    await eventually(async () => (await connections()) === 0);
  });

  test.each(['before', 'after'])('leaves no connection behind if it is gone %s its answer', async (when) => {
    const socket = await connected(port);
    socket.end(GET);
    await eventually(() => held.length === 1 && held.every(({ signal }) => signal.aborted));
    if (when === 'before') socket.destroy();
    release.resolve();
    await eventually(async () => (await connections()) === 0);
    socket.destroy();
  });

  test('is answered while the service stops, which ends then', async () => {
    const stopping = await listen(app, '127.0.0.1', 0, { ...LIMITS, stopTimeout: 600_000 });
    const answer = exchange(Number(new URL(stopping.url).port), GET, { end: true });
    await eventually(() => held.length === 1 && held.every(({ signal }) => signal.aborted));
    const stopped = stopping.stop();
    release.resolve();
    expect((await answer).responses.map(({ status }) => status)).toEqual([204]);
    await stopped;
  });

  test('leaves no connection behind if it has asked for nothing', async () => {
    const socket = await connected(port);
    await eventually(async () => (await connections()) === 1);
    socket.end();
    await eventually(async () => (await connections()) === 0);
  });
});

describe('the signal of a request', () => {
  test.each(['closes', 'resets'])('is aborted when the client %s its connection', async (how) => {
    const socket = await connected(port);
    socket.write(GET);
    await eventually(() => held.length === 1);
    expect(held[0]?.signal.aborted).toBe(false);
    if (how === 'closes') socket.destroy();
    else socket.resetAndDestroy();
    await eventually(() => held.every(({ signal }) => signal.aborted));
    release.resolve();
  });

  test.each(['closed', 'reset'])('is aborted at its first reading if the client has %s its connection', async (how) => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [behind]: Socket[] = await accepted;
    socket.write(GET);
    await eventually(() => held.length === 1);
    if (how === 'closed') socket.destroy();
    else socket.resetAndDestroy();
    await eventually(() => behind?.readableEnded === true || behind?.destroyed === true);
    expect(held[0]?.signal.aborted).toBe(true);
    release.resolve();
  });

  test('is one, however often it is read', async () => {
    const answer = exchange(port, GET);
    await eventually(() => held.length === 1);
    expect(new Set(Array.from({ length: 20 }, () => held[0]?.signal)).size).toBe(1);
    release.resolve();
    await answer;
  });

  test('may be read by every one of many pipelined requests', async () => {
    // Jest gives its tests a copy of the process object, which hears of no warnings.
    const emitter: EventEmitter = runInThisContext('process');
    const warnings: unknown[] = [];
    const note = (warning: unknown) => warnings.push(warning);
    emitter.on('warning', note);
    const answers = exchange(port, GET.repeat(20), { responses: 20 });
    await eventually(() => held.length === 20);
    for (const { signal } of held) expect(signal.aborted).toBe(false);
    release.resolve();
    await answers;
    emitter.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('is not aborted by a client that goes once it is answered', async () => {
    const socket = await connected(port);
    socket.write(GET);
    await eventually(() => held.length === 1);
    const early = held[0]?.signal;
    release.resolve();
    await new Promise((resolve) => socket.once('data', resolve));
    const late = held[0]?.signal;
    socket.destroy();
    await eventually(async () => (await connections()) === 0);
    expect([early?.aborted, late?.aborted]).toEqual([false, false]);
  });
});

test('a connection whose answer did not wait for the body keeps no stop waiting', async () => {
  const stopping = await listen(app, '127.0.0.1', 0, { ...LIMITS, stopTimeout: 600_000 });
  const socket = await connected(Number(new URL(stopping.url).port));
  socket.write(request('POST /a', { 'Content-Length': '1' }));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 405 /);
  socket.write('x');
  const closed = once(socket, 'close');
  await eventually(
    async () => (await exchange(Number(new URL(stopping.url).port), GET.replace('/a', '/b'))).responses.length,
  );
  await stopping.stop();
  await closed;
});
