import { type Json, objectAt } from '../document/document.ts';
import { knownFormat } from '../document/formats.ts';
import type { MediaType } from '../document/media-types.ts';
import type { DeclaredResponse, Operation } from '../document/operations.ts';
import { Inexact } from '../json/exact.ts';
import { type EovValidators, eovValidators, type SyntheticOperation } from './eov.ts';
import { type Direction, SchemaRewriter } from './rewrite.ts';

const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** The values of an operation's parameters, by place and name. */
export type Parameters = { readonly [Location in (typeof LOCATIONS)[number]]: Record<string, unknown> };

/**
 * Makes the validators for the operations of one path item.
 *
 * @param root the whole document.
 */
export function validatePath(root: Json, operations: readonly Operation[]): Map<Operation, OperationValidator> {
  const rewriter = new SchemaRewriter(root, knownFormat);
  const schemas = new Map(operations.map((operation) => [operation.method, new OperationSchemas(rewriter, operation)]));
  const validators = eovValidators(schemas, { schemas: rewriter.components });
  return new Map(
    operations.flatMap((operation) => {
      const [own, eov] = [schemas.get(operation.method), validators.get(operation.method)];
      return own === undefined || eov === undefined ? [] : [[operation, new OperationValidator(own, eov)]];
    }),
  );
}

/** Validates the requests and replies of one operation. */
export class OperationValidator {
  readonly #schemas: OperationSchemas;
  readonly #eov: EovValidators;

  constructor(schemas: OperationSchemas, eov: EovValidators) {
    this.#schemas = schemas;
    this.#eov = eov;
  }

  /** Returns the values with defaults filled in. @throws {Violations} */
  request(
    { path, query, header, cookie }: Parameters,
    media: MediaType | undefined,
    body: unknown,
  ): { readonly parameters: Parameters; readonly body: unknown } {
    const validated = media === undefined || media.kind === 'stream' ? undefined : body;
    const isForm = media?.kind === 'multipart';
    const value = { path, query, header, cookie, body: isForm ? textsForFiles(objectAt(validated)) : validated };
    this.#eov.request(this.#schemas.indices.get(media) ?? 0, value);
    roundInexact(value);
    if (isForm) value.body = { ...objectAt(value.body), ...filesOf(objectAt(validated)) };
    return { parameters: value, body: validated === undefined ? body : value.body };
  }

  /** @throws {Violations} if the body does not match the media type of the response. */
  response(_response: DeclaredResponse, media: MediaType, body: unknown): void {
    const index = this.#schemas.indices.get(media);
    if (index !== undefined) this.#eov.response(index, { body });
  }

  /** @throws {Violations} if the headers, by name in lower case, do not match the response. */
  responseHeaders(response: DeclaredResponse, headers: Json): void {
    const index = this.#schemas.indices.get(response);
    if (index !== undefined) this.#eov.response(index, { headers });
  }
}

/** Rounds the numbers that are neither doubles nor integers of int64, in place. */
function roundInexact(holder: Record<string, unknown>): void {
  for (const key in holder) {
    const item = holder[key];
    if (item instanceof Inexact) holder[key] = item.double;
    else if (typeof item === 'object' && item !== null) roundInexact(item as Record<string, unknown>);
  }
}

const isFile = (value: unknown): boolean => (Array.isArray(value) ? value.some(isFile) : value instanceof Blob);

const filesOf = (form: Json): Json => Object.fromEntries(Object.entries(form).filter(([, value]) => isFile(value)));

/** A form whose files are texts of their length in bytes. Schemas describe files as strings. */
function textsForFiles(form: Json): Json {
  const text = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(text) : value instanceof Blob ? '\0'.repeat(value.size) : value;
  return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, text(value)]));
}

/** The schemas of an operation, and which of them describes what. */
class OperationSchemas implements SyntheticOperation {
  readonly requests: Json[] = [];
  readonly responses: Json[] = [];
  /** Indices in `requests` by media type, `undefined` without a body; in `responses` by media type, or response for its headers. */
  readonly indices = new Map<MediaType | DeclaredResponse | undefined, number>();

  constructor(rewriter: SchemaRewriter, { parameters, requestBody, responses }: Operation) {
    const located = LOCATIONS.flatMap((where) => {
      const members = parameters.filter((parameter) => parameter.in === where);
      return members.length > 0 ? [[where, objectSchema(rewriter, members, 'request')]] : [];
    });
    for (const media of [undefined, ...(requestBody?.media ?? [])]) {
      const hasBody = media !== undefined && media.kind !== 'stream';
      const body = hasBody ? [['body', rewriter.rewrite(media.schema, 'request')]] : [];
      this.indices.set(media, this.requests.length);
      this.requests.push({ type: 'object', properties: Object.fromEntries([...located, ...body]) });
    }
    for (const response of responses) {
      this.#add(response, { headers: objectSchema(rewriter, response.headers, 'response') });
      for (const media of response.media) {
        if (media.schema !== undefined) this.#add(media, { body: rewriter.rewrite(media.schema, 'response') });
      }
    }
  }

  #add(described: MediaType | DeclaredResponse, properties: Json): void {
    this.indices.set(described, this.responses.length);
    this.responses.push({ type: 'object', properties });
  }
}

function objectSchema(
  rewriter: SchemaRewriter,
  members: readonly { readonly name: string; readonly required: boolean; readonly schema: unknown }[],
  direction: Direction,
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  const properties = Object.fromEntries(members.map(({ name, schema }) => [name, rewriter.rewrite(schema, direction)]));
  return { type: 'object', required, properties };
}
