import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allOfSchemas, type Document, type Json, type Operation, operationsOf } from 'openapi-document';
import { routesOf } from './client-routes.ts';
import { restoreNames, simplifyDocument } from './simplify-document.ts';
import { simplifySchemas } from './simplify-schemas.ts';

/** The path of the generated file in a project. */
export const TYPES = 'generated/openapi.ts';

const HEADER = `/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

`;

const FOR_SERVER = `import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

export type { Readable, Writable } from 'spec-first-server';

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
 * Generates the types of a server, as text: `paths`, `components` and `operations` of openapi-typescript, and the types of
 * handlers. The same document gives the same text.
 *
 * @throws {Error} if openapi-typescript cannot read the document.
 */
export async function generateTypes(document: Document): Promise<string> {
  const { root, operations, types } = await declarations(document);
  return `${HEADER}${FOR_SERVER}${types}${securityOf(operations)}${defaultsOf(root, operations)}${FOR_HANDLERS}`;
}

/** Generates the file of a client, as text. It needs no other file: types, a function for each operation, exact integers. */
export async function generateClient(document: Document): Promise<string> {
  const client = readFileSync(join(import.meta.dirname, '../templates/client/client.ts'), 'utf8');
  const { types } = await declarations(document);
  const routes = JSON.stringify(routesOf(operationsOf(document)), null, 2);
  return `${HEADER}${client}
/** An integer. A number if it is safe, a bigint beyond ±(2^53−1). */
export type Int64 = number | bigint;

${types}
const routes: { readonly [Id in keyof operations]: Route } = ${routes};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> => clientOf<operations>(routes, options);
`;
}

async function declarations(
  document: Document,
): Promise<{ root: Json; operations: readonly Operation[]; types: string }> {
  const { typesOf } = await import('./generator.ts');
  const root = structuredClone(document.root);
  const operations = operationsOf({ ...document, root });
  simplifyDocument(root, operations);
  const readWriteMarkers = simplifySchemas(root);
  return { root, operations, types: restoreNames(await typesOf(root, readWriteMarkers)) };
}

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

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
      ({ required, schema }) => !required && allOfSchemas(root, schema).some((part) => Object.hasOwn(part, 'default')),
    );
    const places = [...new Set(filled.map((parameter) => parameter.in))].map((place) => {
      const names = filled.filter((parameter) => parameter.in === place).map(({ name }) => JSON.stringify(name));
      return `        ${place}: ${names.join(' | ')};\n`;
    });
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  return `/** Optional parameters that are always present, because they have a default. */\nexport interface defaults {\n${lines.join('')}}\n`;
}
