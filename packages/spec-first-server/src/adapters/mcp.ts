import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  McpServer,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import express, { type RequestHandler } from 'express';
import {
  type Document,
  isJsonType,
  type Operation,
  parseJson,
  stringifyJson,
} from 'openapi-document';
import { clientOf, routesOf } from 'openapi-document/client';
import type { Service } from '../core/service.ts';
import { fetchHandler } from './fetch.ts';

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

/** Requests do not leave the process. */
const ORIGIN = 'http://localhost';

/**
 * Serves the operations of a service that are marked `x-mcp: true` as tools of the Model Context
 * Protocol (Streamable HTTP, without sessions). A tool call is a call of the operation with the
 * Authorization of the MCP request, so it is authenticated, validated and logged. An error of the
 * operation is a result with `isError`, which a model can read.
 *
 * @example
 * await serve({ open: { handlers, use: (service) => [mcpHandler(service)] } });
 *
 * @param path the path of the endpoint. By default `/mcp`.
 * @throws {Error} if a marked operation has a body or a response that a tool cannot have.
 */
export function mcpHandler(service: Service, path = '/mcp'): RequestHandler {
  const { title, version } = Object(service.document.root.info);
  const tools = service.documents.flatMap((document) =>
    document.operations
      .filter(({ source }) => source['x-mcp'] === true)
      .map((operation) => toolOf(service, document, operation)),
  );
  const call = fetchHandler(service, { client: (_, address?: string) => address });
  const addresses = new WeakMap<Request, string>();

  const mcp = createMcpHandler(({ requestInfo }) => {
    const authorization = requestInfo?.headers.get('Authorization');
    const address = requestInfo && addresses.get(requestInfo);
    const server = new McpServer({ name: title, version });
    for (const { id, routes, baseUrl, description, inputSchema } of tools) {
      const calls = clientOf<Record<string, AnyOperation>>(routes, {
        baseUrl,
        headers: authorization ? { Authorization: authorization } : {},
        fetch: (url, init) => call(new Request(url, init), address),
      });
      server.registerTool(id, { description, inputSchema }, async (input, { mcpReq }) => {
        const result = await calls[id]?.(input, { signal: mcpReq.signal });
        const text = stringifyJson(result?.body) ?? '';
        return { content: [{ type: 'text', text }], isError: result?.response.ok !== true };
      });
    }
    return server;
  });
  service.stopping?.addEventListener('abort', () => void mcp.close(), { once: true });

  const handleRequest: RequestHandler = async ({ method, headers, ip, body }, response) => {
    const request = new Request(ORIGIN + path, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    });
    if (ip !== undefined) addresses.set(request, ip);
    const reply = await mcp.fetch(request, { parsedBody: jsonOf(body) });
    response.status(reply.status).setHeaders(reply.headers);
    await pipeline(reply.body ?? [], response);
  };
  // `express.json()` would round integers beyond 2^53.
  return express.Router().all(path, express.text({ type: 'application/json' }), handleRequest);
}

/** Returns a value of JSON; `undefined` for other texts, which get an error of JSON-RPC. */
function jsonOf(body: unknown): unknown {
  try {
    return parseJson(String(body));
  } catch {
    return undefined;
  }
}

/**
 * @throws {Error} if the operation has a body that is not JSON, a response that is a stream, or a
 *   required cookie.
 */
function toolOf({ codecs }: Service, document: Document, operation: Operation) {
  const { id, source, parameters, requestBody, responses } = operation;
  const { media = [] } = requestBody ?? {};
  if (media.length > 0 && !media.some(({ type }) => isJsonType(type)))
    throw new Error(`${id} cannot be an MCP tool: its body is ${media[0]?.type}, not JSON`);
  const stream = responses
    .flatMap((response) => response.media)
    .find((each) => codecs.factsOf(each).unit === 'items');
  if (stream !== undefined)
    throw new Error(`${id} cannot be an MCP tool: its response ${stream.type} is a stream`);
  const cookie = parameters.find((each) => each.in === 'cookie' && each.required);
  if (cookie !== undefined)
    throw new Error(`${id} cannot be an MCP tool: it requires the cookie ${cookie.name}`);
  return {
    id,
    routes: routesOf([operation]),
    baseUrl: ORIGIN + document.basePaths[0],
    description: String(source.description ?? source.summary ?? id),
    inputSchema: inputOf(document, operation),
  };
}

/**
 * Returns the schema of a tool's input. `validate` rejects names that a request would lose. The
 * operation validates the values.
 */
function inputOf({ root }: Document, operation: Operation): StandardSchemaWithJSON<Input> {
  const { parameters, requestBody } = operation;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const groups = new Map<string, Values>();
  const strict = { type: 'object', additionalProperties: false };
  for (const part of ['path', 'query', 'header'] as const) {
    const group = parameters.filter((parameter) => parameter.in === part);
    if (group.length === 0) continue;
    const members = Object.fromEntries(group.map(({ name, schema }) => [name, schema]));
    const needed = group.filter((parameter) => parameter.required).map(({ name }) => name);
    properties[part] = { ...strict, properties: members, required: needed };
    groups.set(part, members);
    if (needed.length > 0) required.push(part);
  }
  if (requestBody !== undefined) {
    properties.body = requestBody.media.find(({ type }) => isJsonType(type))?.schema ?? {};
    if (requestBody.required) required.push('body');
  }
  const schema = withDefinitions({ ...strict, properties, required }, root);
  const validate = (value: unknown) => {
    const input: Input = Object(value);
    const unknown = Object.entries(input).flatMap(([part, value]) => {
      if (!Object.hasOwn(properties, part)) return [part];
      const members = groups.get(part);
      const names = members === undefined ? [] : Object.keys(Object(value));
      return names
        .filter((name) => !Object.hasOwn(members ?? {}, name))
        .map((name) => `${part}.${name}`);
    });
    if (unknown.length === 0) return { value: input };
    return { issues: unknown.map((name) => ({ message: `${name} is not a part of the input` })) };
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'openapi-document',
      validate,
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}

/** Matches a reference to a schema of the document, in JSON. */
const REFERENCE = /"#\/components\/schemas\/([^"/]+)/g;

/** Adds the schemas that a schema refers to as `$defs`, where clients expect them. */
function withDefinitions(schema: object, { components }: Values): Record<string, unknown> {
  const { schemas } = Object(components);
  const definitions = new Map<string, unknown>();
  const addFrom = (part: unknown): void => {
    for (const [, name = ''] of (stringifyJson(part) ?? '').matchAll(REFERENCE)) {
      if (definitions.has(name)) continue;
      definitions.set(name, schemas[name]);
      addFrom(schemas[name]);
    }
  };
  addFrom(schema);
  const text = String(stringifyJson({ ...schema, $defs: Object.fromEntries(definitions) }));
  // The list of tools is written without exact integers.
  return JSON.parse(text.replaceAll('"#/components/schemas/', '"#/$defs/'));
}
