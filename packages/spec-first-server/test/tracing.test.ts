import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { withFiles } from '../../../test/support/documents.ts';
import { ENVIRONMENT } from '../../../test/support/environment.ts';
import { eventually } from '../../../test/support/eventually.ts';

const ROOT = join(import.meta.dirname, '../../..');

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

let child: ReturnType<typeof spawn> | undefined;
afterEach(() => void child?.kill('SIGKILL'));

test('spans of the HTTP instrumentation carry the path template and the operationId', async () => {
  await withFiles({ 'openapi.yaml': DOCUMENT, 'tracing.mjs': TRACING, 'main.mjs': MAIN }, async (folder) => {
    const env = { ...ENVIRONMENT, PORT: '0', ACCESS_TOKENS: 'a' };
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const running = spawn(process.execPath, ['--import', './tracing.mjs', 'main.mjs'], { cwd: folder, env });
    child = running;
    let output = '';
    running.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await eventually(() => output.includes('"listening"'));
    const url = /"url":"([^"]+)"/.exec(output)?.[1];
    expect((await fetch(`${url}/rooms/1`)).status).toBe(204);
    await eventually(() => output.includes('span {'));
    const span = JSON.parse(/^span (.+)$/m.exec(output)?.[1] ?? '');
    expect(span).toMatchObject({
      name: 'GET /v1/rooms/{id}',
      attributes: { 'http.route': '/v1/rooms/{id}', 'openapi.operation_id': 'getRoom' },
    });
  });
});
