import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  McpServer,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import express, { type RequestHandler } from 'express';
import { type Document, parseJson, stringifyJson } from 'openapi-document';
import { clientOf, routesOf } from 'openapi-document/client';

type Operation = Document['operations'][number];
type Values = Readonly<Record<string, unknown>>;

/** The input of a tool. */
interface Input {
  readonly path?: Values;
  readonly query?: Values;
  readonly header?: Values;
  readonly body: unknown;
}

/** The type of each tool's operation, in the form of generated types. */
interface AnyOperation {
  readonly parameters: Omit<Input, 'body'>;
  readonly requestBody: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: {
    readonly default: { readonly content: { readonly 'application/json': unknown } };
  };
}

/**
 * Creates a router that serves the operations marked `x-mcp: true` as MCP tools at `/mcp`. Each
 * tool call is a request to this server with the Authorization of the MCP request.
 */
export function mcpEndpoint(document: Document) {
  const tools = document.operations.filter(({ source }) => source['x-mcp'] === true);
  const routes = routesOf(tools);
  const { title, version } = Object(document.root.info);

  const mcp = createMcpHandler(({ requestInfo }) => {
    const authorization = requestInfo?.headers.get('Authorization');
    const calls = clientOf<Record<string, AnyOperation>>(routes, {
      baseUrl: new URL(requestInfo?.url ?? '').origin + document.basePaths[0],
      headers: authorization ? { Authorization: authorization } : {},
    });
    const server = new McpServer({ name: title, version });
    for (const operation of tools) {
      const { id, source } = operation;
      const description = String(source.description ?? source.summary ?? id);
      const inputSchema = inputOf(document, operation);
      server.registerTool(id, { description, inputSchema }, async (input) => {
        const { status = 500, body } = (await calls[id]?.(input)) ?? {};
        const text = stringifyJson(body) ?? '';
        // An error is a result, which the model can read.
        return { content: [{ type: 'text', text }], isError: status >= 400 };
      });
    }
    return server;
  });

  const answer: RequestHandler = async ({ method, headers, socket, body }, response) => {
    const { localAddress, localFamily, localPort } = socket;
    const host = localFamily === 'IPv6' ? `[${localAddress}]` : localAddress;
    // Not the Host header: it may name another host, which would then receive the token.
    const request = new Request(`http://${host}:${localPort}/mcp`, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    });
    const reply = await mcp.fetch(request, { parsedBody: body });
    response.status(reply.status).setHeaders(reply.headers);
    await pipeline(reply.body ?? [], response);
  };

  const router = express.Router().all('/mcp', express.json(), answer);
  return { router, close: mcp.close };
}

/** Returns the schema of a tool's input. `validate` accepts all: the operation validates it. */
function inputOf({ root }: Document, operation: Operation): StandardSchemaWithJSON<Input> {
  const { parameters, requestBody } = operation;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const part of ['path', 'query', 'header'] as const) {
    const group = parameters.filter((parameter) => parameter.in === part);
    if (group.length === 0) continue;
    const entries = group.map(({ name, schema }) => [name, schema]);
    const names = group.filter((parameter) => parameter.required).map(({ name }) => name);
    properties[part] = { type: 'object', properties: Object.fromEntries(entries), required: names };
    if (names.length > 0) required.push(part);
  }
  if (requestBody !== undefined) properties.body = requestBody.media[0]?.schema ?? {};
  if (requestBody?.required) required.push('body');
  const $defs = Object(root.components).schemas;
  const schema = withLocalRefs({ type: 'object', properties, required, $defs });
  return {
    '~standard': {
      version: 1,
      vendor: 'openapi-document',
      validate: (value) => ({ value: Object(value) }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

/** Lets references lead to `$defs`, where clients expect the schemas. */
const withLocalRefs = (schema: object): Record<string, unknown> =>
  Object(
    parseJson(String(stringifyJson(schema)).replaceAll('"#/components/schemas/', '"#/$defs/')),
  );
