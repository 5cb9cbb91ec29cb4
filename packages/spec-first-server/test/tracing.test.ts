import { rmSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { end, makeProject, start } from '../../../test/support/project.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
servers: [{ url: /v1 }]
paths:
  /rooms/{id}:
    get:
      operationId: getRoom
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { '204': { description: ok } }
`;

/** What a team gives to `--import`: the instrumentation of HTTP. Its spans go to standard output. */
const TRACING = `
import { NodeTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
const exporter = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
new HttpInstrumentation();
setInterval(() => {
  for (const { name, attributes } of exporter.getFinishedSpans()) console.log('span', JSON.stringify({ name, attributes }));
  exporter.reset();
}, 20).unref();
`;

const MAIN = `
import { serve } from 'spec-first-server';
await serve({ open: () => ({ handlers: { getRoom: () => ({ status: 204 }) } }) });
`;

const folder = makeProject({ 'openapi.yaml': DOCUMENT, 'tracing.mjs': TRACING, 'main.mjs': MAIN });
const running = start(folder, ['--import', './tracing.mjs', 'main.mjs'], { ACCESS_TOKENS: 'a' });
afterAll(async () => {
  end(running);
  await running.exit;
  rmSync(folder, { recursive: true });
});

test('spans of the HTTP instrumentation carry the path template and the operationId', async () => {
  const [, url] = await running.said(/"url":"([^"]+)"/);
  expect((await fetch(`${url}/rooms/1`)).status).toBe(204);
  const [, span = ''] = await running.said(/^span (.+)\n/m);
  expect(JSON.parse(span)).toMatchObject({
    name: 'GET /v1/rooms/{id}',
    attributes: { 'http.route': '/v1/rooms/{id}', 'openapi.operation_id': 'getRoom' },
  });
});
