import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import { documentOf } from 'test-support/document-of';
import { mcpHandler } from '../../src/adapters/mcp.ts';
import { createApp, createService } from '../../src/index.ts';

const toolWith = (operation: string) =>
  documentOf(`openapi: 3.2.0
info: { title: Greetings, version: 1.0.0 }
paths: { /x: { post: { operationId: greet, x-mcp: true, ${operation} } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }`);

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
])('an operation with %s is not a tool', async (operation, reason) => {
  const handlers = { greet: () => ({ status: 200 }) };
  const service = await createService(await toolWith(operation), { handlers });
  expect(() => mcpHandler(service)).toThrow(`greet cannot be an MCP tool: ${reason}`);
});
