import type { Json } from '../document/document.ts';
import { knownFormat } from '../document/formats.ts';
import type { MediaType } from '../document/media-types.ts';
import { type DeclaredResponse, type Operation, securitySchemesOf } from '../document/operations.ts';
import { Inexact } from '../json/exact.ts';
import { type Credentials, type SyntheticOperation, type Validators, type VerifyScheme, validatorsOf } from './eov.ts';
import { type Direction, SchemaRewriter } from './rewrite.ts';

export type { Credentials, VerifyScheme } from './eov.ts';

/** The values of an operation's parameters, by place and name. */
export interface Parameters {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly cookie: Record<string, unknown>;
}

/** No alternative of the security requirements is satisfied. Holds the error of each scheme, in the document's order. */
export class CredentialsDenied extends Error {
  override readonly name = 'CredentialsDenied';
  readonly reasons: readonly unknown[];

  constructor(message: string, reasons: readonly unknown[]) {
    super(message);
    this.reasons = reasons;
  }
}

/** Validates the credentials, requests and replies of one operation. */
export interface OperationValidator<Caller> {
  /** Resolves to the callers by scheme, of the first alternative that is satisfied. @throws {CredentialsDenied} */
  security(credentials: Credentials): Promise<ReadonlyMap<string, Caller>>;
  /** Returns the values with defaults filled in. @throws {Violations} */
  request(
    parameters: Parameters,
    media: MediaType | undefined,
    body: unknown,
  ): { readonly parameters: Parameters; readonly body: unknown };
  /** @throws {Violations} if the body does not match the media type of the response. */
  response(response: DeclaredResponse, media: MediaType, body: unknown): void;
  /** @throws {Violations} if the headers, by name in lower case, do not match the response. */
  responseHeaders(response: DeclaredResponse, headers: Json): void;
}

/**
 * Makes the validators for the operations of one path item.
 *
 * @param root the whole document.
 * @param verifiers check the credentials of each security scheme, by its name.
 */
export function validatePath<Caller>(
  root: Json,
  operations: readonly Operation[],
  verifiers: Readonly<Record<string, VerifyScheme<Caller>>>,
): Map<Operation, OperationValidator<Caller>> {
  const rewriter = new SchemaRewriter(root, knownFormat);
  const prepared = new Map(operations.map((operation) => [operation.method, new Prepared(rewriter, operation)]));
  const components = { schemas: rewriter.components, securitySchemes: securitySchemesOf(root) };
  const validators = validatorsOf(prepared, components, verifiers);
  return new Map(
    operations.flatMap((operation) => {
      const [ours, eov] = [prepared.get(operation.method), validators.get(operation.method)];
      return ours === undefined || eov === undefined ? [] : [[operation, operationValidator(ours, eov)]];
    }),
  );
}

function operationValidator<Caller>(prepared: Prepared, validators: Validators<Caller>): OperationValidator<Caller> {
  const { requestKeys, responseIndices, alternatives } = prepared;
  const checkResponse = (declared: MediaType | DeclaredResponse, value: unknown): void => {
    const index = responseIndices.get(declared);
    if (index !== undefined) validators.response(index, value);
  };

  return {
    async security(credentials) {
      const { callers, reasons, denied } = await validators.security(credentials);
      if (denied !== undefined) throw new CredentialsDenied(denied, reasons);
      const satisfied = alternatives.find((names) => names.every((name) => callers.has(name))) ?? [];
      return new Map([...callers].filter(([name]) => satisfied.includes(name)));
    },

    request({ path, query, header, cookie }, media, body) {
      const checked = media === undefined || media.kind === 'stream' ? undefined : body;
      const files = media?.kind === 'multipart' ? new Files() : undefined;
      const value = { path, query, header, cookie, body: files === undefined ? checked : files.replace(checked) };
      validators.request(requestKeys.get(media) ?? '', value);
      roundInexact(value);
      files?.restore(value.body);
      return { parameters: value, body: checked === undefined ? body : value.body };
    },

    response: (_response, media, body) => checkResponse(media, { body }),
    responseHeaders: (response, headers) => checkResponse(response, { headers }),
  };
}

/** Converts the numbers that no double and no integer of int64 holds, in place: a valid one stands where any number may. */
function roundInexact(value: object): void {
  const holder = value as Record<string, unknown>;
  for (const key in holder) {
    const item = holder[key];
    if (item instanceof Inexact) holder[key] = item.double;
    else if (typeof item === 'object' && item !== null) roundInexact(item);
  }
}

const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/** An operation as EOV gets it, and under which keys. */
class Prepared implements SyntheticOperation {
  readonly security: SyntheticOperation['security'];
  readonly requests: Record<string, Json> = {};
  readonly responses: Json[] = [];
  readonly requestKeys = new Map<MediaType | undefined, string>();
  /** Responses stand for their headers. */
  readonly responseIndices = new Map<MediaType | DeclaredResponse, number>();
  /** The schemes of each alternative. An alternative without schemes comes last: credentials are preferred. */
  readonly alternatives: readonly (readonly string[])[];

  constructor(rewriter: SchemaRewriter, { parameters, requestBody, responses, security }: Operation) {
    this.security = security;
    this.alternatives = security
      .map((schemes) => Object.keys(schemes))
      .sort((a, b) => Math.sign(b.length) - Math.sign(a.length));

    const located = LOCATIONS.flatMap((where) => {
      const members = parameters.filter((parameter) => parameter.in === where);
      return members.length > 0 ? [[where, objectSchema(rewriter, members, 'request')] as const] : [];
    });
    for (const media of [undefined, ...(requestBody?.media ?? [])]) {
      const key = `request/${this.requestKeys.size}`;
      const body =
        media === undefined || media.kind === 'stream' ? {} : { body: rewriter.rewrite(media.schema, 'request') };
      this.requests[key] = { type: 'object', properties: { ...Object.fromEntries(located), ...body } };
      this.requestKeys.set(media, key);
    }

    const add = (declared: MediaType | DeclaredResponse, name: string, schema: unknown): void => {
      this.responseIndices.set(declared, this.responses.length);
      this.responses.push({ type: 'object', properties: { [name]: schema } });
    };
    for (const response of responses) {
      add(response, 'headers', objectSchema(rewriter, response.headers, 'response'));
      for (const media of response.media) {
        if (media.schema !== undefined) add(media, 'body', rewriter.rewrite(media.schema, 'response'));
      }
    }
  }
}

function objectSchema(
  rewriter: SchemaRewriter,
  members: readonly { readonly name: string; readonly required: boolean; readonly schema: unknown }[],
  direction: Direction,
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, rewriter.rewrite(schema, direction)])),
  };
}

/** The files of a form. They are validated as strings of their length in bytes, because their schema is that of a string. */
class Files {
  readonly #files = new Map<string, unknown>();

  replace(body: unknown): Record<string, unknown> {
    const text = (value: unknown) => (value instanceof Blob ? '\0'.repeat(value.size) : value);
    return Object.fromEntries(
      Object.entries(body as Json).map(([name, value]) => {
        if (!(Array.isArray(value) ? value : [value]).some((item) => item instanceof Blob)) return [name, value];
        this.#files.set(name, value);
        return [name, Array.isArray(value) ? value.map(text) : text(value)];
      }),
    );
  }

  restore(body: unknown): void {
    for (const [name, value] of this.#files) (body as Record<string, unknown>)[name] = value;
  }
}
