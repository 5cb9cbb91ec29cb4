import { basename } from 'node:path';
import type { Document, Operation, Schemas } from 'openapi-document';
import { routesOf } from 'openapi-document/client';
import { generateSource } from './generator.ts';
import { isIdentifier } from './type-names.ts';

/** Returns a string as a literal of TypeScript, in single quotes. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const propertyName = (name: string): string => (isIdentifier(name) ? name : quoted(name));

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
/**
 * A handler for each operation. Handlers<typeof verifiers> sets the type of callers, and
 * Handlers<typeof verifiers, { tx: Transaction }> a member of requests that \`around\` adds.
 */
export type Handlers<V extends Verifiers = {}, M extends object = {}> =
    HandlersOf<contract, V, M>;
/** Middleware around all handlers. It adds the members M to requests: next({ tx }). */
export type Around<V extends Verifiers = {}, M extends object = {}> = AroundOf<contract, V, M>;
/** The validated request that a handler gets. */
export type RequestTo<
    Id extends keyof operations,
    V extends Verifiers = {},
    M extends object = {},
> = RequestOf<contract, Id, V, M>;
/** The reply that a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<contract['operations'][Id]>;
`;

/**
 * Generates the types of a server as text: schemas by their names, `components`, `operations`,
 * `webhooks`, and the types of handlers. The same document gives the same text.
 *
 * @param name the name of the document in comments.
 */
export async function generateTypes(
  document: Document,
  name = basename(document.file),
): Promise<string> {
  const { schemas, operations } = document;
  const { text, isGeneric } = generateSource(document, schemas, true, name);
  const imports =
    'import type { AroundOf, HandlersOf, ReplyOf, RequestOf, Verifiers } ' +
    "from 'spec-first-server';\n";
  const requirements = securityOf(operations) + defaultsOf(schemas, operations);
  const handlers = isGeneric
    ? FOR_HANDLERS.replace('operations: operations;', 'operations: operations<Sent>;')
    : FOR_HANDLERS;
  return HEADER + imports + INT64 + text + requirements + handlers;
}

/** Returns true for an operation with a body that `fetch` rejects. */
export const hasUnsendableBody = ({ method, requestBody }: Operation): boolean =>
  requestBody !== undefined && ['get', 'head'].includes(method);

/**
 * Generates the module of a client as text: types, routes and `createClient`. It imports
 * `openapi-document`. Bodies that `fetch` cannot send are left out.
 */
export async function generateClient(document: Document): Promise<string> {
  const { file, schemas } = document;
  const operations = document.operations.map((operation) =>
    hasUnsendableBody(operation) ? { ...operation, requestBody: undefined } : operation,
  );
  const { text } = generateSource({ ...document, operations }, schemas, false, basename(file));
  const routes = JSON.stringify(routesOf(operations), null, 2);
  const imports = 'import { type Client, type ClientOptions, clientOf, type Route } ';
  return `${HEADER}${imports}from 'openapi-document/client';
${INT64}${text}
const routes: { readonly [Id in keyof operations]: Route } = ${routes};

/** Makes a client of the service. */
export const createClient = (options: ClientOptions): Client<operations> =>
    clientOf<operations>(routes, options);
`;
}

function securityOf(operations: readonly Operation[]): string {
  const lines = operations.map(({ id, security }) => {
    const types = (security.length === 0 ? [{}] : security).map((alternative) => {
      const names = Object.keys(alternative).map((name) => JSON.stringify(name));
      return names.length > 1 ? `[${names.join(', ')}]` : (names[0] ?? 'undefined');
    });
    return `    ${propertyName(id)}: ${[...new Set(types)].join(' | ')};\n`;
  });
  const title =
    '/** The security schemes of each operation; undefined if it needs no credentials. */';
  return `${title}\nexport interface security {\n${lines.join('')}}\n`;
}

function defaultsOf(schemas: Schemas, operations: readonly Operation[]): string {
  const lines = operations.flatMap(({ id, parameters }) => {
    const filled = parameters.filter(
      ({ required, schema }) => !required && schemas.at(schema, 'request').default !== undefined,
    );
    const places = [...Map.groupBy(filled, (parameter) => parameter.in)].map(
      ([place, parametersIn]) =>
        `        ${place}: ${parametersIn.map(({ name }) => JSON.stringify(name)).join(' | ')};\n`,
    );
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  const title = '/** Optional parameters with a default. The server fills it in. */';
  return `${title}\nexport interface defaults {\n${lines.join('')}}\n`;
}
