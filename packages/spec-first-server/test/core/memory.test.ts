import { afterEach, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { bytesLeft, hold, release } from '../../src/core/memory.ts';
import { createService } from '../../src/core/service.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /texts:
    post:
      operationId: addText
      requestBody: { required: true, content: { application/json: { schema: { type: string } } } }
      responses: { '204': { description: read } }
`;

let held = 0;
const holdAllBut = (bytes: number): void => {
  held = bytesLeft() - bytes;
  expect(hold(held)).toBe(true);
};
afterEach(() => {
  release(held);
  held = 0;
});

async function* inPieces(text: string) {
  yield Buffer.from(text.slice(0, 2));
  yield Buffer.from(text.slice(2));
}

const answerTo = (text: string) =>
  withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) => {
    const service = await createService(`${folder}/openapi.yaml`, {
      handlers: { addText: () => ({ status: 204 }) },
    });
    const headers = { 'content-type': 'application/json', 'content-length': String(text.length) };
    const call = { method: 'POST', path: '/texts', headers, body: inPieces(text) };
    return service.handle(call);
  });

test('the budget holds 64 MiB', () => {
  expect(bytesLeft()).toBe(64 * 1024 ** 2);
  expect(hold(64 * 1024 ** 2)).toBe(true);
  expect(hold(1)).toBe(false);
  release(64 * 1024 ** 2);
});

test('a body for which there is no memory gets 503 with Retry-After', async () => {
  holdAllBut(5);
  const { status, headers } = await answerTo('"text"');
  expect(status).toBe(503);
  expect(headers).toContain('Retry-After');
  expect(bytesLeft()).toBe(5);
});

test.each([
  ['is answered', '"text"', 204],
  ['is not JSON', '"tex!!', 400],
  ['breaks its schema', '123456', 400],
])('a body that %s gives its memory back', async (_what, text, expected) => {
  holdAllBut(6);
  const { status } = await answerTo(text);
  expect(status).toBe(expected);
  expect(bytesLeft()).toBe(6);
});
