import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';

const MB = 1_000_000;
const FILE = '{ type: string, format: binary, maxLength: 110000000 }';
const DOCUMENT = `openapi: 3.1.0
info: { title: Uploads, version: 1.0.0 }
paths:
  /files:
    post:
      operationId: upload
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, required: [file], properties: { file: ${FILE}, note: { type: string, maxLength: 5 }, text: { type: string } } }
            x-body-limit: 110mb
      responses: { '200': { description: kept, content: { application/json: {} } } }
  /open:
    post:
      operationId: open
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, patternProperties: { ^a: { type: integer } }, properties: { tree: { type: object } } }
            encoding: { tree: { style: deepObject } }
      responses: { '200': { description: the names, content: { application/json: {} } } }
`;
/**
 * Answers with what it knows of the file, and with the most memory that the process has ever had.
 */
const PROGRAM = `
import { serve } from 'spec-first-server';
const upload = async ({ body: { file, note, text } }) => {
  const peak = process.resourceUsage().maxRSS * 1024;
  let read = 0;
  for await (const chunk of file.stream()) read += chunk.length;
  return { status: 200, body: { isFile: file instanceof File, name: file.name, type: file.type, read, note, characters: text?.length, peak } };
};
const open = ({ body }) => ({ status: 200, body: Object.keys(body) });
await serve({ open: () => ({ handlers: { upload, open } }) });
`;

const folder = mkdtempSync(join(tmpdir(), 'uploads-'));
const kept = join(folder, 'kept');
let child: ChildProcess;
let port: number;

beforeAll(async () => {
  writeFileSync(join(folder, 'openapi.yaml'), DOCUMENT);
  mkdirSync(kept);
  const env = { PORT: '0', OPENAPI_FILE: join(folder, 'openapi.yaml'), TMPDIR: kept };
  // A small space for new objects: garbage that is collected late on a busy machine is not what an
  // upload holds.
  const args = ['--max-semi-space-size=2', '--input-type=module', '--eval', PROGRAM];
  child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout ?? Readable.from([]))) {
    const { msg, url } = JSON.parse(line);
    if (msg !== 'listening') continue;
    port = Number(new URL(url).port);
    break;
  }
});
afterAll(async () => {
  child.kill('SIGKILL');
  await once(child, 'close');
  rmSync(folder, { recursive: true });
});

const start = (headers: OutgoingHttpHeaders = {}, path = '/files'): ClientRequest =>
  request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path,
    headers: { 'Content-Type': 'multipart/form-data; boundary=b', ...headers },
  });

const head =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="größe.bin"\r\nContent-Type: image/x\r\n\r\n';
const note = '\r\n--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n';

async function upload(bytes: number, text = 'hello') {
  const chunk = Buffer.alloc(100_000, 'x');
  const body = function* () {
    yield Buffer.from(head);
    for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
    yield Buffer.from(`${note}${text}\r\n--b--\r\n`);
  };
  const sent = start();
  const answer = once(sent, 'response');
  await pipeline(Readable.from(body()), sent);
  const [response] = await answer;
  const { status, ...rest } = { status: response.statusCode, ...Object(await json(response)) };
  return { status, ...rest };
}

test('files of 100 MB take less than 60 MB of memory, and are gone when the request is over', async () => {
  const { peak: before } = await upload(100_000);
  const { peak, ...answer } = await upload(100 * MB);
  const file = { isFile: true, name: 'größe.bin', type: 'image/x' };
  expect(answer).toEqual({ status: 200, ...file, read: 100 * MB, note: 'hello' });
  expect(peak - before).toBeLessThan(60 * MB);
  await eventually(() => readdirSync(kept).length === 0);
});

test('a text of a form is read to its end, however long it is', async () => {
  const text = '\r\n--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n';
  const sent = start().end(`${head}abc${text}${'x'.repeat(3 * MB)}\r\n--b--\r\n`);
  const [response] = await once(sent, 'response');
  expect(await json(response)).toMatchObject({ read: 3, characters: 3 * MB });
});

test('a file is removed when its form is rejected', async () => {
  expect(await upload(MB, 'longer')).toMatchObject({
    status: 400,
    detail: expect.stringContaining('/body/note'),
  });
  expect(await upload(116 * MB)).toMatchObject({ status: 413 });
  await eventually(() => readdirSync(kept).length === 0);
});

test('a file is removed when its client goes', async () => {
  const sent = start();
  sent.on('error', () => undefined);
  sent.write(head + 'x'.repeat(MB));
  await eventually(() => readdirSync(kept, { recursive: true }).length === 2);
  sent.destroy();
  await eventually(() => readdirSync(kept).length === 0);
});

test('only the user of the service can read uploaded files', async () => {
  const sent = start();
  sent.on('error', () => undefined);
  sent.write(head + 'x'.repeat(MB));
  await eventually(() => readdirSync(kept, { recursive: true }).length === 2);
  const modes = readdirSync(kept, { recursive: true }).map(
    (name) => statSync(join(kept, String(name))).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600]);
  sent.destroy();
  await eventually(() => readdirSync(kept).length === 0);
});

test.each([
  ['is no form', 'nothing', 400, 'the body must be multipart/form-data (RFC 7578)'],
  ['has no end', `${head}abc`, 400, 'the body must be multipart/form-data (RFC 7578)'],
  ['has thousands of parts', `${head}${note.repeat(2000)}\r\n--b--\r\n`, 413, 'at most 1000 parts'],
])('a body that %s is rejected', async (_what, body, status, message) => {
  for (const headers of [{}, { 'Content-Length': Buffer.byteLength(body) }]) {
    const sent = start(headers).end(body);
    const [response] = await once(sent, 'response');
    expect(response.statusCode).toBe(status);
    expect(await json(response)).toMatchObject({ detail: expect.stringContaining(message) });
  }
});

const part = (disposition: string, others = '') =>
  `--b\r\nContent-Disposition: ${disposition}\r\n${others}\r\n1\r\n`;

test.each([
  ['a text without a name', part('form-data')],
  ['a text with an empty name', part('form-data; name=""')],
  ['a file without a name', part('form-data; filename="a"')],
  ['a part without Content-Disposition', '--b\r\nContent-Type: text/plain\r\n\r\n1\r\n'],
  ['another disposition', part('attachment; name="a"')],
  ['bytes without a name', part('form-data', 'Content-Type: application/octet-stream\r\n')],
])('a form with %s is rejected, and others are served', async (_what, unnamed) => {
  const body = `${part('form-data; name="a"')}${unnamed}${part('form-data; name="a2"')}--b--\r\n`;
  for (const headers of [{}, { 'Content-Length': Buffer.byteLength(body) }]) {
    for (const path of ['/open', '/files']) {
      const [response] = await once(start(headers, path).end(body), 'response');
      const { detail } = Object(await json(response));
      expect([response.statusCode, detail]).toEqual([400, expect.stringContaining('have a name')]);
    }
  }
  const sound = `${part('form-data; name="a"')}${part('form-data; name="tree[b]"')}--b--\r\n`;
  const [response] = await once(start({}, '/open').end(sound), 'response');
  expect(await json(response)).toEqual(['a', 'tree']);
});

test('a form that arrives in single bytes is read', async () => {
  const body = `${part('form-data; name="a"')}${part('form-data; name="a2"')}--b--\r\n`;
  const sent = start({}, '/open');
  for (const letter of body) {
    sent.write(letter);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [response] = await once(sent.end(), 'response');
  expect([response.statusCode, await json(response)]).toEqual([200, ['a', 'a2']]);
});
