import { type Document, type Json, type Operation, schemas } from 'openapi-document';
import { routesOf } from 'openapi-document/client';
import { directedSchemas } from './directed-schemas.ts';
import { propertyName } from './source-text.ts';
import { typedOperations } from './typed-operations.ts';

/** The path of the generated file in a project. */
export const TYPES = 'generated/openapi.ts';

const HEADER = `/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

`;

const FOR_SERVER = `import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

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
  return `${HEADER}${FOR_SERVER}${types}${securityOf(operations)}${defaultsOf(root, operations)}${FOR_HANDLERS}`;
}

/** Generates the file of a client, as text: types, and a function for each operation. It needs `openapi-document`. */
export async function generateClient(document: Document): Promise<string> {
  const { types } = await declarations(document, false);
  const routes = JSON.stringify(routesOf(document.operations), null, 2);
  return `${HEADER}import { type Client, type ClientOptions, clientOf, type Route } from 'openapi-document/client';

/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

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
  const typed = typedOperations(operations, directed, 'request');
  // The sender signs by itself (Standard Webhooks).
  const events = document.webhooks.map((event) => ({
    ...event,
    parameters: event.parameters.filter(({ name }) => !/^webhook-(id|timestamp|signature)$/i.test(name)),
  }));
  const webhooks: Record<string, Record<string, unknown>> = {};
  for (const { operation, typed: event } of typedOperations(events, directed, 'reply')) {
    webhooks[operation.path] = { ...webhooks[operation.path], [operation.method]: event };
  }
  const components = directed.components();
  const text = await typesOf({
    schemas: components,
    operations: Object.fromEntries(typed.map(({ operation, typed: source }) => [operation.id, source])),
    webhooks,
  });
  return { root, operations, types: `${text}${namedTypes(Object.keys(components))}` };
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
    const places = [...new Set(filled.map((parameter) => parameter.in))].map((place) => {
      const names = filled.filter((parameter) => parameter.in === place).map(({ name }) => JSON.stringify(name));
      return `        ${place}: ${names.join(' | ')};\n`;
    });
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  return `/** Optional parameters that are always present, because they have a default. */\nexport interface defaults {\n${lines.join('')}}\n`;
}
