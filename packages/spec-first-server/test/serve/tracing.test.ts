import { rmSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { end, makeProject, start } from 'test-support/project';
import { openTelemetry } from '../../src/serve/tracing.ts';

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
  // Simulates an agent in one bundle, whose copy of the API no other module can import.
  'agent.cjs': `require('./tracing.cjs');
for (const file of Object.keys(require.cache)) delete require.cache[file];`,
  'main.mjs': MAIN,
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['--import', './tracing.mjs'],

  ['--import', './agent.cjs'],
])('with %s %s, spans have the path template and the operationId', async (flag, file) => {
  const running = start(folder, [flag, file, 'main.mjs'], { ACCESS_TOKENS: 'a' });
  try {
    const [, url] = await running.waitForOutput(/"url":"([^"]+)"/);
    expect((await fetch(`${url}/rooms/1`)).status).toBe(204);
    const [, span = ''] = await running.waitForOutput(/^span (.+)\n/m);
    expect(JSON.parse(span)).toMatchObject({
      name: 'GET /v1/rooms/{id}',
      attributes: { 'http.route': '/v1/rooms/{id}', 'openapi.operation_id': 'getRoom' },
    });
  } finally {
    end(running);
    await running.exit;
  }
});

describe('the API of OpenTelemetry', () => {
  const API = Symbol.for('opentelemetry.js.api.1');
  afterEach(() => {
    Reflect.deleteProperty(globalThis, API);
  });

  test('is optional', () => {
    expect(openTelemetry()).toBeUndefined();
  });

  test('may have no context, or no active span', () => {
    for (const api of [{}, { context: { active: () => ({ getValue: () => undefined }) } }]) {
      Reflect.set(globalThis, API, api);
      const tracing = openTelemetry();
      expect(tracing?.traceId()).toBeUndefined();
      expect(() => tracing?.name('GET', '/rooms/{id}', 'getRoom')).not.toThrow();
    }
  });

  test('has the trace id of the active span', () => {
    const span = { spanContext: () => ({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736' }) };
    const key = Symbol.for('OpenTelemetry Context Key SPAN');
    const getValue = (name: symbol) => (name === key ? span : undefined);
    Reflect.set(globalThis, API, { context: { active: () => ({ getValue }) } });
    expect(openTelemetry()?.traceId()).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  });
});
