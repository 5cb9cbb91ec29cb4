import { readParameter } from '../parameters/read-value.ts';
import { type Styled, writeParameter } from '../parameters/write-parameter.ts';
import { asArray, asObject, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { examplesOf, mediaOf } from './media.ts';
import { pathTemplate } from './path-template.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;

/** The Operation Objects of path items by path, in their order, and the parameters of their path items. */
export const operationObjects = (root: Json, paths: unknown) =>
  Object.entries(asObject(paths)).flatMap(([path, value]) => {
    // Its own members take precedence over those that it references (OpenAPI 3.1 §4.8.9).
    const item: Json = { ...resolveRef(root, value), ...asObject(value) };
    const at = `/paths/${escapePointerToken(path)}`;
    // Methods of other names (OpenAPI 3.2 §4.9.1), as HTTP has them: upper case.
    const more = Object.entries(asObject(item.additionalOperations));
    const all = [
      ...METHODS.map((method) => [method, item[method], method] as const),
      ...more.map(([name, source]) => [name, source, `additionalOperations/${escapePointerToken(name)}`] as const),
    ];
    return all.flatMap(([method, source, key]) =>
      isObject(source) ? [{ method, path, source, pointer: `${at}/${key}`, shared: item.parameters, at }] : [],
    );
  });

type OperationObject = ReturnType<typeof operationObjects>[number];

/** The operations of path items by path, in their order. The document need not be checked before. */
export function operationsOf(root: Json, paths: unknown): Operation[] {
  const found = operationObjects(root, paths);
  const ids = idsOf(found);
  return found.map((object, index) => operationOf(root, object, ids[index] ?? ''));
}

/** An Operation Object (OpenAPI 3.1 §4.8.10), its `source`, with the members of its path item and the document. */
export interface Operation extends ReturnType<typeof operationOf> {}

function operationOf(root: Json, object: OperationObject, id: string) {
  const { method, path, source, pointer } = object;
  const template = pathTemplate(path);
  const body = resolveRef(root, source.requestBody);
  return {
    id,
    /** Lower case. */
    method: method.toLowerCase(),
    /** The path template, as the document writes it. */
    path,
    template,
    pointer,
    parameters: parametersOf(root, object, template.names),
    requestBody: body && {
      required: body.required === true,
      media: mediaOf(root, body.content, `${pointer}/requestBody`),
      source: body,
    },
    responses: responsesOf(root, source.responses, `${pointer}/responses`),
    /**
     * Alternatives: names of security schemes, all of which must be satisfied, with the scopes that each must grant. Empty
     * if no credentials are needed.
     */
    security: asArray(source.security ?? root.security) as Readonly<Record<string, readonly string[]>>[],
    source,
  };
}

/**
 * The operationId of each operation. One without it is named by method and path: `GET /books/{id}` is `getBooksById`. A
 * number is added where the name is taken, also for an operation that another path has already.
 */
function idsOf(operations: readonly OperationObject[]): string[] {
  const owners = new Map<string, string>();
  for (const { source, pointer } of operations) {
    const id = String(source.operationId ?? '');
    if (id !== '' && !owners.has(id)) owners.set(id, pointer);
  }
  return operations.map(({ method, path, source, pointer }) => {
    const name = String(source.operationId ?? nameOf(method, path));
    let free = name;
    for (let count = 2; (owners.get(free) ?? pointer) !== pointer; count++) free = `${name}${count}`;
    owners.set(free, pointer);
    return free;
  });
}

const nameOf = (method: string, path: string): string =>
  method +
  path
    .replaceAll('{', ' by ')
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export function webhooksOf(root: Json, operations: readonly Operation[]): Operation[] {
  const callbacks = operations.flatMap(({ id, source }) =>
    Object.entries(asObject(source.callbacks)).flatMap(([name, callback]) => {
      const [item] = Object.values(resolveRef(root, callback) ?? {});
      return item === undefined ? [] : [[`${id}.${name}`, item] as const];
    }),
  );
  return operationsOf(root, { ...asObject(root.webhooks), ...Object.fromEntries(callbacks) });
}

/** The declared response for a status: the code itself, else its range, else `default` (OpenAPI 3.1 §4.8.16). */
export function declaredFor({ responses }: Pick<Operation, 'responses'>, status: number): DeclaredResponse | undefined {
  const find = (key: string) => responses.find((response) => response.key.toUpperCase() === key);
  return find(String(status)) ?? find(`${Math.floor(status / 100)}XX`) ?? find('DEFAULT');
}

/** The parameters of a path item and of its operation, which take precedence. */
function parametersOf(root: Json, { at, shared, pointer, source: own }: OperationObject, names: readonly string[]) {
  const all = Object.entries({ [at]: shared, [pointer]: own.parameters }).flatMap(([place, list]) =>
    asArray(list).flatMap((value, index) => {
      const source = resolveRef(root, value);
      if (source === undefined) return [];
      const where = source.in === 'querystring' ? 'query' : (source.in as Styled['in']);
      return parameterOf(root, source, where, String(source.name), `${place}/parameters/${index}`);
    }),
  );
  const keyOf = ({ in: where, name }: Parameter) => `${where} ${where === 'header' ? name.toLowerCase() : name}`;
  // Header parameters of these names are ignored (OpenAPI 3.1 §4.8.12.1).
  const isIgnored = /^header (accept|content-type|authorization)$/;
  const byKey = new Map(all.map((parameter): [string, Parameter] => [keyOf(parameter), parameter]));
  return [...byKey]
    .filter(([key, { in: where, name }]) => (where === 'path' ? names.includes(name) : !isIgnored.test(key)))
    .map(([, parameter]) => parameter);
}

export interface Parameter extends ReturnType<typeof parameterOf> {}

/** A Parameter Object or a Header Object, which is its `source`. Its value has a `schema`, or a `content` with one media type. */
function parameterOf(root: Json, source: Json, where: Styled['in'], name: string, pointer: string) {
  const preset = where === 'query' || where === 'cookie' ? 'form' : 'simple';
  const style = source.in === 'querystring' ? 'querystring' : String(source.style ?? preset);
  const [media] = mediaOf(root, source.content, pointer);
  const styled = {
    in: where,
    name,
    style,
    explode: typeof source.explode === 'boolean' ? source.explode : style === 'form' || style === 'cookie',
    allowReserved: source.allowReserved === true,
    json: media?.kind === 'json',
    schema: media === undefined ? source.schema : media.schema,
    media,
  };
  return {
    ...styled,
    required: source.required === true,
    pointer,
    source,
    /** What the document shows, also for the media type (OpenAPI 3.1 §4.8.12.2.1). */
    examples: () => [...examplesOf(root, { source, pointer }), ...(media?.examples() ?? [])],
    /** The value of a text that `write` made. @throws {URIError | ParameterError} */
    read: (text: string) => readParameter(root, styled, text),
    /** Writes a value by `style` and `explode`: for a query or a cookie with its name, otherwise the text alone. */
    write: (value: unknown) => writeParameter(styled, value),
  };
}

const responsesOf = (root: Json, responses: unknown, at: string): DeclaredResponse[] =>
  Object.entries(asObject(responses))
    .filter(([key]) => !key.startsWith('x-'))
    .map(([key, value]) => responseOf(root, key, resolveRef(root, value) ?? {}, `${at}/${escapePointerToken(key)}`));

export interface DeclaredResponse extends ReturnType<typeof responseOf> {}

function responseOf(root: Json, key: string, source: Json, pointer: string) {
  const headers = Object.entries(asObject(source.headers)).map(([name, header]) => {
    const declared = { ...resolveRef(root, header), style: 'simple' };
    const place = `${pointer}/headers/${escapePointerToken(name)}`;
    return parameterOf(root, declared, 'header', name.toLowerCase(), place);
  });
  return {
    /** A status code, a range such as `4XX`, or `default`. */
    key,
    media: mediaOf(root, source.content, pointer),
    /** Their names are in lower case, their style is `simple`. */
    headers: headers
      // A response header of this name is ignored (OpenAPI 3.1 §4.8.17.1).
      .filter(({ name }) => name !== 'content-type')
      // The server itself sets this header on each response.
      .map((header) => (header.name === 'x-request-id' ? { ...header, required: false } : header)),
    pointer,
    source,
  };
}
