import { expect, test } from '@jest/globals';
import { close, createConnection } from './support.ts';

test('holds 4 KiB of memory for each request until its response is closed', () => {
  const { add, memory, socket } = createConnection();
  const before = memory.bytesLeft;
  const first = add('first', 100);
  add('second', 200);
  expect(before - memory.bytesLeft).toBe(8_192);
  close(first);
  expect(before - memory.bytesLeft).toBe(4_096);
  socket.emit('close');
  expect(memory.bytesLeft).toBe(before);
});

test.each<[string, string[], number, number]>([
  ['of incomplete headers', [], 1_000, 8 * 1_000],
  ['of a body', ['Content-Length', '5'], 100, 1_000],
  ['of a chunked body', ['Transfer-Encoding', 'chunked'], 100, 1_000],
])('estimates the memory %s and of unsent responses', (_name, rawHeaders, head, memory) => {
  const { add, connection, bytes } = createConnection();
  if (rawHeaders.length > 0) add('a', head, rawHeaders);
  bytes.bytesRead = 1_000;
  bytes.writableLength = 7;
  expect(connection.estimatedBytes).toBe(memory + 7);
});

test('counts no bytes of a body that is read, nor of previous requests', () => {
  const { add, connection, bytes } = createConnection();
  const response = add('a', 100, ['Transfer-Encoding', 'chunked']);
  Object.defineProperty(response.req, 'readableDidRead', { value: true });
  bytes.bytesRead = 1_000;
  expect(connection.estimatedBytes).toBe(0);
  response.req.complete = true;
  close(response);
  bytes.bytesRead = 1_010;
  expect(connection.estimatedBytes).toBe(8 * 10);
});

test('counts no bytes that are dropped after the last response', () => {
  const { add, connection, bytes, socket } = createConnection();
  add('a', 100, ['Transfer-Encoding', 'chunked']);
  bytes.bytesRead = 1_000;
  expect(connection.estimatedBytes).toBe(1_000);
  connection.linger();
  expect(connection.estimatedBytes).toBe(0);
  socket.destroy();
});
