import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openNotes } from '../src/handlers.ts';

const document = 'openapi.yaml';
const { DATABASE_URL = 'postgres://127.0.0.1/notes_test' } = process.env;

const client = new Client({ connectionString: DATABASE_URL });
await client.connect();
const schema = `test_${randomBytes(8).toString('hex')}`;
await client.query(`CREATE SCHEMA ${schema}`);
const url = new URL(DATABASE_URL);
url.searchParams.set('options', `-c search_path=${schema}`);

const { handlers, close } = await openNotes(url.href);
after(async () => {
  await close?.();
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
});
const log = testLog();
const app = await createApp({ document, handlers, log });

await contractTests({ document, app, log, test });

test('runs each migration once', async () => {
  const again = await openNotes(url.href);
  await again.close?.();
});

test('a migration may take longer than other statements', async () => {
  await client.query('SELECT pg_advisory_lock(424242)');
  const limited = new URL(url);
  limited.searchParams.set('statement_timeout', '500');
  let isOpen = false;
  const opening = openNotes(limited.href).finally(() => {
    isOpen = true;
  });
  await delay(1000);
  equal(isOpen, false);
  await client.query('SELECT pg_advisory_unlock(424242)');
  const { close } = await opening;
  await close?.();
});

test('stores notes, and finds them by their tag', async () => {
  const api = await testClient<operations>(app, { document });
  equal((await api.addNote({ body: { text: 'Water the plants', tag: 'garden' } })).status, 201);
  equal((await api.addNote({ body: { text: 'Buy soil' } })).status, 201);
  const { body } = await api.listNotes({ query: { tag: 'garden' } });
  deepEqual(
    Object.values(Object(body)).map((note) => Object(note).text),
    ['Water the plants'],
  );
});
