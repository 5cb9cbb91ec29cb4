import {
  alternatives,
  asArray,
  asObject,
  escapePointerToken,
  isData,
  isFile,
  isObject,
  type Json,
  kindOf,
  METHODS,
  type Operation,
  resolveRef,
} from 'openapi-document';
import { FILE } from './generator.ts';

/** Stands for `#` in the name of an operation: openapi-typescript would read the rest of the name as a pointer. */
const HASH = '\uE000';

/** Restores the names that {@link simplifyDocument} changed. TypeScript prints the character as an escape sequence. */
export const restoreNames = (types: string): string => types.replaceAll(/\uE000|\\uE000/g, '#');

/** Rewrites what openapi-typescript reads in another way than the server, outside of schemas. */
export function simplifyDocument(root: Json, operations: readonly Operation[]): void {
  const paths = asObject(root.paths);
  for (const [path, item] of Object.entries(paths)) {
    const { $ref, ...siblings } = asObject(item);
    if ($ref !== undefined) Object.assign(paths, { [path]: { ...resolveRef(root, item), ...siblings } });
  }
  for (const { id, method, path } of operations) {
    const item = asObject(paths[path]);
    // A path item that several paths reference has operations of its own for each.
    Object.assign(paths, {
      [path]: { ...item, [method]: { ...asObject(item[method]), operationId: id.replaceAll('#', HASH) } },
    });
  }
  const components = asObject(root.components);
  Reflect.deleteProperty(root, 'webhooks');
  Reflect.deleteProperty(components, 'pathItems');
  dropReferencesInData(root, '');
  drawIn(root);
  simplifyParameters(root, components);
  drawInHeaders(root, components);
  markFiles(root, components);
}

const values = (value: unknown): unknown[] => Object.values(asObject(value));

const operationObjects = (root: Json): Json[] =>
  values(root.paths).flatMap((item) => METHODS.map((method) => asObject(asObject(item)[method])));

/** Removes examples and other data with a member `$ref`, which openapi-typescript would follow. */
function dropReferencesInData(value: unknown, at: string): void {
  for (const [key, item] of Object.entries(value ?? {})) {
    if (typeof item !== 'object' || item === null) continue;
    if (!isData(key, item, at)) dropReferencesInData(item, `${at}/${escapePointerToken(key)}`);
    else if (hasReference(item)) Reflect.deleteProperty(Object(value), key);
  }
}

const hasReference = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('$ref' in value || Object.values(value).some(hasReference));

/** Replaces references to other places than components by their targets. */
function drawIn(root: Json): void {
  const draw = (value: unknown) => {
    const { $ref } = asObject(value);
    return typeof $ref === 'string' && !$ref.startsWith('#/components/') ? resolveRef(root, value) : value;
  };
  for (const operation of [...values(root.paths).map(asObject), ...operationObjects(root)]) {
    const { parameters, requestBody, responses } = operation;
    if (Array.isArray(parameters)) Object.assign(operation, { parameters: parameters.map(draw) });
    if (requestBody !== undefined) Object.assign(operation, { requestBody: draw(requestBody) });
    const drawn = Object.entries(asObject(responses)).map(([key, response]) => [key, draw(response)]);
    Object.assign(asObject(responses), Object.fromEntries(drawn));
  }
}

/** Removes the three headers that are not parameters (OpenAPI 3.1 §4.8.12.1). Moves the schema of a `content` up. */
function simplifyParameters(root: Json, components: Json): void {
  const items = values(root.paths).map(asObject);
  const holders = [...items, ...operationObjects(root)];
  for (const holder of holders) {
    if (!Array.isArray(holder.parameters)) continue;
    const parameters = holder.parameters.filter((parameter) => {
      const { in: where, name } = resolveRef(root, parameter) ?? {};
      return where !== 'header' || !/^(accept|content-type|authorization)$/i.test(String(name));
    });
    Object.assign(holder, { parameters });
  }
  const all = [...holders.flatMap(({ parameters }) => asArray(parameters)), ...values(components.parameters)];
  for (const parameter of all.filter(isObject)) {
    const [content] = Object.entries(asObject(parameter.content));
    if (content === undefined) continue;
    Object.assign(parameter, { schema: asObject(content[1]).schema ?? {} });
  }
}

/** Replaces references to headers by their targets. openapi-typescript types a reference as a required header. */
function drawInHeaders(root: Json, components: Json): void {
  const responses = operationObjects(root).flatMap(({ responses }) => values(responses));
  for (const response of [...responses, ...values(components.responses)]) {
    const headers = asObject(asObject(response).headers);
    for (const [name, header] of Object.entries(headers)) Object.assign(headers, { [name]: resolveRef(root, header) });
  }
}

/** Marks the schemas of files in multipart/form-data (OpenAPI 3.1 §4.8.14.3 and §4.8.15). */
function markFiles(root: Json, components: Json): void {
  const bodies = operationObjects(root).flatMap(({ requestBody, responses }) => [requestBody, ...values(responses)]);
  for (const body of [...bodies, ...values(components.requestBodies), ...values(components.responses)]) {
    for (const [type, source] of Object.entries(asObject(asObject(body).content))) {
      if (kindOf(type) !== 'multipart') continue;
      const { schema, encoding } = asObject(source);
      for (const { properties } of alternatives(root, schema)) {
        for (const name of Object.keys(asObject(properties))) {
          markField(root, asObject(properties), name, asObject(asObject(encoding)[name]).contentType);
        }
      }
    }
  }
}

/** Marks one field of a form, or its items, if it is a file. */
function markField(root: Json, properties: Json, name: string, contentType: unknown): void {
  const property = properties[name];
  for (const schema of [property, resolveRef(root, property)?.items]) {
    if (!isObject(schema) || !isFile(root, schema, contentType)) continue;
    const source = resolveRef(root, schema) ?? {};
    Object.assign(source, { type: source.type ?? 'string', [FILE]: true });
  }
  if (property !== true || !isFile(root, {}, contentType)) return;
  Object.assign(properties, { [name]: { type: 'string', [FILE]: true } });
}
