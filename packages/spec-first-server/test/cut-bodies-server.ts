import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../src/adapters/node/index.ts';
import type { AnyHandler } from '../src/core/handlers/types.ts';
import { createAppService, createListener } from '../src/serve/app.ts';

// Runs in its own process, whose temporary folder and descriptors no other test uses.

const DOCUMENT = `openapi: 3.1.0
info: { title: Bodies, version: 1.0.0 }
paths:
  /form:
    post:
      operationId: form
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary } } }
            x-body-limit: 10000000
      responses: { '204': { description: read } }
  /bytes:
    post:
      operationId: bytes
      requestBody: { content: { application/octet-stream: { x-body-limit: 10000000 } } }
      responses: { '204': { description: read } }
  /late:
    post:
      operationId: late
      requestBody: { content: { application/octet-stream: { x-body-limit: 10000000 } } }
      responses: { '204': { description: answered before the body is read } }
  /items:
    post:
      operationId: items
      requestBody: { content: { application/x-ndjson: { itemSchema: { type: object } } } }
      responses: { '204': { description: read } }
`;

const counts = { begun: 0, ended: 0, failed: 0 };

async function readAll(stream: unknown): Promise<void> {
  counts.begun += 1;
  try {
    for await (const _piece of stream as AsyncIterable<unknown>);
  } catch (error) {
    counts.failed += 1;
    throw error;
  } finally {
    counts.ended += 1;
  }
}

const read: AnyHandler = async ({ body }) => {
  await readAll(body);
  return { status: 204 };
};
const late: AnyHandler = ({ body }) => {
  readAll(body).catch(() => undefined);
  return { status: 204 };
};
const handlers = { form: () => ({ status: 204 }), bytes: read, items: read, late };
const document = join(tmpdir(), 'openapi.yaml');
writeFileSync(document, DOCUMENT);
const app = await createListener(await createAppService({ document, handlers }), {});
const limits = { requestTimeout: 1_000, headersTimeout: 900, lingerTimeout: 50 };
const { url } = await listen(app, { host: '127.0.0.1', port: 0, limits });

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('upload-'));
/** A folder exists until its request times out, so this process sees each of them. */
const seenFolders = new Set<string>();
setInterval(() => {
  for (const name of folders()) seenFolders.add(name);
}, 20).unref();

process.on('message', () =>
  process.send?.({
    ...counts,
    descriptors: existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0,
    folders: folders().length,
    seenFolders: seenFolders.size,
  }),
);
process.on('disconnect', () => process.exit());
process.send?.({ port: Number(new URL(url).port) });
