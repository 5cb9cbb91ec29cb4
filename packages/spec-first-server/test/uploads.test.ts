import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
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
            schema: { type: object, required: [file], properties: { file: ${FILE}, second: ${FILE}, note: { type: string, maxLength: 5 } } }
            x-body-limit: 110mb
      responses: { '200': { description: kept, content: { application/json: {} } } }
`;
const PROGRAM = `
import { serve } from 'spec-first-server';
const upload = async ({ body: { file, note } }) => {
  const peak = process.resourceUsage().maxRSS * 1024;
  let read = 0;
  for await (const chunk of file.stream()) read += chunk.length;
  return { status: 200, body: { isFile: file instanceof File, name: file.name, type: file.type, read, note, peak } };
};
await serve({ open: () => ({ handlers: { upload } }) });
`;

const folder = mkdtempSync(join(tmpdir(), 'uploads-'));
const uploads = join(folder, 'uploads');
let child: ChildProcess;
let port: number;

beforeAll(async () => {
  writeFileSync(join(folder, 'openapi.yaml'), DOCUMENT);
  mkdirSync(uploads);
  await launch();
});
afterAll(async () => {
  await kill();
  rmSync(folder, { recursive: true });
});

async function launch(): Promise<void> {
  const document = join(folder, 'openapi.yaml');
  const env = { ...ENVIRONMENT, PORT: '0', OPENAPI_FILE: document, TMPDIR: uploads };
  // A small space for new objects. Otherwise the peak includes garbage that is collected late.
  const args = ['--max-semi-space-size=2', '--input-type=module', '--eval', PROGRAM];
  child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout ?? Readable.from([]))) {
    const { msg, url } = JSON.parse(line);
    if (msg !== 'listening') continue;
    port = Number(new URL(url).port);
    break;
  }
}

async function kill(): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

const start = (): ClientRequest =>
  request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/files',
    agent: false,
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  });

const head =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="größe.bin"\r\nContent-Type: image/x\r\n\r\n';
const note = '\r\n--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n';

const second = '\r\n--b\r\nContent-Disposition: form-data; name="second"; filename="b"\r\n\r\n';

async function upload(bytes: number, text = 'hello', others = '') {
  const chunk = Buffer.alloc(100_000, 'x');
  const body = function* () {
    yield Buffer.from(head);
    for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
    yield Buffer.from(`${others}${note}${text}\r\n--b--\r\n`);
  };
  const sent = start();
  const answer = once(sent, 'response');
  // The server closes the connection if a client is slow to send a body that is too large.
  pipeline(Readable.from(body()), sent).catch(() => undefined);
  const [response] = await answer;
  const { status, ...rest } = { status: response.statusCode, ...Object(await json(response)) };
  return { status, ...rest };
}

test('a file of 100 MB needs less than 60 MB of memory, and is removed after the request', async () => {
  const { peak: before } = await upload(100_000);
  const { peak, ...answer } = await upload(100 * MB);
  const file = { isFile: true, name: 'größe.bin', type: 'image/x' };
  expect(answer).toEqual({ status: 200, ...file, read: 100 * MB, note: 'hello' });
  expect(peak - before).toBeLessThan(60 * MB);
  await eventually(() => readdirSync(uploads).length === 0);
});

test('a file is removed when its form is rejected', async () => {
  expect(await upload(MB, 'longer')).toMatchObject({
    status: 400,
    detail: expect.stringContaining('/body/note'),
  });
  await eventually(() => readdirSync(uploads).length === 0);
});

test('a file is removed when its client disconnects', async () => {
  const sent = start();
  sent.on('error', () => undefined);
  sent.write(head + 'x'.repeat(MB));
  await eventually(() => readdirSync(uploads, { recursive: true }).length === 2);
  sent.destroy();
  await eventually(() => readdirSync(uploads).length === 0);
});

test('the files of a form are removed together', async () => {
  const others = second + 'x'.repeat(MB);
  expect(await upload(MB, 'hello', others)).toMatchObject({ status: 200, read: MB });
  await eventually(() => readdirSync(uploads).length === 0);
});

test('files that cannot be stored are a 503, until they can be stored again', async () => {
  rmSync(uploads, { recursive: true });
  expect(await upload(MB)).toMatchObject({ status: 503 });
  mkdirSync(uploads);
  expect(await upload(MB)).toMatchObject({ status: 200 });
});

test('files of a process that was killed are removed at the next start', async () => {
  const sent = start();
  sent.on('error', () => undefined);
  sent.write(head + 'x'.repeat(MB));
  await eventually(() => readdirSync(uploads, { recursive: true }).length === 2);
  await kill();
  // The files of a running process, and of two on other hosts. The name of one begins like ours.
  const otherHost = 'x'.repeat(hostname().length);
  const others = [
    `upload-${hostname()}_${process.pid}-abc`,
    `upload-${otherHost}_${child.pid}-abc`,
    `upload-${hostname()}-${child.pid}_1-abc`,
  ];
  for (const name of others) mkdirSync(join(uploads, name));
  expect(readdirSync(uploads)).toHaveLength(4);
  await launch();
  await eventually(() => readdirSync(uploads).length === 3);
  expect(readdirSync(uploads).toSorted()).toEqual(others.toSorted());
});
