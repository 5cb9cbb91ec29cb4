import type { IncomingMessage } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { hasBody, isLarge, requestBody } from '../../src/http/request-body.ts';
import { createRequest } from '../listener/support.ts';

/** Ends a request, as the parser does after the last byte of its body. */
function finish(request: IncomingMessage): void {
  request.complete = true;
  request.push(null);
}

test.each<[string[], boolean]>([
  [[], false],
  [['Content-Length', '0'], false],
  [['Content-Length', '1'], true],
  [['Transfer-Encoding', 'chunked'], true],
])('a request with the headers %j has a body: %p', (rawHeaders, expected) => {
  expect(hasBody(createRequest({ rawHeaders }).request)).toBe(expected);
});

test.each<[string[], boolean]>([
  [[], false],
  [['Content-Length', '65536'], false],
  [['Content-Length', '65537'], true],
  [['Transfer-Encoding', 'chunked'], true],
])('a request with the headers %j is large: %p', (rawHeaders, expected) => {
  expect(isLarge(createRequest({ rawHeaders }).request)).toBe(expected);
});

function createBody(rawHeaders: string[] = []) {
  const { request, response } = createRequest({ rawHeaders });
  const body = requestBody(request, response, immediate);
  const chunks: string[] = [];
  const read = async () => {
    for await (const chunk of body) chunks.push(String(chunk));
  };
  return { request, response, body, chunks, read };
}

async function someTurns(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await immediate();
}

describe('a body', () => {
  test('fails if the request is cut off', async () => {
    const { request, read } = createBody();
    const reading = read();
    await someTurns();
    request.destroy();
    await expect(reading).rejects.toThrow('Premature close');
  });

  test('drops the rest of its bytes if the reader stops, and keeps the connection', async () => {
    const { request, body, chunks } = createBody();
    const reading = (async () => {
      for await (const chunk of body) {
        chunks.push(String(chunk));
        break;
      }
    })();
    await someTurns();
    request.push('a');
    await reading;
    expect(chunks).toEqual(['a']);
    expect(request.destroyed).toBe(false);
    request.push('b');
    finish(request);
    await someTurns();
    expect(request.readableEnded).toBe(true);
    expect(await body.return(undefined)).toEqual({ done: true, value: undefined });
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });
});
