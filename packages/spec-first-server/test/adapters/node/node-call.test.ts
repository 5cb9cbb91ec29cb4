import { describe, expect, test } from '@jest/globals';
import { NodeCall } from '../../../src/adapters/node/node-call.ts';
import { createRequest } from '../../listener/support.ts';

function createCall(parts: Parameters<typeof createRequest>[0] = {}) {
  const created = createRequest(parts);
  return { ...created, call: new NodeCall(created.request, created.response, '192.0.2.1') };
}

test.each([
  ['/a', '/a', ''],
  ['/a?', '/a', ''],
  ['/a?b=c', '/a', 'b=c'],
  ['/a?b?c', '/a', 'b?c'],
  ['?a', '', 'a'],
  ['', '', ''],
])('the target "%s" has the path "%s" and the query "%s"', (url, path, query) => {
  const { call } = createCall({ url });
  expect([call.path, call.query]).toEqual([path, query]);
});

describe('the body', () => {
  const WITH_BODY = ['Content-Length', '2', 'Expect', '100-continue'];

  function createCounted(rawHeaders: string[]) {
    const created = createCall({ rawHeaders });
    const counted = { ...created, continues: 0 };
    created.response.writeContinue = () => {
      counted.continues += 1;
    };
    return counted;
  }

  test('is the bytes if all have arrived, also when it is read again', () => {
    const counted = createCounted(WITH_BODY);
    const { call, request } = counted;
    request.push('a');
    request.push('b');
    request.complete = true;
    expect(counted.continues).toBe(0);
    const { body } = call;
    expect(String(body)).toBe('ab');
    expect(call.body).toBe(body);
    expect(counted.continues).toBe(1);
  });

  test('is a stream of all bytes if some are missing', async () => {
    const counted = createCounted(WITH_BODY);
    const { call, request } = counted;
    request.push('a');
    const { body } = call;
    expect(body).not.toBeInstanceOf(Uint8Array);
    expect(call.body).toBe(body);
    expect(counted.continues).toBe(0);
    request.push('b');
    request.complete = true;
    request.push(null);
    let text = '';
    for await (const chunk of body as AsyncIterable<Uint8Array>) text += chunk;
    expect(text).toBe('ab');
    expect(counted.continues).toBe(1);
  });

  test('of a complete request without bytes is an empty stream', async () => {
    const { call, request } = createCall({ rawHeaders: ['Transfer-Encoding', 'chunked'] });
    request.complete = true;
    request.push(null);
    const chunks = [];
    for await (const chunk of call.body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    expect(chunks).toEqual([]);
  });
});

describe('the signal', () => {
  test('is the same each time', () => {
    const { call } = createCall();
    expect(call.signal).toBe(call.signal);
  });

  test.each(['end', 'close'])('is aborted at the event %s of the socket', (event) => {
    const { call, socket } = createCall();
    const { signal } = call;
    expect(signal.aborted).toBe(false);
    socket.emit(event);
    expect(signal.aborted).toBe(true);
  });

  test('is aborted if it is first read after the socket is destroyed', () => {
    const { call, socket } = createCall();
    socket.destroy();
    expect(call.signal.aborted).toBe(true);
  });

  test('is aborted if it is first read after the client has closed its side', () => {
    const { call, socket } = createCall();
    Object.defineProperty(socket, 'readableEnded', { value: true });
    expect(call.signal.aborted).toBe(true);
  });

  test('is not aborted after the response, and its listeners are removed', () => {
    const { call, response, socket } = createCall();
    const { signal } = call;
    response.emit('finish');
    expect([socket.listenerCount('end'), socket.listenerCount('close')]).toEqual(
      [createRequest().socket].flatMap((fresh) => [
        fresh.listenerCount('end'),
        fresh.listenerCount('close'),
      ]),
    );
    socket.destroy();
    expect(signal.aborted).toBe(false);
  });

  test('is not aborted if it is first read after the response', () => {
    const { call, response, socket } = createCall();
    Object.defineProperty(response, 'writableFinished', { value: true });
    socket.destroy();
    expect(call.signal.aborted).toBe(false);
  });
});
