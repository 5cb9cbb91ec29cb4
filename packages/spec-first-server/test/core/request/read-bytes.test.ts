import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { readBytes } from '../../../src/core/request/streams.ts';

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

test.each([
  [['abc', 'def', 'g'], 7, 7],
  [['abc', 'def', 'g'], 7, 0],
  [['abc', 'def', 'g'], 1000, 3000],
  [['abc', 'def', 'g'], 1000, 2],
  [['abc', 'def', 'g'], 1000, 6],
  [['', 'abc'], 3, 3],
  [['', 'abc'], 3, 0],
  [['abc', '', 'd'], 10, 0],
  [['ab', 'cde'], 10, 3],
  [[], 0, 0],
])('joins the chunks %j with the limit %i and the length %i', async (texts, limit, length) => {
  const bytes = await readBytes(pieces(...texts), limit, length);
  expect(bytes.toString()).toBe(texts.join(''));
});

test('does not copy a body that arrives in one piece', async () => {
  const piece = new Uint8Array(Buffer.from('-abc-').buffer, 0, 3);
  expect(Object((await readBytes(Readable.from([piece]), 3, 3)).buffer)).toBe(piece.buffer);
});

test('rejects a body as soon as it is too large, and closes its stream', async () => {
  let reads = 0;
  let isClosed = false;
  async function* large() {
    try {
      for (const text of ['abc', 'd', 'e']) {
        reads += 1;
        yield Buffer.from(text);
      }
    } finally {
      isClosed = true;
    }
  }
  await expect(readBytes(large(), 3)).rejects.toMatchObject({ status: 413 });
  expect([reads, isClosed]).toEqual([2, true]);
});

test('needs memory for the bytes of tiny chunks, not for each chunk', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const chunks = async function* () {
    for (let count = 0; count < 100_000; count++) yield Buffer.allocUnsafeSlow(1);
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    growth = heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers;
  };
  let growth = Infinity;
  collectGarbage();
  const before = process.memoryUsage();
  expect(await readBytes(chunks(), 100_000)).toHaveLength(100_000);
  expect(growth).toBeLessThan(2_000_000);
});
