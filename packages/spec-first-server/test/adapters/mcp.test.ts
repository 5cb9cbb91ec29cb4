import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import express from 'express';
import { pino } from 'pino';
import { documentOf } from 'test-support/document-of';
import { mcpHandler } from '../../src/adapters/mcp.ts';
import { createApp, createService } from '../../src/index.ts';
import { combineServices } from '../../src/serve/combine-services.ts';

const toolWith = (operation: string) =>
  documentOf(`openapi: 3.2.0
info: { title: Greetings, version: 1.0.0 }
paths: { /x: { post: { operationId: greet, x-mcp: true, ${operation} } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }`);

test('integers of 64 bits are exact in calls, and allowed as limits in the list', async () => {
  const int64 = '{ type: integer, format: int64, maximum: 9223372036854775807 }';
  const content = `content: { application/json: { schema: ${int64} } }`;
  const app = await createApp({
    document: await toolWith(
      `requestBody: { ${content} }, responses: { 200: { description: ok, ${content} } }`,
    ),
    handlers: { greet: ({ body }) => ({ status: 200, body }) },
    use: (service) => [mcpHandler(service)],
  });
  await using server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const post = async (method: string, params: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-06-18',
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
    });
    return response.text();
  };

  const call = '{"name":"greet","arguments":{"body":9007199254740993}}';
  expect(await post('tools/call', call)).toMatch('"text":"9007199254740993"');
  expect(await post('tools/list', '{}')).toMatch('"name":"greet"');
  expect(await post('tools/list', '{')).toMatch('"code":-32700');
});

test('tools may be operations of several documents', async () => {
  const documentAt = (version: string) =>
    documentOf(`openapi: 3.2.0
info: { title: ${version}, version: 1.0.0 }
servers: [{ url: /${version} }]
paths:
  /x:
    get:
      operationId: ${version}
      x-mcp: true
      parameters: [{ name: a, in: query, schema: { $ref: '#/components/schemas/${version}' } }]
      responses: { 204: { description: ok } }
components: { schemas: { ${version}: { const: ${version} } } }`);
  const serviceOf = async (version: string) =>
    createService(await documentAt(version), { handlers: { [version]: () => ({ status: 204 }) } });
  const service = combineServices(await serviceOf('v1'), [await serviceOf('v2')]);
  const app = express().use(mcpHandler(service));
  await using server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));

  for (const name of ['v1', 'v2']) {
    const { isError } = await client.callTool({ name, arguments: { query: { a: name } } });
    expect(isError).toBe(false);
  }
  await client.close();
});

test('the log has each tool call, with the address of the client and the subject', async () => {
  const lines: object[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const app = await createApp({
    document: await toolWith('security: [{ token: [] }], responses: { 204: { description: ok } }'),
    handlers: { greet: () => ({ status: 204 }) },
    accessTokens: ['ann:a-token-of-ann'],
    log,
    use: (service) => [mcpHandler(service)],
  });
  await using server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { Authorization: 'Bearer a-token-of-ann' } };
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));

  const { isError } = await client.callTool({ name: 'greet', arguments: {} });
  await client.close();

  expect(isError).toBe(false);
  const call = { operationId: 'greet', status: 204, subject: 'ann', client: '127.0.0.1' };
  expect(lines).toContainEqual(expect.objectContaining(call));
});

test.each([
  [
    'requestBody: { content: { image/png: {} } }, responses: { 204: { description: ok } }',
    'its body is image/png, not JSON',
  ],
  [
    'responses: { 200: { description: ok, content: { application/jsonl: { itemSchema: {} } } } }',
    'its response application/jsonl is a stream',
  ],
  [
    'parameters: [{ name: a, in: cookie, required: true, schema: {} }], responses: { 204: { description: ok } }',
    'it requires the cookie a',
  ],
])('an operation with %s is not a tool', async (operation, reason) => {
  const handlers = { greet: () => ({ status: 200 }) };
  const service = await createService(await toolWith(operation), { handlers });
  expect(() => mcpHandler(service)).toThrow(`greet cannot be an MCP tool: ${reason}`);
});
