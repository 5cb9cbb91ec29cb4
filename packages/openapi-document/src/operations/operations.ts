import type { Styled } from '../parameters/write-value.ts';
import type { Outline } from '../schema/outline.ts';
import type { Schemas } from '../schema/schemas.ts';
import {
  asArray,
  asStrings,
  capitalized,
  entriesOf,
  escapePointerToken,
  type Finding,
  freeName,
  type Json,
  resolveRef,
} from '../source/document.ts';
import { isJsonType } from '../source/media-types.ts';
import { type OperationObject, operationObjects, pathItemsIn } from '../source/path-items.ts';
import { type PathTemplate, pathTemplate } from '../source/path-template.ts';
import { type Example, examplesOf, type MediaType, mediaOf } from './media.ts';
import { basePathsOf, type ServerPath } from './servers.ts';

/** Lists the operations of path items. The document may be invalid. */
export function operationsOf(
  schemas: Schemas,
  items = pathItemsIn(schemas.root, 'paths'),
): Operation[] {
  const objects = operationObjects(items);
  const ids = idsOf(objects);
  return objects.map((object, index) => operationOf(schemas, object, ids[index] ?? ''));
}

/**
 * An operation: its Operation Object (`source`, OpenAPI 3.1 §4.8.10), and the parameters and the
 * security that it inherits from its path item and from the document.
 */
export interface Operation {
  readonly id: string;
  /** In lower case. */
  readonly method: string;
  /** The path template, as written in the document. */
  readonly path: string;
  readonly template: PathTemplate;
  /** The paths of the servers of the operation, its path item or the document. */
  readonly basePaths: readonly [string, ...string[]];
  /** Set if the first base path is not that of the document. */
  readonly serverPath: ServerPath | undefined;
  readonly pointer: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: RequestBody | undefined;
  readonly responses: readonly DeclaredResponse[];
  /**
   * Security Requirement Objects: the scopes, by the name of the security scheme. A request must
   * satisfy one of the objects. If the list or one object is empty, no credentials are needed.
   */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly source: Json;
}

/** A Request Body Object (OpenAPI 3.1 §4.8.13). */
export interface RequestBody {
  readonly required: boolean;
  readonly media: readonly MediaType[];
  readonly source: Json;
}

/** A Parameter Object, or a Header Object with its name. The schema may be in `content`. */
export interface Parameter extends Styled {
  readonly allowReserved: boolean;
  readonly schema: unknown;
  readonly outline: Outline;
  readonly media: MediaType | undefined;
  readonly required: boolean;
  readonly pointer: string;
  readonly source: Json;
  /** Includes the examples of the media type (OpenAPI 3.1 §4.8.12.2.3). */
  readonly examples: readonly Example[];
}

/** A Response Object (OpenAPI 3.1 §4.8.17). */
export interface DeclaredResponse {
  /** A status code, a range such as `4XX`, or `default`. */
  readonly key: string;
  readonly media: readonly MediaType[];
  /** Header Objects with names in lower case and the style `simple`. */
  readonly headers: readonly Parameter[];
  readonly pointer: string;
  readonly source: Json;
}

function operationOf(schemas: Schemas, object: OperationObject, id: string): Operation {
  const { root } = schemas;
  const { method, path, source, pointer, item } = object;
  const ownServers = [source.servers, item.servers].find((list) => asArray(list).length > 0);
  const basePaths = basePathsOf(ownServers ?? root.servers);
  const [documentPath] = basePathsOf(root.servers);
  const template = pathTemplate(path);
  const body = resolveRef(root, source.requestBody);
  return {
    id,
    method: method.toLowerCase(),
    path,
    template,
    basePaths,
    serverPath:
      basePaths[0] === documentPath
        ? undefined
        : { document: documentPath, operation: basePaths[0] },
    pointer,
    parameters: parametersOf(schemas, object, template.names),
    requestBody: body && {
      required: body.required === true,
      media: mediaOf(schemas, body.content, `${pointer}/requestBody`),
      source: body,
    },
    responses: responsesOf(schemas, source.responses, `${pointer}/responses`),
    security: asArray(source.security ?? root.security).map((requirement) =>
      Object.fromEntries(entriesOf(requirement).map(([name, scopes]) => [name, asStrings(scopes)])),
    ),
    source,
  };
}

/**
 * Leaves out operations whose URLs are those of earlier ones, such as `/a/{y}` after `/a/{x}`.
 * Returns a finding for each of them.
 */
export function reachable(declared: readonly Operation[]) {
  const byUrl = new Map<string, Operation>();
  const operations: Operation[] = [];
  const unreachable: Finding[] = [];
  for (const operation of declared) {
    const { method, path, basePaths, pointer } = operation;
    const urls = basePaths.map((basePath) => `${method} ${pathTemplate(basePath + path).shape}`);
    const free = urls.filter((url) => !byUrl.has(url));
    for (const url of free) byUrl.set(url, operation);
    if (free.length > 0) operations.push(operation);
    else {
      const first = byUrl.get(urls[0] ?? '');
      const reason = `${first?.method} ${first?.path} has the same URL`;
      unreachable.push({ pointer, message: `${method} ${path} is not served: ${reason}` });
    }
  }
  return { operations, unreachable };
}

/**
 * Returns a distinct id for each operation: its `operationId`, or its method and path as one name,
 * such as `getBooksById` for `GET /books/{id}`. Adds a number if the name is taken.
 */
function idsOf(operations: readonly OperationObject[]): string[] {
  const declared = new Set(operations.map(({ source }) => String(source.operationId)));
  const taken = new Set<string>();
  return operations.map(({ method, path, source: { operationId } }) => {
    const isTaken = (id: string) =>
      taken.has(id) || (id !== String(operationId) && declared.has(id));
    const id = freeName(String(operationId ?? defaultId(method, path)), isTaken);
    taken.add(id);
    return id;
  });
}

const defaultId = (method: string, path: string): string =>
  method +
  path
    .replaceAll('{', ' by ')
    .split(/[^\p{L}\p{N}]+/u)
    .map(capitalized)
    .join('');

/** Lists webhooks and callbacks as operations. */
export function webhooksOf(schemas: Schemas, operations: readonly Operation[]): Operation[] {
  const { root } = schemas;
  const callbacks = operations.flatMap(({ id, source, pointer }) =>
    entriesOf(source.callbacks).flatMap(([name, callback]) => {
      const pathItems = Object.entries(resolveRef(root, callback) ?? {}).slice(0, 1);
      const callbackPointer = `${pointer}/callbacks/${escapePointerToken(name)}`;
      return pathItems.map(([url, item]) => ({
        path: `${id}.${name}`,
        item,
        pointer: `${callbackPointer}/${escapePointerToken(url)}`,
      }));
    }),
  );
  return operationsOf(schemas, [...pathItemsIn(root, 'webhooks'), ...callbacks]);
}

/** Lists the media types of the bodies of an operation. */
export const mediaTypesOf = ({ requestBody, responses }: Operation): readonly MediaType[] => [
  ...(requestBody?.media ?? []),
  ...responses.flatMap(({ media }) => media),
];

/**
 * Matches the keys of header parameters that OpenAPI ignores (OpenAPI 3.1 §4.8.12.2.1), and of
 * Accept-Encoding: documents declare it as one coding, but clients send a list.
 */
const IGNORED_HEADERS = /^header (accept|accept-encoding|content-type|authorization)$/;

/**
 * Parameters of the operation take precedence over those of its path item. Objects cannot safely
 * have a member `__proto__`, so a parameter with this name is ignored.
 */
function parametersOf(
  schemas: Schemas,
  { item, itemPointer, source: operation, pointer }: OperationObject,
  names: readonly string[],
) {
  const lists = { [itemPointer]: item.parameters, [pointer]: operation.parameters };
  const declared = Object.entries(lists).flatMap(([parentPointer, list]) =>
    asArray(list).flatMap((value, index) => {
      const source = resolveRef(schemas.root, value);
      if (source === undefined) return [];
      const where = source.in === 'querystring' ? 'query' : (source.in as Styled['in']);
      const parameterPointer = `${parentPointer}/parameters/${index}`;
      return parameterOf(schemas, source, where, String(source.name), parameterPointer);
    }),
  );
  const keyOf = ({ in: where, name }: Parameter) =>
    `${where} ${where === 'header' ? name.toLowerCase() : name}`;
  const byKey = new Map(
    declared.map((parameter): [string, Parameter] => [keyOf(parameter), parameter]),
  );
  return [...byKey]
    .filter(([key, { in: where, name }]) =>
      where === 'path' ? names.includes(name) : !IGNORED_HEADERS.test(key),
    )
    .filter(([, { name }]) => name !== '__proto__')
    .map(([, parameter]) => parameter);
}

function parameterOf(
  schemas: Schemas,
  source: Json,
  where: Styled['in'],
  name: string,
  pointer: string,
): Parameter {
  const defaultStyle = where === 'query' || where === 'cookie' ? 'form' : 'simple';
  const style = source.in === 'querystring' ? 'querystring' : String(source.style ?? defaultStyle);
  const [media] = mediaOf(schemas, source.content, pointer);
  const schema = media === undefined ? schemaOf(schemas, source) : media.schema;
  const outline = schemas.outline(schema);
  const styled = {
    in: where,
    name,
    style,
    explode: typeof source.explode === 'boolean' ? source.explode : style === 'form',
    allowReserved: source.allowReserved === true,
    json: media !== undefined && isJsonType(media.type),
    schema,
    outline,
    form: outline.ambiguousForm,
    media,
  };
  return {
    ...styled,
    required: source.required === true,
    pointer,
    source,
    examples: [...examplesOf(schemas.root, { source, pointer }), ...(media?.examples ?? [])],
  };
}

/** With `allowEmptyValue`, the schema of a scalar in the query also allows an empty string. */
function schemaOf(schemas: Schemas, { in: where, schema, allowEmptyValue }: Json): unknown {
  const isScalar = schemas.outline(schema).form === 'text';
  if (where !== 'query' || allowEmptyValue !== true || !isScalar) return schema;
  const preset = schemas.at(schema, 'request').default;
  return { anyOf: [schema, { const: '' }], ...(preset && { default: preset.value }) };
}

const responsesOf = (schemas: Schemas, responses: unknown, pointer: string): DeclaredResponse[] =>
  entriesOf(responses)
    .filter(([key]) => !key.startsWith('x-'))
    .map(([key, value]) =>
      responseOf(
        schemas,
        key,
        resolveRef(schemas.root, value) ?? {},
        `${pointer}/${escapePointerToken(key)}`,
      ),
    );

function responseOf(
  schemas: Schemas,
  key: string,
  source: Json,
  pointer: string,
): DeclaredResponse {
  const headers = entriesOf(source.headers).map(([name, header]) => {
    const declared = { ...resolveRef(schemas.root, header), style: 'simple' };
    const headerPointer = `${pointer}/headers/${escapePointerToken(name)}`;
    const parameter = parameterOf(schemas, declared, 'header', name.toLowerCase(), headerPointer);
    // A handler may send a list if the schema also allows a text: many clients read only texts.
    return { ...parameter, form: undefined };
  });
  return {
    key,
    media: mediaOf(schemas, source.content, pointer),
    // A response header of this name is ignored (OpenAPI 3.1 §4.8.17.1).
    headers: headers.filter(({ name }) => name !== 'content-type'),
    pointer,
    source,
  };
}
