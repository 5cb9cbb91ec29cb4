import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { requestsFor, testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { filesIn } from '../src/handlers.ts';

const document = 'openapi.yaml';
const folder = mkdtempSync(join(tmpdir(), 'files-'));
after(() => rmSync(folder, { recursive: true }));
const log = testLog();
const app = await createApp({ document, handlers: filesIn(folder), bodyLimit: 10_000_000, log });

await contractTests({ document, app, log, test });

test('an uploaded file is downloaded as a stream, and replaced by another one', async () => {
  const api = await testClient<operations>(app, { document });
  const file = new File(['x'.repeat(5_000_000)], 'large.txt');
  const { body } = await api.uploadFile({ body: { title: 'Large', file } });
  const path = { id: String(Object(body).id) };
  equal(Object(body).bytes, 5_000_000);
  const { response, body: bytes } = await api.downloadFile({ path });
  equal(response.headers.get('Content-Disposition'), `attachment; filename="${path.id}"`);
  equal((await new Response(bytes).text()).length, 5_000_000);
  equal((await api.replaceFile({ path, body: new Blob(['small']) })).status, 204);
  equal(await new Response((await api.downloadFile({ path })).body).text(), 'small');
});

test('an upload that the client aborts leaves no file', async () => {
  const handlers = filesIn(folder);
  const file = new File(['x'], 'small.txt');
  const { body } = await (await testClient<operations>(app, { document })).uploadFile({
    body: { title: 'Small', file },
  });
  const files = readdirSync(folder);
  async function* aborted() {
    yield Buffer.from('half');
    throw new Error('aborted');
  }
  const request = requestsFor<typeof handlers>()('replaceFile', {
    path: { id: String(Object(body).id) },
    body: Readable.from(aborted()),
  });
  await rejects(async () => handlers.replaceFile(request), /aborted/);
  deepEqual(readdirSync(folder), files);
});
