import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import type { operations } from '../generated/openapi.ts';
import { openBooks } from '../src/handlers.ts';

const document = 'openapi.yaml';
const { handlers, close } = await openBooks(':memory:');
after(() => close?.());
const app = await createApp({ document, handlers });

test('stores, lists and deletes a book', async () => {
  const api = await testClient<operations>(app, { document });
  const path = { isbn: '9780141439600' };
  const book = { ...path, title: 'A Tale of Two Cities', author: 'Charles Dickens' };
  equal((await api.getBook({ path })).status, 404);
  deepEqual((await api.putBook({ path, body: book })).body, book);
  deepEqual((await api.listBooks()).body, [book]);
  equal((await api.deleteBook({ path })).status, 204);
  equal((await api.deleteBook({ path })).status, 404);
});
