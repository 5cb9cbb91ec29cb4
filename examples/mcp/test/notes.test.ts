import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { loadDocument } from 'openapi-document';
import { contractTests } from 'spec-first/contract-tests';
import { testClient } from 'spec-first/testing';
import { createApp } from 'spec-first-server';
import { mcpHandler } from 'spec-first-server/mcp';
import type { operations } from '../generated/openapi.ts';
import { handlers } from '../src/handlers.ts';

const document = await loadDocument('openapi.yaml');
const accessTokens = [
  'ann:a-token-of-ann-for-tests',
  'bob:a-token-of-bob-for-tests',
  'a-token-without-a-name',
];
const stopping = new AbortController();
const app = await createApp({
  document,
  handlers,
  accessTokens,
  stopping: stopping.signal,
  use: (service) => [mcpHandler(service)],
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
after(() => {
  stopping.abort();
  server.close();
});

async function clientWith(token?: string) {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const client = new Client({ name: 'test', version: '1.0.0' });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  after(() => client.close());
  return client;
}

async function callTool(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return { isError, value: JSON.parse(first?.type === 'text' ? first.text : '') };
}

test('only marked operations are tools, with the schemas of the document', async () => {
  const { tools } = await (await clientWith()).listTools();
  deepEqual(tools.map(({ name }) => name).sort(), ['addNote', 'listNotes']);
  const addNote = tools.find(({ name }) => name === 'addNote');
  deepEqual(addNote?.inputSchema.required, ['body']);
  const listNotes = tools.find(({ name }) => name === 'listNotes');
  deepEqual(listNotes?.inputSchema.$defs, {});
  const { Note } = Object(addNote?.inputSchema.$defs);
  deepEqual(Note.properties, {
    id: { type: 'string', format: 'uuid', readOnly: true },
    text: { type: 'string', minLength: 1, maxLength: 1000 },
  });
  const ann = await clientWith('a-token-of-ann-for-tests');
  await rejects(ann.callTool({ name: 'exportNotes', arguments: {} }), /exportNotes/);
});

test('a tool reaches the handler with the caller of the token', async () => {
  const ann = await clientWith('a-token-of-ann-for-tests');
  const bob = await clientWith('a-token-of-bob-for-tests');
  const { value: note } = await callTool(ann, 'addNote', { body: { text: 'Buy milk' } });
  equal(note.text, 'Buy milk');
  deepEqual((await callTool(ann, 'listNotes', { query: { limit: 1 } })).value, [note]);
  deepEqual((await callTool(bob, 'listNotes')).value, []);
});

test('each exported note is one line', async () => {
  const headers = { Authorization: 'Bearer a-token-of-bob-for-tests' };
  const bob = await testClient<operations>(app, { document, headers });
  equal((await bob.addNote({ body: { text: 'Buy\r\nmilk' } })).status, 201);
  equal((await bob.addNote({ body: { text: 'Pay' } })).status, 201);
  equal((await bob.exportNotes()).body, 'Pay\nBuy milk');
});

test('a call that breaks the contract is an error that names the violation', async () => {
  const ann = await clientWith('a-token-of-ann-for-tests');
  const { isError, value } = await callTool(ann, 'addNote', { body: { text: '' } });
  equal(isError, true);
  equal(value.status, 400);
  match(JSON.stringify(value.errors), /text/);
});

test('a call with an undeclared name is an error that names it', async () => {
  const ann = await clientWith('a-token-of-ann-for-tests');
  for (const [input, name] of [
    [{ limit: 1 }, 'limit'],
    [{ query: { limt: 1 } }, 'query.limt'],
  ] as const) {
    const { isError, content } = await ann.callTool({ name: 'listNotes', arguments: input });
    equal(isError, true);
    match(JSON.stringify(content), new RegExp(`${name} is not a part of the input`));
  }
});

test('a call without a token, or with a wrong one, is an error', async () => {
  for (const token of [undefined, 'a-token-of-nobody-at-all']) {
    const { isError, value } = await callTool(await clientWith(token), 'listNotes');
    deepEqual([isError, value.status], [true, 401]);
  }
});

test('a token without a name has no notes', async () => {
  const headers = { Authorization: 'Bearer a-token-without-a-name' };
  const nobody = await testClient<operations>(app, { document, headers });
  equal((await nobody.addNote({ body: { text: 'Buy milk' } })).status as number, 403);
  equal((await nobody.listNotes()).status as number, 403);
  equal((await nobody.exportNotes()).status as number, 403);
});

await contractTests({ document, app, credentials: 'a-token-of-ann-for-tests', test });
