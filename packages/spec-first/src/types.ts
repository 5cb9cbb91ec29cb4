import type { default as openapiTS } from 'openapi-typescript';
import { arrayAt, follow, isObject, type Json, objectAt, token } from 'spec-first-server/internal/document/document';
import { loadDocument } from 'spec-first-server/internal/document/load';
import { isFile, kindOf, METHODS, type Operation, operationsOf } from 'spec-first-server/internal/document/operations';
import { alternatives, eachSchema, parts } from 'spec-first-server/internal/document/schema';
import type TypeScript from 'typescript';

type Transform = NonNullable<NonNullable<Parameters<typeof openapiTS>[1]>['transform']>;

const HEADER = `/**
 * Generated from the OpenAPI document by "npm run generate". Do not edit: change the document and run it again.
 */

import type { HandlersOf, ReplyOf, RequestOf } from 'spec-first-server';

/** A safe integer is a number, anything beyond ±(2^53−1) a bigint. */
export type Int64 = number | bigint;

`;

const FOR_HANDLERS = `interface contract {
    operations: operations;
    security: security;
    defaults: defaults;
}
/** A handler for each operation. */
export type Handlers = HandlersOf<contract>;
/** What a handler is given: a checked request. */
export type RequestTo<Id extends keyof operations> = RequestOf<contract, Id>;
/** What a handler returns: one of the declared responses. */
export type ReplyTo<Id extends keyof operations> = ReplyOf<operations[Id]>;
`;

const WITHOUT_MARKERS = `/** What a reply holds: everything but what is writeOnly. */
export type Readable<T> = T;

/** What a request holds: everything but what is readOnly. */
export type Writable<T> = T;

`;

const WITH_MARKERS = `/** What a reply holds: everything but what is writeOnly. */
export type Readable<T> =
  T extends $Read<infer U> ? Readable<U>
  : T extends Blob ? T
  : T extends readonly unknown[] ? { [K in keyof T]: Readable<T[K]> }
  : T extends object ? { [K in keyof T as NonNullable<T[K]> extends $Write<unknown> ? never : K]: Readable<T[K]> }
  : T;

/** What a request holds: everything but what is readOnly. */
export type Writable<T> =
  T extends $Write<infer U> ? Writable<U>
  : T extends Blob ? T
  : T extends readonly unknown[] ? { [K in keyof T]: Writable<T[K]> }
  : T extends object ? { [K in keyof T as NonNullable<T[K]> extends $Read<unknown> ? never : K]: Writable<T[K]> }
  : T;

`;

/** Marks the schema of a file inside a form. */
const FILE = 'x-file';

/**
 * The TypeScript declarations of an OpenAPI document, as text: `paths`, `components` and `operations` of
 * openapi-typescript, and what a server needs beside them (`Int64`, `Readable`, `Writable`, `security`, `defaults`). The
 * same document gives the same text.
 *
 * @throws {DocumentError} if the document cannot be read.
 * @throws {Error} if it is none of OpenAPI 3, or has a name that no type can have.
 */
export async function generateTypes(file: string): Promise<string> {
  const [{ root }, { createConfig }, { default: ts }, openapi] = await Promise.all([
    loadDocument(file),
    import('@redocly/openapi-core'),
    import('typescript'),
    import('openapi-typescript'),
  ]);
  const readWriteMarkers = simplify(root);
  const operations = operationsOf({ file, root });
  const hash = operations.find(({ id }) => id.includes('#'));
  if (hash !== undefined) throw new Error(`operationId "${hash.id}": no type can be named so, leave out the "#"`);

  const nodes = await openapi.default(JSON.stringify(root), {
    silent: true,
    redocly: await createConfig({}),
    readWriteMarkers,
    emptyObjectsUnknown: true,
    transform: transformer(ts, openapi.transformSchemaObject),
  });
  const own = nodes.filter((node) => !(ts.isTypeAliasDeclaration(node) && /^(Read|Writ)able$/.test(node.name.text)));
  const types = openapi
    .astToString(own)
    .replace('export type operations = Record<string, never>;', 'export interface operations {\n}');
  return `${HEADER}${readWriteMarkers ? WITH_MARKERS : WITHOUT_MARKERS}${types}${securityOf(operations)}${defaultsOf(root, operations)}${FOR_HANDLERS}`;
}

/** Types that openapi-typescript would give too narrow (integers, tuples) or not at all (files). */
function transformer(
  ts: typeof TypeScript,
  typeOf: typeof import('openapi-typescript').transformSchemaObject,
): Transform {
  const { factory } = ts;
  const unknown = factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword);
  return (schema, options) => {
    // Properties come here as they are written: a reference or an enumeration has its type already.
    if (typeof schema !== 'object' || '$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
    const source: Json = { ...schema };
    if (source.type === 'integer') return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
    if (source.type === 'string' && source[FILE] === true) return factory.createTypeReferenceNode('Blob');
    if (!('type' in schema) || schema.type !== 'array' || !('prefixItems' in schema)) return undefined;

    const prefix = schema.prefixItems ?? [];
    const minimum = typeof source.minItems === 'number' ? source.minItems : 0;
    const elements: TypeScript.TypeNode[] = prefix.map((item, index) => {
      const type = typeOf(item, options);
      return index < minimum ? type : factory.createOptionalTypeNode(type);
    });
    const full = typeof source.maxItems === 'number' && source.maxItems <= prefix.length;
    if (!full && source.items !== false && source.unevaluatedItems !== false) {
      const { items } = schema;
      const rest = isObject(items) && !Array.isArray(items) ? typeOf(items, options) : unknown;
      elements.push(factory.createRestTypeNode(factory.createArrayTypeNode(rest)));
    }
    return factory.createTupleTypeNode(elements);
  };
}

/** Whether every value fits a number exactly. */
function isSafe(schema: Json): boolean {
  const within = (...bounds: unknown[]) =>
    bounds.some((bound) => typeof bound === 'number' && Math.abs(bound) <= Number.MAX_SAFE_INTEGER);
  return (
    schema.format === 'int32' ||
    (within(schema.minimum, schema.exclusiveMinimum) && within(schema.maximum, schema.exclusiveMaximum))
  );
}

/**
 * Says in the document's own words what openapi-typescript would read otherwise than a validator does.
 *
 * @returns whether the document has properties that go one way only.
 */
function simplify(root: Json): boolean {
  const components = objectAt(root.components);
  for (const [path, item] of Object.entries(objectAt(root.paths))) {
    const { $ref, ...siblings } = objectAt(item);
    if ($ref !== undefined) Object.assign(objectAt(root.paths), { [path]: { ...follow(root, item), ...siblings } });
  }
  Reflect.deleteProperty(root, 'webhooks');
  Reflect.deleteProperty(components, 'pathItems');
  drawIn(root);
  simplifyParameters(root, components);
  simplifyHeaders(root, components);
  markFiles(root, components);
  moveDefinitions(root, components);

  let oneWay = false;
  eachRootSchema(root, (rootSchema, pointer) =>
    eachSchema(rootSchema, pointer, (schema) => {
      for (const property of Object.values(objectAt(schema.properties))) {
        for (const keyword of ['readOnly', 'writeOnly']) {
          if (!parts(root, property).some((part) => part[keyword] === true)) continue;
          Object.assign(objectAt(property), { [keyword]: true });
          oneWay = true;
        }
      }
      combine(schema);
    }),
  );
  return oneWay;
}

/** What stands in another file is typed where it is used, unless it is a component. */
function drawIn(root: Json): void {
  const draw = (value: unknown) => {
    const { $ref } = objectAt(value);
    return typeof $ref === 'string' && !$ref.startsWith('#/components/') ? follow(root, value) : value;
  };
  for (const operation of [...values(root.paths).map(objectAt), ...operationObjects(root)]) {
    const { parameters, requestBody, responses } = operation;
    if (Array.isArray(parameters)) Object.assign(operation, { parameters: parameters.map(draw) });
    if (requestBody !== undefined) Object.assign(operation, { requestBody: draw(requestBody) });
    const drawn = Object.entries(objectAt(responses)).map(([key, response]) => [key, draw(response)]);
    Object.assign(objectAt(responses), Object.fromEntries(drawn));
  }
}

/** A parameter with `content` has a type like any other; three headers are no parameters (OpenAPI 3.1 §4.8.12.1). */
function simplifyParameters(root: Json, components: Json): void {
  const items = Object.values(objectAt(root.paths)).map(objectAt);
  const holders = items.flatMap((item) => [item, ...METHODS.map((method) => objectAt(item[method]))]);
  for (const holder of holders) {
    if (!Array.isArray(holder.parameters)) continue;
    const parameters = holder.parameters.filter((parameter) => {
      const { in: where, name } = follow(root, parameter) ?? {};
      return where !== 'header' || !/^(accept|content-type|authorization)$/i.test(String(name));
    });
    Object.assign(holder, { parameters });
  }
  const all = [...holders.flatMap(({ parameters }) => arrayAt(parameters)), ...values(components.parameters)];
  for (const parameter of all.filter(isObject)) {
    const [content] = Object.entries(objectAt(parameter.content));
    if (content === undefined) continue;
    Object.assign(parameter, { schema: objectAt(content[1]).schema ?? {} });
  }
}

/** A referenced header would be typed as one that must be there. */
function simplifyHeaders(root: Json, components: Json): void {
  const responses = operationObjects(root).flatMap(({ responses }) => values(responses));
  for (const response of [...responses, ...values(components.responses)]) {
    const headers = objectAt(objectAt(response).headers);
    for (const [name, header] of Object.entries(headers)) Object.assign(headers, { [name]: follow(root, header) });
  }
}

/** Finds what is a file in multipart/form-data (OpenAPI 3.1 §4.8.14.3 and §4.8.15). */
function markFiles(root: Json, components: Json): void {
  const bodies = operationObjects(root).flatMap(({ requestBody, responses }) => [requestBody, ...values(responses)]);
  for (const body of [...bodies, ...values(components.requestBodies), ...values(components.responses)]) {
    for (const [type, source] of Object.entries(objectAt(objectAt(body).content))) {
      if (kindOf(type) !== 'multipart') continue;
      const { schema, encoding } = objectAt(source);
      for (const part of alternatives(root, schema)) {
        for (const [name, property] of Object.entries(objectAt(part.properties))) {
          const contentType = objectAt(objectAt(encoding)[name]).contentType;
          const items = follow(root, property)?.items;
          for (const value of [property, items]) {
            if (isObject(value) && isFile(root, value, contentType)) asFile(root, value);
          }
          if (property === true && isFile(root, {}, contentType)) {
            Object.assign(objectAt(part.properties), { [name]: { type: 'string', [FILE]: true } });
          }
        }
      }
    }
  }
}

function asFile(root: Json, schema: Json): void {
  const source = follow(root, schema) ?? {};
  Object.assign(source, { type: source.type ?? 'string', [FILE]: true });
}

/** Keywords that say nothing of a value's type. */
const ANNOTATIONS = new Set([
  ...['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'example', 'examples', 'externalDocs'],
  ...['$comment', '$anchor', 'xml', 'summary', FILE],
]);

/** `$defs` would become a property of the object that they stand in: they move to the components. */
function moveDefinitions(root: Json, components: Json): void {
  const moved = new Map<string, string>();
  const schemas: Record<string, unknown> = { ...objectAt(components.schemas) };
  eachRootSchema(root, (rootSchema, pointer) =>
    eachSchema(rootSchema, pointer, (schema, at) => {
      for (const [name, definition] of Object.entries(objectAt(schema.$defs))) {
        let free = name;
        for (let n = 2; Object.hasOwn(schemas, free); n++) free = `${name}${n}`;
        schemas[free] = definition;
        moved.set(`#${at}/$defs/${token(name)}`, `#/components/schemas/${token(free)}`);
      }
    }),
  );
  if (moved.size === 0) return;
  const longestFirst = [...moved].sort(([a], [b]) => b.length - a.length);
  const target = (ref: unknown) => {
    const [from, to] = longestFirst.find(([old]) => ref === old || String(ref).startsWith(`${old}/`)) ?? [];
    return from === undefined ? ref : `${to}${String(ref).slice(from.length)}`;
  };
  eachRootSchema(root, (rootSchema, pointer) =>
    eachSchema(rootSchema, pointer, (schema) => {
      if (typeof schema.$ref === 'string') Object.assign(schema, { $ref: target(schema.$ref) });
      const mapping = objectAt(objectAt(schema.discriminator).mapping);
      for (const [value, ref] of Object.entries(mapping)) Object.assign(mapping, { [value]: target(ref) });
    }),
  );
  eachRootSchema(root, (rootSchema, pointer) =>
    eachSchema(rootSchema, pointer, (schema) => void Reflect.deleteProperty(schema, '$defs')),
  );
  Object.assign(components, { schemas });
  Object.assign(root, { components });
}

/** Keywords beside one another all hold, which openapi-typescript reads so of `allOf` only. */
function combine(schema: Json): void {
  const move = (keys: string[], list: unknown[]) => {
    for (const key of keys) Reflect.deleteProperty(schema, key);
    Object.assign(schema, { allOf: [...arrayAt(schema.allOf), ...list] });
  };
  const meaningful = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key) && !key.startsWith('x-'));
  if (typeof schema.$ref === 'string' && meaningful.length > 1) move(['$ref'], [{ $ref: schema.$ref }]);
  const integer = schema.type === 'integer';
  const groups = ['anyOf', 'oneOf'].filter((key) => Array.isArray(schema[key]));
  if (integer && (groups.length > 0 || Array.isArray(schema.allOf))) {
    const keys = ['type', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
    const own = Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)));
    move([...keys, ...groups], [own, ...groups.map((key) => ({ [key]: schema[key] }))]);
  } else if (Array.isArray(schema.anyOf) && meaningful.length > 1 && schema.discriminator === undefined) {
    move(['anyOf'], [{ anyOf: schema.anyOf }]);
  }
}

/** Calls `visit` on each schema that stands in no other one, with its JSON pointer. */
function eachRootSchema(root: Json, visit: (schema: unknown, pointer: string) => void): void {
  const walk = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      const at = `${pointer}/${token(key)}`;
      if (key === 'schema' || pointer === '/components/schemas') visit(item, at);
      else if (key !== 'example' && key !== 'examples' && !key.startsWith('x-')) walk(item, at);
    }
  };
  walk({ paths: root.paths, components: root.components }, '');
}

const values = (value: unknown): unknown[] => Object.values(objectAt(value));

const operationObjects = (root: Json): Json[] =>
  values(root.paths).flatMap((item) => METHODS.map((method) => objectAt(objectAt(item)[method])));

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function securityOf(operations: readonly Operation[]): string {
  const lines = operations.map(({ id, security }) => {
    const open = security.some((alternative) => Object.keys(alternative).length === 0);
    return `    ${propertyName(id)}: "${security.length === 0 ? 'none' : open ? 'optional' : 'required'}";\n`;
  });
  return `/** Whether an operation is reached with credentials only. */\nexport interface security {\n${lines.join('')}}\n`;
}

function defaultsOf(root: Json, operations: readonly Operation[]): string {
  const lines = operations.flatMap(({ id, parameters }) => {
    const filled = parameters.filter(
      ({ required, schema }) => !required && parts(root, schema).some((part) => Object.hasOwn(part, 'default')),
    );
    const places = [...new Set(filled.map((parameter) => parameter.in))].map((place) => {
      const names = filled.filter((parameter) => parameter.in === place).map(({ name }) => JSON.stringify(name));
      return `        ${place}: ${names.join(' | ')};\n`;
    });
    return places.length > 0 ? [`    ${propertyName(id)}: {\n${places.join('')}    };\n`] : [];
  });
  return `/** Optional parameters that are always there, since the document gives them a default. */\nexport interface defaults {\n${lines.join('')}}\n`;
}
