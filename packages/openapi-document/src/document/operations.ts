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

/** The operations of a document, in its order. The document need not be checked before. */
export function operationsOf({ root }: Pick<Document, 'root'>): Operation[] {
  const found = Object.entries(asObject(root.paths)).flatMap(([path, value]) => {
    const item = pathItemOf(root, value);
    // Methods of other names (OpenAPI 3.2 §4.9.1), as HTTP has them: upper case.
    const more = asObject(item.additionalOperations);
    return [...METHODS.map((method) => [method, item[method]] as const), ...Object.entries(more)]
      .filter(([, source]) => isObject(source))
      .map(([method, source]) => ({ method, path, source: asObject(source), shared: item.parameters }));
  });
  const ids = operationIds(found);
  return found.map(({ method, path, source, shared }, index) => {
    const isFixed = METHODS.some((name) => name === method);
    const key = isFixed ? method : `additionalOperations/${escapePointerToken(method)}`;
    const pointer = `/paths/${escapePointerToken(path)}/${key}`;
    return {
      id: ids[index] ?? '',
      method: method.toLowerCase(),
      path,
      template: pathTemplate(path),
      pointer,
      parameters: parametersOf(root, path, [
        [`/paths/${escapePointerToken(path)}/parameters`, shared],
        [`${pointer}/parameters`, source.parameters],
      ]),
      requestBody: requestBodyOf(root, source.requestBody, `${pointer}/requestBody`),
      responses: responsesOf(root, source.responses, `${pointer}/responses`),
      security: asArray(source.security ?? root.security) as SecurityRequirement[],
    };
  });
}

/** A Path Item Object with the members that it references (OpenAPI 3.1 §4.8.9). Its own take precedence. */
export const pathItemOf = (root: Json, value: unknown): Json => ({ ...resolveRef(root, value), ...asObject(value) });

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

function parametersOf(root: Json, path: string, lists: readonly (readonly [string, unknown])[]): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const [pointer, list] of lists) {
    for (const [index, value] of asArray(list).entries()) {
      const source = resolveRef(root, value);
      if (source === undefined) continue;
      const where = source.in === 'querystring' ? 'query' : (source.in as Parameter['in']);
      const preset = where === 'query' || where === 'cookie' ? 'form' : 'simple';
      const style = source.in === 'querystring' ? 'querystring' : String(source.style ?? preset);
      parameters.set(`${where} ${where === 'header' ? String(source.name).toLowerCase() : source.name}`, {
        name: String(source.name),
        in: where,
        required: source.required === true,
        style,
        explode: typeof source.explode === 'boolean' ? source.explode : style === 'form' || style === 'cookie',
        allowReserved: source.allowReserved === true,
        ...serialization(root, source, `${pointer}/${index}`),
        pointer: `${pointer}/${index}`,
        source,
      });
    }
  }
  const { names } = pathTemplate(path);
  for (const name of names) if (!parameters.has(`path ${name}`)) parameters.set(`path ${name}`, textInPath(name));
  // Header parameters of these names are ignored (OpenAPI 3.1 §4.8.12.1).
  return [...parameters.values()].filter(({ in: where, name }) =>
    where === 'path'
      ? names.includes(name)
      : where !== 'header' || !/^(accept|content-type|authorization)$/i.test(name),
  );
}

/** The parameter that a path template has and the document does not declare. */
const textInPath = (name: string): Parameter => ({
  in: 'path',
  name,
  required: true,
  style: 'simple',
  explode: false,
  allowReserved: false,
  json: false,
  schema: { type: 'string' },
  media: undefined,
  pointer: '',
  source: {},
});

/** A value has a `schema`, or a `content` with one media type (OpenAPI 3.1 §4.8.12.2). */
function serialization(root: Json, { content, schema }: Json, pointer: string) {
  const [media] = mediaOf(root, content, pointer);
  return { json: media?.kind === 'json', schema: media === undefined ? schema : media.schema, media };
}

function requestBodyOf(root: Json, value: unknown, pointer: string): Operation['requestBody'] {
  const source = resolveRef(root, value);
  return source && { required: source.required === true, media: mediaOf(root, source.content, pointer) };
}

function responsesOf(root: Json, responses: unknown, pointer: string): DeclaredResponse[] {
  return Object.entries(asObject(responses))
    .filter(([key]) => !key.startsWith('x-'))
    .map(([key, value]) => {
      const source = resolveRef(root, value) ?? {};
      const headers = Object.entries(asObject(source.headers)).map(([name, header]): Parameter => {
        const declared = resolveRef(root, header) ?? {};
        return {
          in: 'header',
          name: name.toLowerCase(),
          style: 'simple',
          allowReserved: false,
          // The server itself sets this header on each response.
          required: declared.required === true && name.toLowerCase() !== 'x-request-id',
          explode: declared.explode === true,
          ...serialization(root, declared, `${pointer}/${escapePointerToken(key)}/headers/${escapePointerToken(name)}`),
          pointer: `${pointer}/${escapePointerToken(key)}/headers/${escapePointerToken(name)}`,
          source: declared,
        };
      });
      return {
        key,
        media: mediaOf(root, source.content, `${pointer}/${escapePointerToken(key)}`),
        // A response header of this name is ignored (OpenAPI 3.1 §4.8.17.1).
        headers: headers.filter(({ name }) => name !== 'content-type'),
        pointer: `${pointer}/${escapePointerToken(key)}`,
      };
    });
}
