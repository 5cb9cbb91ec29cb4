import { describe, expect, test } from '@jest/globals';
import { NodeCall } from '../../../src/adapters/node/node-call.ts';
import { recorder } from '../../../src/core/record.ts';
import { Resources } from '../../../src/http/resources.ts';
import { createRequest } from '../../listener/support.ts';

const SERVICE = { begin: recorder(new Resources()), end() {} };

function createCall(parts: Parameters<typeof createRequest>[0] = {}) {
  const created = createRequest(parts);
  return {
    ...created,
    call: new NodeCall(created.request, created.response, '192.0.2.1', SERVICE),
  };
}

test.each([
  ['/a?', '/a', ''],
  ['/a?b=c', '/a', 'b=c'],
  ['/a?b?c', '/a', 'b?c'],
])('the target "%s" has the path "%s" and the query "%s"', (url, path, query) => {
  const { call } = createCall({ url });
  expect([call.path, call.query]).toEqual([path, query]);
});

test('the body is the bytes if all have arrived, also when it is read again', () => {
  const rawHeaders = ['Content-Length', '2', 'Expect', '100-continue'];
  const { call, request, response } = createCall({ rawHeaders });
  let continues = 0;
  response.writeContinue = () => {
    continues += 1;
  };
  for (const text of ['a', 'b']) request.push(text);
  request.complete = true;
  const { body } = call;
  expect([String(body), call.body === body, continues]).toEqual(['ab', true, 1]);
});

describe('the signal', () => {
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
});
