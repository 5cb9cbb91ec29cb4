import { asArray, asObject, type Document, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { type MediaType, mediaOf } from './media-types.ts';
import { operationIds } from './operation-ids.ts';
import { type PathTemplate, pathTemplate } from './path-template.ts';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;

/** A parameter, or a header of a response. */
export interface Parameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly required: boolean;
  /** In the style `querystring`, which the document declares by `in`, the value is the whole query (OpenAPI 3.2). */
  readonly style: string;
  readonly explode: boolean;
  /** Whether characters such as `/` are written as they are in a query. */
  readonly allowReserved: boolean;
  /** Whether the value is JSON (`content`), not text in a `style`. */
  readonly json: boolean;
  readonly schema: unknown;
  /** The media type of the value, if it has one. */
  readonly media: MediaType | undefined;
  readonly pointer: string;
  /** The Parameter Object or Header Object itself, for its examples. */
  readonly source: Json;
}

export interface DeclaredResponse {
  /** A status code, a range such as `4XX`, or `default`. */
  readonly key: string;
  readonly media: readonly MediaType[];
  /** Their names are in lower case, their style is `simple`. */
  readonly headers: readonly Parameter[];
  readonly pointer: string;
}

/** Names of security schemes, with the scopes that each must grant. All must be satisfied. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** An Operation Object (OpenAPI 3.1 §4.8.10) with the members of its path item and the document, references followed. */
export interface Operation {
  readonly id: string;
  /** Lower case. */
  readonly method: string;
  /** The path template, as the document writes it. */
  readonly path: string;
  readonly template: PathTemplate;
  readonly pointer: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: { readonly required: boolean; readonly media: readonly MediaType[] } | undefined;
  readonly responses: readonly DeclaredResponse[];
  /** Alternatives. Empty if no credentials are needed. */
  readonly security: readonly SecurityRequirement[];
}

/** The Operation Objects of a document, in its order, and the parameters of their path items. */
export const operationObjects = (root: Json) =>
  Object.entries(asObject(root.paths)).flatMap(([path, value]) => {
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

/** The operations of a document, in its order. The document need not be checked before. */
export function operationsOf({ root }: Pick<Document, 'root'>): Operation[] {
  const found = operationObjects(root);
  const ids = operationIds(found);
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
    };
  });
}

/** The declared response for a status: the code itself, else its range, else `default` (OpenAPI 3.1 §4.8.16). */
export function declaredFor(operation: Operation, status: number): DeclaredResponse | undefined {
  const find = (key: string) => operation.responses.find((response) => response.key.toUpperCase() === key);
  return find(String(status)) ?? find(`${Math.floor(status / 100)}XX`) ?? find('DEFAULT');
}

/** The security schemes of a document by name, references followed. */
export const securitySchemesOf = (root: Json): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(asObject(asObject(root.components).securitySchemes)).flatMap(([name, value]) => {
      const scheme = resolveRef(root, value);
      return scheme === undefined ? [] : [[name, scheme]];
    }),
  );

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
  return {
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
  };
}

function requestBodyOf(root: Json, value: unknown, pointer: string): Operation['requestBody'] {
  const source = resolveRef(root, value);
  return source && { required: source.required === true, media: mediaOf(root, source.content, pointer) };
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
    };
  });
}
