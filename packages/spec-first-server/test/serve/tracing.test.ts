import { rmSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { end, makeProject, start } from 'test-support/project';

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

/** The instrumentation of HTTP, whose spans go to standard output. */
const TRACING = `
const { NodeTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
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

const folder = makeProject({
  'openapi.yaml': DOCUMENT,
  'tracing.cjs': TRACING,
  'tracing.mjs': "import './tracing.cjs';",
  // As an agent that is one bundle: its modules are nobody else's.
  'agent.cjs': `require('./tracing.cjs');
for (const file of Object.keys(require.cache)) delete require.cache[file];`,
  'main.mjs': MAIN,
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['--import', './tracing.mjs'],
  ['--import', './tracing.cjs'],
  ['--require', './tracing.cjs'],
  ['--import', './agent.cjs'],
  ['--require', './agent.cjs'],
])('with %s %s, spans carry the path template and the operationId', async (flag, file) => {
  const running = start(folder, [flag, file, 'main.mjs'], { ACCESS_TOKENS: 'a' });
  try {
    const [, url] = await running.said(/"url":"([^"]+)"/);
    expect((await fetch(`${url}/rooms/1`)).status).toBe(204);
    const [, span = ''] = await running.said(/^span (.+)\n/m);
    expect(JSON.parse(span)).toMatchObject({
      name: 'GET /v1/rooms/{id}',
      attributes: { 'http.route': '/v1/rooms/{id}', 'openapi.operation_id': 'getRoom' },
    });
  } finally {
    end(running);
    await running.exit;
  }
});
