import { readParameter } from '../parameters/parameter-reader.ts';
import { writeParameter } from '../parameters/write-parameter.ts';
import { asArray, asObject, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { examplesOf, mediaOf } from './media.ts';
import { pathTemplate } from './path-template.ts';
import type { DeclaredResponse, Operation, Parameter, RequestBody, SecurityRequirement } from './types.ts';

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

/** The operations of path items by path, in their order. The document need not be checked before. */
export function operationsOf(root: Json, paths: unknown): Operation[] {
  const found = operationObjects(root, paths);
  const ids = idsOf(found);
  return found.map(({ method, path, source, pointer, shared, at }, index) => {
    const template = pathTemplate(path);
    return {
      id: ids[index] ?? '',
      method: method.toLowerCase(),
      path,
      template,
      pointer,
      parameters: parametersOf(root, template.names, [
        [`${at}/parameters`, shared],
        [`${pointer}/parameters`, source.parameters],
      ]),
      requestBody: requestBodyOf(root, source.requestBody, `${pointer}/requestBody`),
      responses: responsesOf(root, source.responses, `${pointer}/responses`),
      security: asArray(source.security ?? root.security) as SecurityRequirement[],
      source,
    };
  });
}

/**
 * The operationId of each operation. One without it is named by method and path: `GET /books/{id}` is `getBooksById`. A
 * number is added where the name is taken, also for an operation that another path has already.
 */
function idsOf(operations: ReturnType<typeof operationObjects>): string[] {
  const taken = new Set<unknown>();
  const declared = operations.map(({ source: { operationId } }) => {
    const isFirst = operationId !== undefined && !taken.has(operationId);
    if (isFirst) taken.add(operationId);
    return isFirst ? String(operationId) : undefined;
  });
  return operations.map(({ method, path, source: { operationId } }, index) => {
    const name = String(operationId ?? nameOf(method, path));
    let free = declared[index] ?? name;
    for (let count = 2; declared[index] === undefined && taken.has(free); count++) free = `${name}${count}`;
    taken.add(free);
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

/** The `webhooks` of a document. */
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

function parametersOf(
  root: Json,
  names: readonly string[],
  lists: readonly (readonly [string, unknown])[],
): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const [pointer, list] of lists) {
    for (const [index, value] of asArray(list).entries()) {
      const source = resolveRef(root, value);
      if (source === undefined) continue;
      const name = String(source.name);
      const where = source.in === 'querystring' ? 'query' : (source.in as Parameter['in']);
      const key = `${where} ${where === 'header' ? name.toLowerCase() : name}`;
      parameters.set(key, parameterOf(root, source, where, name, `${pointer}/${index}`));
    }
  }
  // Header parameters of these names are ignored (OpenAPI 3.1 §4.8.12.1).
  return [...parameters.values()].filter(({ in: where, name }) =>
    where === 'path'
      ? names.includes(name)
      : where !== 'header' || !/^(accept|content-type|authorization)$/i.test(name),
  );
}

/** A Parameter Object or a Header Object. Its value has a `schema`, or a `content` with one media type. */
function parameterOf(root: Json, source: Json, where: Parameter['in'], name: string, pointer: string): Parameter {
  const preset = where === 'query' || where === 'cookie' ? 'form' : 'simple';
  const style = source.in === 'querystring' ? 'querystring' : String(source.style ?? preset);
  const [media] = mediaOf(root, source.content, pointer);
  const parameter: Parameter = {
    in: where,
    name,
    required: source.required === true,
    style,
    explode: typeof source.explode === 'boolean' ? source.explode : style === 'form' || style === 'cookie',
    allowReserved: source.allowReserved === true,
    json: media?.kind === 'json',
    schema: media === undefined ? source.schema : media.schema,
    media,
    pointer,
    source,
    // An example of the parameter, or of its media type (OpenAPI 3.1 §4.8.12.2.1).
    examples: () => [...examplesOf(root, { source, pointer }), ...(media?.examples() ?? [])],
    read: (text) => readParameter(root, parameter, text),
    write: (value) => writeParameter(parameter, value),
  };
  return parameter;
}

function requestBodyOf(root: Json, value: unknown, pointer: string): RequestBody | undefined {
  const source = resolveRef(root, value);
  return source && { required: source.required === true, media: mediaOf(root, source.content, pointer), source };
}

function responsesOf(root: Json, responses: unknown, at: string): DeclaredResponse[] {
  const entries = Object.entries(asObject(responses)).filter(([key]) => !key.startsWith('x-'));
  return entries.map(([key, value]) => {
    const source = resolveRef(root, value) ?? {};
    const pointer = `${at}/${escapePointerToken(key)}`;
    const headers = Object.entries(asObject(source.headers)).map(([name, header]) => {
      const declared = { ...resolveRef(root, header), style: 'simple' };
      const place = `${pointer}/headers/${escapePointerToken(name)}`;
      return parameterOf(root, declared, 'header', name.toLowerCase(), place);
    });
    return {
      key,
      media: mediaOf(root, source.content, pointer),
      headers: headers
        // A response header of this name is ignored (OpenAPI 3.1 §4.8.17.1).
        .filter(({ name }) => name !== 'content-type')
        // The server itself sets this header on each response.
        .map((header) => (header.name === 'x-request-id' ? { ...header, required: false } : header)),
      pointer,
      source,
    };
  });
}
