import {
  asObject,
  type Document,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  schemas,
} from 'openapi-document';
import { routesOf } from 'openapi-document/client';
import { type Direction, directedSchemas, printable, STREAM, unescaped } from './directed-schemas.ts';

/** A string as a literal of TypeScript. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** The name of a property, quoted where it has to be. */
export const propertyName = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quoted(name);

/** The path of the generated file in a project. */
export const TYPES = 'generated/openapi.ts';

const HEADER = `/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

`;

const INT64 = `
/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

`;

const FOR_HANDLERS = `interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
`;

/**
 * Generates the types of a server, as text: `components`, `operations` and `webhooks`, the schemas by their names, and the types
 * of handlers. The same document gives the same text.
 *
 * @throws {Error} if openapi-typescript cannot read the document.
 */
export async function generateTypes(document: Document): Promise<string> {
  const { root, operations, types } = await declarations(document, true);
  const imports = "import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';\n";
  return `${HEADER}${imports}${types}${securityOf(operations)}${defaultsOf(root, operations)}${FOR_HANDLERS}`;
}

/** Generates the file of a client, as text: types, and a function for each operation. It needs `openapi-document`. */
export async function generateClient(document: Document): Promise<string> {
  const { types } = await declarations(document, false);
  const routes = JSON.stringify(routesOf(document.operations), null, 2);
  return `${HEADER}import { type Client, type ClientOptions, clientOf, type Route } from 'openapi-document/client';
${types}
const routes: { readonly [Id in keyof operations]: Route } = ${routes};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> => clientOf<operations>(routes, options);
`;
}

/** @param fillsDefaults whether a property with a default is always present in a request. */
async function declarations(document: Document, fillsDefaults: boolean) {
  const { typesOf } = await import('./generator.ts');
  const { root, operations } = document;
  const directed = directedSchemas(root, fillsDefaults);
  const typed = typedOperations(operations, directed.schema, 'request');
  // The sender signs by itself (Standard Webhooks).
  const events = document.webhooks.map((event) => ({
    ...event,
    parameters: event.parameters.filter(({ name }) => !/^webhook-(id|timestamp|signature)$/i.test(name)),
  }));
  const sent = typedOperations(events, directed.schema, 'reply');
  const webhooks: Record<string, Json> = {};
  for (const [index, { path, method }] of events.entries()) {
    webhooks[path] = { ...webhooks[path], [method]: sent[index] };
  }
  const components = directed.components();
  const byId = Object.fromEntries(operations.map(({ id }, index) => [id, typed[index]]));
  const text = await typesOf(components, byId, webhooks);
  return { root, operations, types: `${INT64}${text}${namedTypes(Object.keys(components))}` };
}

/**
 * Writes operations out for openapi-typescript, each without references but to schemas, whatever its method.
 *
 * @param sent how requests go: `request`, or `reply` for webhooks, which the server itself sends.
 */
function typedOperations(
  operations: readonly Operation[],
  schemaFor: ReturnType<typeof directedSchemas>['schema'],
  sent: Direction,
): readonly Json[] {
  const answered = sent === 'request' ? 'reply' : 'request';
  const typedValue = ({ source, in: where, name, required, schema = {} }: Parameter, direction: Direction) => {
    return { ...annotationsOf(source), in: where, name, required, schema: schemaFor(schema, direction) };
  };
  const contentOf = (media: readonly MediaType[], direction: Direction) =>
    Object.fromEntries(
      media.map(({ type, kind, schema, items, source: { encoding } }) => {
        const form = kind === 'multipart' ? asObject(encoding) : undefined;
        if (items === undefined) return [type, { schema: schemaFor(schema, direction, form) }];
        return [type, { schema: { type: 'array', items: schemaFor(items.schema, direction), [STREAM]: true } }];
      }),
    );
  const responses = operations.map((operation) =>
    operation.responses.map(({ key, headers, media, source }) => {
      const named = headers.map((header) => {
        return [unescaped(header.pointer.split('/').at(-1) ?? ''), typedValue(header, answered)];
      });
      const content = contentOf(media, answered);
      return [key, { ...annotationsOf(source), headers: Object.fromEntries(named), content }];
    }),
  );
  return operations.map(({ source, parameters, requestBody }, index) => {
    const body = requestBody && {
      ...annotationsOf(requestBody.source),
      required: requestBody.required,
      content: contentOf(requestBody.media, sent),
    };
    return {
      ...annotationsOf(source),
      parameters: parameters.map((parameter) => typedValue(parameter, sent)),
      requestBody: body,
      responses: Object.fromEntries(responses[index] ?? []),
    };
  });
}

/** What is shown to who writes code. */
function annotationsOf({ summary, description, deprecated, example, examples }: Json): Json {
  return { summary, description, deprecated, example: printable(example), examples: printable(examples) };
}

/** Names that mean something else in the generated file. */
const TAKEN = new Set(
  'Handlers RequestTo ReplyTo HandlersOf RequestOf ReplyOf Int64 WithRequired File Blob Record Omit Extract AsyncIterable'
    .concat(' Client ClientOptions Route Readable Promise')
    .split(' '),
);

/** Each schema under its own name, where TypeScript admits it. */
function namedTypes(names: readonly string[]): string {
  const taken = new Set(TAKEN);
  return names
    .map((schema) => {
      const name = schema.replaceAll(/[^\p{ID_Continue}]+(.?)/gu, (_, next: string) => next.toUpperCase());
      if (!/^\p{Lu}/u.test(name) || taken.has(name)) return '';
      taken.add(name);
      return `export type ${name} = components["schemas"][${JSON.stringify(schema)}];\n`;
    })
    .join('');
}

function securityOf(operations: readonly Operation[]): string {
  const lines = operations.map(({ id, security }) => {
    const open = security.some((alternative) => Object.keys(alternative).length === 0);
    return `    ${propertyName(id)}: "${security.length === 0 ? 'none' : open ? 'optional' : 'required'}";\n`;
  });
  return `/** Whether an operation needs credentials. */\nexport interface security {\n${lines.join('')}}\n`;
}

function defaultsOf(root: Json, operations: readonly Operation[]): string {
  const lines = operations.flatMap(({ id, parameters }) => {
    const filled = parameters.filter(
      ({ required, schema }) => !required && schemas.allOf(root, schema).some((part) => Object.hasOwn(part, 'default')),
    );
    const places = [...Map.groupBy(filled, (parameter) => parameter.in)].map(
      ([place, all]) => `        ${place}: ${all.map(({ name }) => JSON.stringify(name)).join(' | ')};\n`,
    );
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  return `/** Optional parameters that are always present, because they have a default. */\nexport interface defaults {\n${lines.join('')}}\n`;
}
