import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import type { Book } from '../src/books.ts';

const TALE: Book = { isbn: '9780141439600', title: 'A Tale of Two Cities', author: 'Charles Dickens' };
const MONK: Book = { isbn: '9780199535682', title: 'The Monk', author: 'Matthew Lewis' };

let service: ChildProcess;
/** Where the document's paths begin. */
let base: string;

before(async () => {
  const env = { ...process.env, PORT: '0', ACCESS_TOKENS: 'token-of-the-tests', DATABASE_FILE: ':memory:' };
  const started = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  service = started;
  for await (const line of createInterface(started.stdout)) {
    const { msg, url } = JSON.parse(line);
    if (msg !== 'listening') continue;
    base = url;
    started.stdout.resume();
    return;
  }
  throw new Error('The service does not start');
});

after(() => service.kill());

async function call(method: string, path: string, body?: unknown) {
  const headers = { Authorization: 'Bearer token-of-the-tests', 'Content-Type': 'application/json' };
  const response = await fetch(base + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

test('adds, lists, gets and deletes books', async () => {
  assert.deepEqual(await call('POST', '/books', TALE), { status: 201, body: TALE });
  assert.deepEqual(await call('POST', '/books', MONK), { status: 201, body: MONK });

  const page = { status: 200, body: { books: [TALE], next: TALE.isbn } };
  assert.deepEqual(await call('GET', '/books?limit=1'), page);
  assert.deepEqual(await call('GET', `/books?after=${TALE.isbn}`), { status: 200, body: { books: [MONK] } });

  assert.deepEqual(await call('GET', `/books/${MONK.isbn}`), { status: 200, body: MONK });
  assert.deepEqual(await call('DELETE', `/books/${MONK.isbn}`), { status: 204, body: undefined });
  assert.equal((await call('GET', `/books/${MONK.isbn}`)).status, 404);
  assert.equal((await call('DELETE', `/books/${MONK.isbn}`)).status, 404);
});

test('answers 409 for an ISBN that is taken', async () => {
  await call('POST', '/books', TALE);
  const { status, body } = await call('POST', '/books', { ...TALE, title: 'Another' });
  assert.deepEqual({ status, body }, { status: 409, body: { status: 409, message: `ISBN ${TALE.isbn} is taken` } });
});

test('answers 400 for a book without a title, and names what is wrong', async () => {
  const { status, body } = await call('POST', '/books', { isbn: MONK.isbn, author: MONK.author });
  assert.equal(status, 400);
  assert.match(body.message, /title/);
});

// Calls each operation with requests that the document allows and does not allow, and checks each answer.
await contractTests({ document: '{{document}}', url: () => base, credentials: 'token-of-the-tests', test });
