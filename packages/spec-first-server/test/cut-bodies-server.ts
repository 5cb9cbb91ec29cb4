import { getEventListeners } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyHandler, AnyRequest } from '../src/core/handlers/types.ts';
import { listen } from '../src/listener/listen.ts';
import { createAppService, createListener, failureResponder } from '../src/serve/app.ts';

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
            schema:
              type: object
              properties:
                file: { type: string, format: binary }
                second: { type: string, format: binary }
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
  /json:
    post:
      operationId: json
      requestBody: { content: { application/json: {} } }
      responses: { '200': { description: read, content: { application/json: {} } } }
  /events:
    post:
      operationId: events
      requestBody: { content: { application/json: {} } }
      responses:
        '200':
          description: an event
          content: { text/event-stream: { itemSchema: { type: object, properties: { data: {} } } } }
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
async function* twoEvents({ signal }: AnyRequest) {
  yield { data: signal.aborted };
  yield { data: signal.aborted };
}
const json: AnyHandler = ({ body }) => ({ status: 200, body });
const events: AnyHandler = (request) => ({ status: 200, body: twoEvents(request) });
const form: AnyHandler = () => ({ status: 204 });
const handlers = { form, json, events, bytes: read, items: read, late };
const stopping = new AbortController();
const document = join(tmpdir(), 'openapi.yaml');
writeFileSync(document, DOCUMENT);
const service = await createAppService({ document, handlers, stopping: stopping.signal });
const app = await createListener(service, {});
const limits = { requestTimeout: 1_000, headersTimeout: 900, lingerTimeout: 50 };
const { resources } = service;
const respond = failureResponder(service);
const { url } = await listen(app, { host: '127.0.0.1', port: 0, limits, resources, respond });

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
    bytesLeft: resources.memory.bytesLeft,
    listeners: getEventListeners(stopping.signal, 'abort').length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  }),
);
process.on('disconnect', () => process.exit());
process.send?.({ port: Number(new URL(url).port) });
