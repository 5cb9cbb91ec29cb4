import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { type AnyHandler, createApp } from 'spec-first-server';
import { documentFile } from 'test-support/documents';
import { failedTests } from './contract-tests/failed-tests.ts';

const document = documentFile('streams.yaml');

const add: AnyHandler = async ({ body }) => {
  let count = 0;
  for await (const _note of body as AsyncIterable<unknown>) count += 1;
  return { status: 200, body: count };
};

test('contract tests read and write streams, even one that does not end', async () => {
  const watch: AnyHandler = ({ signal }) => ({
    status: 200,
    contentType: 'text/event-stream',
    body: (async function* () {
      yield { id: '1', data: { text: 'a' } };
      if (!signal.aborted) await once(signal, 'abort');
    })(),
  });
  expect(
    await failedTests({
      document,
      app: await createApp({ document, handlers: { watch, add } }),
      runs: 4,
    }),
  ).toEqual({});
});

test('contract tests send invalid items, and fail for a handler that does not read them', async () => {
  const app = await createApp({
    document,
    handlers: { watch: () => ({ status: 200 }) as never, add: () => ({ status: 200, body: 0 }) },
  });
  const failed = Object.entries(await failedTests({ document, runs: 8, app }));
  expect(failed.find(([name]) => name.startsWith('POST /notes'))?.[1]).toMatch(
    /the status is 200 for .* where \/body/,
  );
});

test.each([
  [
    'text/event-stream',
    'data: {"text":"a"}\n\ndata: {"text":1}\n\n',
    /item 1 .* its schema: .*\/data\/text must be string/,
  ],
  ['application/jsonl', '{"text":"a"}\n{"text"\n', /item 1 of the response 200 must be JSON/],
])('contract tests find a wrong item in %s', async (type, text, message) => {
  const app = await createApp({
    document,
    handlers: { watch: () => ({ status: 200 }) as never, add },
  });
  const failed = await failedTests({
    document,
    runs: 2,
    app: (request, response) => {
      if (request.method === 'GET') response.setHeader('Content-Type', type).end(text);
      else app(request, response);
    },
  });
  expect(Object.entries(failed).find(([name]) => name.startsWith('GET /notes'))?.[1]).toMatch(
    message,
  );
});
