import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { contractTests, testLog } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openNotes } from '../src/handlers.ts';

const document = 'openapi.yaml';
const url = process.env.DATABASE_URL ?? 'postgres://127.0.0.1/notes_test';
const { handlers, close } = await openNotes(url);
after(() => close?.());
const log = testLog();
const app = await createApp({ document, handlers, log });

test('runs each migration once', async () => {
  const again = await openNotes(url);
  await again.close?.();
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

await contractTests({ document, app, log, test });
