import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { joinPieces } from '../../src/http/node-internals.ts';
import { createRequest } from '../listener/support.ts';

function createChunked() {
  const { request } = createRequest({ rawHeaders: ['Transfer-Encoding', 'chunked'] });
  joinPieces(request);
  joinPieces(request);
  const chunks: string[] = [];
  request.on('data', (chunk) => chunks.push(String(chunk)));
  return { request, chunks };
}

test('small pieces that arrive together are one chunk, also of a body that ends', async () => {
  const { request, chunks } = createChunked();
  for (const piece of ['a', 'b', 'c']) request.push(Buffer.from(piece));
  await immediate();
  expect(chunks).toEqual(['abc']);
  for (const piece of ['d', 'e']) request.push(Buffer.from(piece));
  request.push(null);
  await immediate();
  expect(chunks).toEqual(['abc', 'de']);
});

test('large pieces are not copied, and come after the small ones before them', async () => {
  const { request, chunks } = createChunked();
  const large = 'x'.repeat(1025);
  for (const piece of ['a', 'b', large, 'c']) request.push(Buffer.from(piece));
  await immediate();
  expect(chunks).toEqual(['ab', large, 'c']);
});

test('a reader that is slow stops the client', () => {
  const { request } = createRequest({ rawHeaders: ['Transfer-Encoding', 'chunked'] });
  joinPieces(request);
  const limit = request.readableHighWaterMark;
  const piece = Buffer.alloc(1024);
  const results = Array.from({ length: limit / 1024 }, () => request.push(piece));
  expect(results.indexOf(false)).toBe(limit / 1024 - 1);
});

test('a body of a declared length is left as it is', () => {
  const { request } = createRequest({ rawHeaders: ['Content-Length', '2'] });
  joinPieces(request);
  expect(Object.hasOwn(request, 'push')).toBe(false);
});
