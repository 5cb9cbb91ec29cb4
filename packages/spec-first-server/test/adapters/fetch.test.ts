import { describe, expect, test } from '@jest/globals';
import { fetchHandler } from '../../src/adapters/fetch.ts';
import { createNotes } from './notes.ts';

const URL = 'http://localhost/notes';

const post = (body: RequestInit['body']) =>
  new Request(URL, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/octet-stream' },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  });

describe('a request', () => {
  test('has the client that the option returns, or undefined without the option', async () => {
    const service = await createNotes();
    const client = (request: Request, connection: { readonly ip: string }) =>
      `${connection.ip} ${request.method}`;
    await fetchHandler(service, { client })(new Request(URL, { method: 'DELETE' }), { ip: '::1' });
    await fetchHandler(service)(new Request(URL, { method: 'DELETE' }));
    expect(service.ends.map(({ call }) => call.client)).toEqual(['::1 DELETE', undefined]);
  });

  test('has a body that is not cancelled if it is too large', async () => {
    const form = new FormData();
    for (let index = 0; index < 20; index += 1) form.append('file', new Blob(['x'.repeat(50_000)]));
    const request = post(form);
    const response = await fetchHandler(await createNotes())(request);
    await expect(response.text()).rejects.toThrow('the stream of the reply failed');
    // Node would reject a promise that nothing handles if the form were cancelled.
    let size = 0;
    for await (const chunk of request.body ?? []) size += chunk.length;
    expect(size).toBeGreaterThan(500_000);
  });
});

test('a stream is closed and reported as 499 if the client has already disconnected', async () => {
  const service = await createNotes();
  const gone = new AbortController();
  const handle = async () => {
    gone.abort();
    const body = new Blob(['a']).stream();
    return { status: 200, headers: [], body };
  };
  const request = new Request(URL, { signal: gone.signal });
  const response = await fetchHandler({ ...service, handle })(request);
  expect(response.body).toBeNull();
  expect(service.ends.map(({ end }) => end)).toEqual([{ status: 499, isComplete: false }]);
});

describe('a stream', () => {
  async function createStream(body: () => AsyncIterable<string | Uint8Array>) {
    const service = await createNotes();
    const handle = async () => ({ status: 200, headers: ['X-A', 'b'], body: body() });
    const response = await fetchHandler({ ...service, handle })(new Request(URL));
    return { response, ends: () => service.ends.map(({ end }) => end) };
  }

  test('that fails after the client has disconnected is reported once', async () => {
    const failing = Promise.withResolvers<never>();
    const { response, ends } = await createStream(async function* () {
      yield 'a';
      await failing.promise;
    });
    const reader = response.body?.getReader();
    await reader?.read();
    // The stream reads the next item in advance.
    await new Promise(setImmediate);
    const cancelled = reader?.cancel();
    failing.reject(new Error('the request was aborted'));
    await cancelled?.catch(() => {});
    expect(ends()).toEqual([{ status: 200, isComplete: false }]);
  });
});
