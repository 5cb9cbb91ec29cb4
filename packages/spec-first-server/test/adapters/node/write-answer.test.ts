import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connected, exchange, request } from 'test-support/raw-http';
import { NodeCall } from '../../../src/adapters/node/node-call.ts';
import { Resources } from '../../../src/core/account.ts';
import type { Answer } from '../../../src/core/call.ts';
import { recorder } from '../../../src/core/record.ts';

const SERVICE = { begin: recorder(new Resources()), end() {} };
const writeAnswer = (response: ServerResponse, answer: Answer) =>
  new NodeCall(response.req, response, undefined, SERVICE).write(answer);

let write: (response: ServerResponse) => void;
const server = createServer((_request, response) => write(response));
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function respond(task: (response: ServerResponse) => void) {
  write = task;
  return exchange(port, request('GET /'));
}

async function* chunksOf(...chunks: (string | Uint8Array)[]) {
  yield* chunks;
}

test.each<[string, Answer['body'], string]>([
  ['no body', undefined, ''],
  ['ASCII text', 'moss', 'moss'],
  ['other text', 'Grün €', 'Grün €'],
  ['Latin-1 text', 'ÿ', 'ÿ'],
  ['bytes', new TextEncoder().encode('ä'), 'ä'],
  ['a stream', chunksOf('ä', Buffer.from('ö')), 'äö'],
  ['an empty stream', chunksOf(), ''],
])('an answer with %s is written with its status and headers', async (_name, body, text) => {
  const headers = ['X-A', '1', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'];
  const { responses } = await respond((response) => {
    void writeAnswer(response, { status: 201, headers, body });
  });
  expect(responses[0]).toMatchObject({
    status: 201,
    headers: { 'x-a': '1', 'set-cookie': 'a=1, b=2' },
  });
  expect(String(responses[0]?.body)).toBe(text);
});

test('writeAnswer writes nothing after another response, and closes the stream', async () => {
  let isCleaned = false;
  const chunks = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<never>(() => {}),
      async return() {
        isCleaned = true;
        return { done: true as const, value: undefined };
      },
    }),
  };
  const { responses } = await respond((response) => {
    response.writeHead(202).end();
    for (const body of [chunks, 'text', undefined]) {
      expect(writeAnswer(response, { status: 200, headers: [], body })).toBeUndefined();
    }
  });
  expect(responses.map(({ status }) => status)).toEqual([202]);
  expect(isCleaned).toBe(true);
});

describe('a stream', () => {
  test.each<[string, { done: true; value: undefined } | { value: string }]>([
    ['an item', { value: 'late' }],
    ['its end', { done: true, value: undefined }],
  ])('drops %s that follows the end of the connection', async (_name, result) => {
    const errors: unknown[] = [];
    const written = Promise.withResolvers<void>();
    write = (response) => {
      response.on('error', (error) => errors.push(error));
      const next = new Promise<typeof result>((resolve) => {
        response.once('close', () => setImmediate(resolve, result));
      });
      const body = { [Symbol.asyncIterator]: () => ({ next: () => next }) };
      void writeAnswer(response, { status: 200, headers: [], body })?.then(written.resolve);
    };
    const socket = await connected(port);
    const received = once(server, 'request');
    socket.write(request('GET /'));
    await received;
    socket.destroy();
    await written.promise;
    await new Promise(setImmediate);
    expect(errors).toEqual([]);
  });
});
