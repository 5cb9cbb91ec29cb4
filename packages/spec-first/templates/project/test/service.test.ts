import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { errorBody } from '../src/errors.ts';

/** What the service logs: a failed contract test shows the cause. */
const log = testLog();
let service: ChildProcess;
/** Where the document's paths begin. */
let base: string;

before(async () => {
  const env = { ...process.env, PORT: '0', ACCESS_TOKENS: 'token-of-the-tests', MISSING_OPERATIONS: 'mock' };
  const started = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  service = started;
  base = await new Promise<string>((resolve, reject) => {
    started.once('exit', () => reject(new Error('The service does not start')));
    createInterface(started.stdout).on('line', (line) => {
      log.line(line);
      const { msg, url } = JSON.parse(line);
      if (msg === 'listening') resolve(url);
    });
  });
});

after(() => service.kill());

test('serves its document', async () => {
  const response = await fetch(new URL('/openapi.json', base));
  assert.equal(response.status, 200);
  const { openapi } = Object(await response.json());
  assert.match(openapi, /^3\./);
});

test('answers an unknown path with 404 and the error body of the document', async () => {
  const response = await fetch(new URL('/no/such/path', base));
  assert.equal(response.status, 404);
  const expected = Object(errorBody.make({ status: 404, message: '' }));
  assert.deepEqual(Object.keys(Object(await response.json())), Object.keys(expected));
});

// Calls each operation with requests that the document allows and does not allow, and checks each answer.
await contractTests({ document: '{{document}}', url: () => base, log, credentials: 'token-of-the-tests', test });
