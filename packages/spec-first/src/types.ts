import { basename } from 'node:path';
import {
  asObject,
  type Document,
  escapePointerToken,
  isObject,
  type Json,
  type MediaType,
  type Operation,
  type Parameter,
  schemas,
} from 'openapi-document';
import { routesOf } from 'openapi-document/client';
import { type Direction, directedSchemas, LINE, printable, STREAM } from './directed-schemas.ts';
import { linesOf } from './places.ts';

/** A string as a literal of TypeScript. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** The name of a property, quoted if necessary. */
export const propertyName = (name: string): string =>
  /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quoted(name);

/** The path of the generated file in a project. */
export const TYPES = 'generated/openapi.ts';

const HEADER = `/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and
 * run it again.
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
/** A handler for each operation. Handlers<typeof verifiers> get the callers of your verifiers. */
export type Handlers<V extends Verifiers = {}> = HandlersOf<contract, V>;
/** Middleware around all handlers. */
export type Around<V extends Verifiers = {}> = AroundOf<contract, V>;
/** The validated request that a handler gets. */
export type RequestTo<Id extends keyof operations, V extends Verifiers = {}> =
    RequestOf<contract, Id, V>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
`;

/**
 * Generates the types of a server, as text: `components`, `operations` and `webhooks`, the schemas
 * by their names, and the types of handlers. The same document gives the same text.
 *
 * @param name the name of the document in comments.
 */
export async function generateTypes(
  document: Document,
  name = basename(document.file),
): Promise<string> {
  const { root, operations, types } = await declarations(document, true, name);
  const imports =
    'import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } ' +
    "from 'spec-first-server';\n";
  const requirements = securityOf(operations) + defaultsOf(root, operations);
  return `${HEADER}${imports}${types}${requirements}${FOR_HANDLERS}`;
}

/**
 * Generates the file of a client, as text: types, and a function for each operation. It needs
 * `openapi-document`.
 */
export async function generateClient(document: Document): Promise<string> {
  const { types } = await declarations(document, false, basename(document.file));
  const routes = JSON.stringify(routesOf(document.operations), null, 2);
  const imports = 'import { type Client, type ClientOptions, clientOf, type Route } ';
  return `${HEADER}${imports}from 'openapi-document/client';
${types}
const routes: { readonly [Id in keyof operations]: Route } = ${routes};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> =>
    clientOf<operations>(routes, options);
`;
}

async function declarations(document: Document, isServer: boolean, name: string) {
  const { typesOf } = await import('./generator.ts');
  const { root, operations } = document;
  const directed = directedSchemas(root, { fillsDefaults: isServer, acceptsDates: isServer });
  const typed = typedOperations(operations, directed.schema, 'request');
  const sent = typedOperations(document.webhooks, directed.schema, 'reply');
  const webhooks: Record<string, Json> = {};
  for (const [index, { path, method }] of document.webhooks.entries()) {
    webhooks[path] = { ...webhooks[path], [method]: sent[index] };
  }
  const components = directed.components();
  const byId = Object.fromEntries(operations.map(({ id }, index) => [id, typed[index]]));
  addLines(document, components, byId, name);
  const text = await typesOf(components, byId, webhooks);
  return { root, operations, types: `${INT64}${text}` };
}

/** Adds the line of the document to each schema and each operation. */
function addLines(
  document: Document,
  components: Json,
  operations: Json,
  documentName: string,
): void {
  const declared = asObject(asObject(document.root.components).schemas);
  const pointers = new Map<unknown, string>();
  for (const [name, schema] of Object.entries(components)) {
    const declaredName = Object.hasOwn(declared, name) ? name : name.replace(/Writable\d*$/, '');
    if (Object.hasOwn(declared, declaredName))
      pointers.set(schema, `/components/schemas/${escapePointerToken(declaredName)}`);
  }
  for (const { id, pointer } of document.operations) pointers.set(operations[id], pointer);
  const lines = linesOf(document, [...pointers.values()], documentName);
  for (const [part, pointer] of pointers)
    if (isObject(part)) Reflect.set(part, LINE, lines.get(pointer));
}

/**
 * Converts operations for openapi-typescript. Only references to schemas remain.
 *
 * @param sent the direction of the requests: `reply` for webhooks, which the server itself sends.
 */
function typedOperations(
  operations: readonly Operation[],
  schemaFor: ReturnType<typeof directedSchemas>['schema'],
  sent: Direction,
): readonly Json[] {
  const answered = sent === 'request' ? 'reply' : 'request';
  const typedValue = (
    { source, in: where, name, required, schema = {} }: Parameter,
    direction: Direction,
  ) => {
    return {
      ...annotationsOf(source),
      in: where,
      name,
      required,
      schema: schemaFor(schema, direction),
    };
  };
  const contentOf = (media: readonly MediaType[], direction: Direction) =>
    Object.fromEntries(
      media.map(({ type, kind, schema, items, source: { encoding } }) => {
        const form = kind === 'multipart' ? asObject(encoding) : undefined;
        if (items === undefined) return [type, { schema: schemaFor(schema, direction, form) }];
        return [
          type,
          { schema: { type: 'array', items: schemaFor(items.schema, direction), [STREAM]: true } },
        ];
      }),
    );
  // Before the requests, since schemas of replies keep their names.
  const responses = operations.map((operation) =>
    operation.responses.map(({ key, headers, media, source }) => {
      const named = headers.map((header) => [nameInDocument(header), typedValue(header, answered)]);
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

/** The name of a header as the document writes it. */
const nameInDocument = ({ pointer }: Parameter): string =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');

/** The annotations that editors show. */
function annotationsOf({ summary, description, deprecated, example, examples }: Json): Json {
  return {
    summary,
    description,
    deprecated,
    example: printable(example),
    examples: printable(examples),
  };
}

function securityOf(operations: readonly Operation[]): string {
  const lines = operations.map(({ id, security }) => {
    const names = new Set(security.flatMap((alternative) => Object.keys(alternative)));
    const isOptional =
      security.length === 0 ||
      security.some((alternative) => Object.keys(alternative).length === 0);
    const schemes = [...names].map((name) => JSON.stringify(name));
    const types = isOptional ? [...schemes, 'undefined'] : schemes;
    return `    ${propertyName(id)}: ${types.join(' | ')};\n`;
  });
  const title =
    '/** The security schemes of each operation; undefined if it needs no credentials. */';
  return `${title}\nexport interface security {\n${lines.join('')}}\n`;
}

function defaultsOf(root: Json, operations: readonly Operation[]): string {
  const lines = operations.flatMap(({ id, parameters }) => {
    const filled = parameters.filter(
      ({ required, schema }) =>
        !required && schemas.allOf(root, schema).some((part) => Object.hasOwn(part, 'default')),
    );
    const places = [...Map.groupBy(filled, (parameter) => parameter.in)].map(
      ([place, parametersIn]) =>
        `        ${place}: ${parametersIn.map(({ name }) => JSON.stringify(name)).join(' | ')};\n`,
    );
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  const title = '/** Optional parameters that are always present, because they have a default. */';
  return `${title}\nexport interface defaults {\n${lines.join('')}}\n`;
}
