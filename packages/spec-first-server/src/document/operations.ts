import { arrayAt, type Document, follow, isObject, type Json, objectAt, token } from './document.ts';
import { saysMoreThanString, typesOf } from './schema.ts';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** How a media type's bodies are read, checked and written. */
export type BodyKind = 'json' | 'text' | 'form' | 'multipart' | 'stream';

export interface MediaType {
  /** As the document writes it, a range such as `image/*` included. */
  readonly type: string;
  readonly kind: BodyKind;
  /** A Schema Object, `true` and `false` included (JSON Schema 2020-12 §4.3.2); `undefined` where there is none. */
  readonly schema: unknown;
  /** Whether the schema asks for more than text or bytes of any kind. */
  readonly constrained: boolean;
  readonly pointer: string;
  /** The Media Type Object itself, for its examples. */
  readonly source: Json;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly style: string;
  readonly explode: boolean;
  /** Whether the value is JSON (`content`), not text in a `style`. */
  readonly json: boolean;
  /** Whether the document says `allowEmptyValue`. */
  readonly empty: boolean;
  readonly schema: unknown;
  readonly pointer: string;
}

export interface ResponseHeader {
  /** In lower case. */
  readonly name: string;
  readonly required: boolean;
  readonly explode: boolean;
  /** Whether the value is written as JSON (`content`), not as text in the `simple` style. */
  readonly json: boolean;
  readonly schema: unknown;
  readonly pointer: string;
  /** The Header Object itself, for its examples. */
  readonly source: Json;
}

export interface DeclaredResponse {
  /** A status code, a range such as `4XX`, or `default`. */
  readonly key: string;
  readonly media: readonly MediaType[];
  readonly headers: readonly ResponseHeader[];
  readonly pointer: string;
}

/** The names of schemes that must all be satisfied, with the scopes each must grant. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

/** An Operation Object (OpenAPI 3.1 §4.8.10) with what its path item and the document add, every reference followed. */
export interface Operation {
  readonly id: string;
  /** Lower case. */
  readonly method: (typeof METHODS)[number];
  /** The path template, as the document writes it. */
  readonly path: string;
  readonly pointer: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: { readonly required: boolean; readonly media: readonly MediaType[] } | undefined;
  readonly responses: readonly DeclaredResponse[];
  /** Alternatives; empty where no credentials are needed. */
  readonly security: readonly SecurityRequirement[];
}

/** The operations of a document in its order. Takes the document as it is: `prove` says what is wrong with it. */
export function operationsOf(document: Document): Operation[] {
  const { root } = document;
  return Object.entries(objectAt(root.paths)).flatMap(([path, value]) => {
    const item = pathItemOf(root, value);
    const pointer = `/paths/${token(path)}`;
    return METHODS.filter((method) => isObject(item[method])).map((method) => {
      const source = objectAt(item[method]);
      return {
        id: String(source.operationId ?? ''),
        method,
        path,
        pointer: `${pointer}/${method}`,
        parameters: parametersOf(root, [
          [`${pointer}/parameters`, item.parameters],
          [`${pointer}/${method}/parameters`, source.parameters],
        ]),
        requestBody: requestBodyOf(root, source.requestBody, `${pointer}/${method}/requestBody`),
        responses: responsesOf(root, source.responses, `${pointer}/${method}/responses`),
        security: arrayAt(source.security ?? root.security) as SecurityRequirement[],
      };
    });
  });
}

/** A Path Item Object with what it references drawn in (OpenAPI 3.1 §4.8.9): its own members are the nearer ones. */
export const pathItemOf = (root: Json, value: unknown): Json => ({ ...follow(root, value), ...objectAt(value) });

/** The response that the document declares for a status: the code itself, its range, `default` (OpenAPI 3.1 §4.8.16). */
export function declaredFor(operation: Operation, status: number): DeclaredResponse | undefined {
  const find = (key: string) => operation.responses.find((response) => response.key.toUpperCase() === key);
  return find(String(status)) ?? find(`${Math.floor(status / 100)}XX`) ?? find('DEFAULT');
}

/** The security schemes of a document by name, references followed. */
export const securitySchemesOf = (root: Json): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(objectAt(objectAt(root.components).securitySchemes)).flatMap(([name, value]) => {
      const scheme = follow(root, value);
      return scheme === undefined ? [] : [[name, scheme]];
    }),
  );

/**
 * How bodies of a media type are treated. A text whose schema is that of a list or an object, such as `text/csv`, passes
 * as it is: what the values would be that the schema speaks of, only the media type knows.
 */
export function kindOf(type: string, root: Json = {}, schema?: unknown): BodyKind {
  const essence = essenceOf(type);
  if (/^application\/(.+\+)?json$/.test(essence) || essence === 'text/json') return 'json';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  if (essence === 'multipart/form-data') return 'multipart';
  return essence.startsWith('text/') && isScalar(root, schema) ? 'text' : 'stream';
}

function isScalar(root: Json, schema: unknown): boolean {
  const types = typesOf(root, schema);
  return types.size === 0 || ['string', 'number', 'integer', 'boolean'].some((type) => types.has(type));
}

/**
 * The declared media type that a body has: the type itself before a range (OpenAPI 3.1 §4.8.14.1), with its parameters
 * before without.
 *
 * @param contentType the value of a `Content-Type`.
 */
export function mediaTypeFor(media: readonly MediaType[], contentType: string): MediaType | undefined {
  const exact = media.find(({ type }) => type === contentType);
  if (exact !== undefined) return exact;
  const essence = essenceOf(contentType);
  const [group] = essence.split('/');
  const fitting = [essence, `${group}/*`, '*/*'].map((type) =>
    media.filter((candidate) => essenceOf(candidate.type) === type && hasParameters(contentType, candidate.type)),
  );
  return fitting.flatMap((same) => same.sort((a, b) => b.type.length - a.type.length))[0];
}

/** Whether a media type has the parameters that the declared one names, but for a charset. */
function hasParameters(contentType: string, declared: string): boolean {
  const given = parametersOfType(contentType);
  return [...parametersOfType(declared)].every(([name, value]) => name === 'charset' || given.get(name) === value);
}

/** The parameters of a media type by name, names and values in lower case (RFC 9110 §8.3.1). */
export const parametersOfType = (type: string): Map<string, string> =>
  new Map(
    [...type.matchAll(/;\s*([^\s=;]+)\s*=\s*(?:"([^"]*)"|([^\s;]*))/g)].map(([, name = '', quoted, plain = '']) => [
      name.toLowerCase(),
      (quoted ?? plain).toLowerCase(),
    ]),
  );

/**
 * Whether a field of a form is a file: its media type, by `contentMediaType` or the Encoding Object, is neither JSON nor
 * text; with neither it is one if nothing is said of its type (OpenAPI 3.1 §4.8.14.3, §4.8.15.1).
 */
export function isFile(root: Json, schema: unknown, encodingType?: unknown): boolean {
  const source = schema === true ? {} : follow(root, schema);
  if (source === undefined || source.contentEncoding !== undefined) return false;
  if (source.format === 'binary') return true;
  const type = source.contentMediaType ?? encodingType;
  if (typeof type === 'string' && kindOf(type) !== 'stream') return false;
  return source.contentMediaType !== undefined || !Object.keys(source).some((key) => TYPING.has(key));
}

const TYPING = new Set([
  ...['type', 'enum', 'const', 'properties', 'additionalProperties', 'items', 'prefixItems', 'allOf', 'anyOf', 'oneOf'],
  ...['pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'format'],
]);

/** A media type without its parameters, in lower case. */
export const essenceOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

function parametersOf(root: Json, lists: readonly (readonly [string, unknown])[]): Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const [pointer, list] of lists) {
    for (const [index, value] of arrayAt(list).entries()) {
      const source = follow(root, value);
      if (source === undefined) continue;
      const where = source.in as Parameter['in'];
      const style = String(source.style ?? (where === 'query' || where === 'cookie' ? 'form' : 'simple'));
      const [content] = Object.entries(objectAt(source.content));
      parameters.set(`${where} ${where === 'header' ? String(source.name).toLowerCase() : source.name}`, {
        name: String(source.name),
        in: where,
        required: source.required === true,
        style,
        explode: typeof source.explode === 'boolean' ? source.explode : style === 'form',
        json: content !== undefined && kindOf(content[0]) === 'json',
        empty: source.allowEmptyValue === true,
        schema: content === undefined ? source.schema : objectAt(content[1]).schema,
        pointer: `${pointer}/${index}`,
      });
    }
  }
  // "Accept", "Content-Type" and "Authorization" shall be ignored as parameters (OpenAPI 3.1 §4.8.12.1).
  return [...parameters.values()].filter(
    ({ in: where, name }) => where !== 'header' || !/^(accept|content-type|authorization)$/i.test(name),
  );
}

function mediaOf(root: Json, content: unknown, pointer: string): MediaType[] {
  return Object.entries(objectAt(content)).map(([type, value]) => {
    const source = follow(root, value) ?? {};
    const { schema } = source;
    const constrained = saysMoreThanString(root, schema);
    const at = `${pointer}/content/${token(type)}`;
    return { type, kind: kindOf(type, root, schema), schema, constrained, pointer: at, source };
  });
}

function requestBodyOf(root: Json, value: unknown, pointer: string): Operation['requestBody'] {
  const source = follow(root, value);
  return source && { required: source.required === true, media: mediaOf(root, source.content, pointer) };
}

function responsesOf(root: Json, responses: unknown, pointer: string): DeclaredResponse[] {
  return Object.entries(objectAt(responses))
    .filter(([key]) => !key.startsWith('x-'))
    .map(([key, value]) => {
      const source = follow(root, value) ?? {};
      const headers = Object.entries(objectAt(source.headers)).map(([name, header]): ResponseHeader => {
        const declared = follow(root, header) ?? {};
        const [content] = Object.entries(objectAt(declared.content));
        return {
          name: name.toLowerCase(),
          // Each answer has one of the service's own.
          required: declared.required === true && name.toLowerCase() !== 'x-request-id',
          explode: declared.explode === true,
          json: content !== undefined && kindOf(content[0]) === 'json',
          schema: content === undefined ? declared.schema : objectAt(content[1]).schema,
          pointer: `${pointer}/${token(key)}/headers/${token(name)}`,
          source: declared,
        };
      });
      return {
        key,
        media: mediaOf(root, source.content, `${pointer}/${token(key)}`),
        // A header "Content-Type" shall be ignored (OpenAPI 3.1 §4.8.17.1): the media type says it.
        headers: headers.filter(({ name }) => name !== 'content-type'),
        pointer: `${pointer}/${token(key)}`,
      };
    });
}
