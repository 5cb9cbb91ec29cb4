import { asObject, type DeclaredResponse, Inexact, type Json, type MediaType, type Operation } from 'openapi-document';
import { EovValidator } from './eov.ts';
import { type Direction, SchemaRewriter, withoutDefault } from './rewrite.ts';

const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** The values of an operation's parameters, by place and name. */
export type Parameters = { readonly [Location in (typeof LOCATIONS)[number]]: Record<string, unknown> };

/** Where EOV finds a schema: a media type's, that of a response's headers, or that of an operation without a body. */
type Indices = Map<MediaType | DeclaredResponse | Operation, number>;

/** Which validator is used for a value. */
type EovFor = (value: unknown) => EovValidator;

/** The time to collect violations grows with their square. A value with so many members is validated up to the first. */
const MANY = 2000;

/** Counts the members of a value and of all values inside, up to about a limit. */
function membersOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    // A loop over an array with `for … in` takes several times as long.
    for (let at = 0; at < value.length && count < limit; at += 1) count += 1 + membersOf(value[at], limit - count);
    return count;
  }
  for (const key in value) {
    count += 1 + membersOf((value as Json)[key], limit - count);
    if (count >= limit) break;
  }
  return count;
}

/**
 * Makes the validators for the operations of one path item.
 *
 * @param root the whole document.
 */
export function validatePath(root: Json, operations: readonly Operation[]): Map<Operation, OperationValidator> {
  const rewriter = new SchemaRewriter(root);
  const indices: Indices = new Map();
  const requests: Json[] = [];
  const responses: Json[] = [];
  const add = (schemas: Json[], key: MediaType | DeclaredResponse | Operation, properties: Json): void => {
    indices.set(key, schemas.length);
    schemas.push({ type: 'object', properties });
  };
  for (const operation of operations) {
    const located = locatedParameters(rewriter, operation);
    add(requests, operation, located);
    for (const media of operation.requestBody?.media ?? []) {
      const body = media.kind !== 'stream' && { body: rewriter.rewrite(media.schema, 'request') };
      add(requests, media, { ...located, ...body });
    }
    for (const response of operation.responses) {
      add(responses, response, { headers: objectSchema(rewriter, response.headers, 'response') });
      for (const media of response.media) {
        if (media.schema !== undefined) add(responses, media, { body: rewriter.rewrite(media.schema, 'response') });
      }
    }
  }
  const synthetic = { requests, responses, schemas: rewriter.components };
  const thorough = new EovValidator(synthetic, true);
  let quick: EovValidator | undefined;
  const eov: EovFor = (value) => {
    if (membersOf(value, MANY) < MANY) return thorough;
    quick ??= new EovValidator(synthetic, false);
    return quick;
  };
  return new Map(operations.map((operation) => [operation, new OperationValidator(operation, eov, indices)]));
}

/** Validates the requests and replies of one operation. */
export class OperationValidator {
  readonly #operation: Operation;
  readonly #eov: EovFor;
  readonly #indices: Indices;

  constructor(operation: Operation, eov: EovFor, indices: Indices) {
    this.#operation = operation;
    this.#eov = eov;
    this.#indices = indices;
  }

  /** Returns the values with defaults filled in. @throws {Violations} */
  request(
    { path, query, header, cookie }: Parameters,
    media: MediaType | undefined,
    body: unknown,
  ): { readonly parameters: Parameters; readonly body: unknown } {
    const validated = media === undefined || media.kind === 'stream' ? undefined : body;
    const isForm = media?.kind === 'multipart';
    const value = { path, query, header, cookie, body: isForm ? textsForFiles(asObject(validated)) : validated };
    this.#eov(value).request(this.#indices.get(media ?? this.#operation) ?? 0, value);
    rounded(value);
    if (isForm) value.body = { ...asObject(value.body), ...filesOf(asObject(validated)) };
    return { parameters: value, body: validated === undefined ? body : value.body };
  }

  /** @throws {Violations} if the body does not match the media type of the response. */
  response(media: MediaType, body: unknown): void {
    const index = this.#indices.get(media);
    if (index !== undefined) this.#eov(body).response(index, { body });
  }

  /** @throws {Violations} if the headers, by name in lower case, do not match the response. */
  responseHeaders(response: DeclaredResponse, headers: Json): void {
    const index = this.#indices.get(response);
    if (index !== undefined) this.#eov(headers).response(index, { headers });
  }
}

const locatedParameters = (rewriter: SchemaRewriter, { parameters }: Operation): Json =>
  Object.fromEntries(
    LOCATIONS.flatMap((where) => {
      const members = parameters.filter((parameter) => parameter.in === where);
      return members.length > 0 ? [[where, objectSchema(rewriter, members, 'request')]] : [];
    }),
  );

function objectSchema(
  rewriter: SchemaRewriter,
  members: readonly { readonly name: string; readonly required: boolean; readonly schema: unknown }[],
  direction: Direction,
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  const properties = Object.fromEntries(
    members.map(({ name, required: isRequired, schema }) => {
      const value = rewriter.rewrite(schema, direction);
      return [name, isRequired ? withoutDefault(value) : value];
    }),
  );
  return { type: 'object', required, properties };
}

/** Rounds the numbers that are neither doubles nor integers of int64. Those in arrays and objects are rounded in place. */
function rounded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Inexact) return value.double;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = rounded(value[at]);
    return value;
  }
  const holder = value as Record<string, unknown>;
  for (const key in holder) {
    const item = holder[key];
    const round = rounded(item);
    if (round !== item) holder[key] = round;
  }
  return value;
}

const isFile = (value: unknown): boolean => (Array.isArray(value) ? value.some(isFile) : value instanceof Blob);

const filesOf = (form: Json): Json => Object.fromEntries(Object.entries(form).filter(([, value]) => isFile(value)));

/** A form whose files are texts of their length in bytes. Schemas describe files as strings. */
function textsForFiles(form: Json): Json {
  const text = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(text) : value instanceof Blob ? '\0'.repeat(value.size) : value;
  return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, text(value)]));
}
