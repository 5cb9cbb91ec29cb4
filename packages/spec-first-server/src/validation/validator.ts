import type { Json } from '../document/document.ts';
import { knownFormat } from '../document/formats.ts';
import { type DeclaredResponse, type MediaType, type Operation, securitySchemesOf } from '../document/operations.ts';
import { holdsLarge, StandIns } from '../json/exact.ts';
import { findingsOf, type Judge, type JudgedOperation, type JudgeScheme, judgesOf } from './eov.ts';
import { restoreExact } from './exact.ts';
import { SchemaRewriter } from './rewrite.ts';
import { Violations } from './violations.ts';

/** The values of an operation's parameters by name, where the document puts them. */
export interface Parameters {
  readonly path: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly header: Record<string, unknown>;
  readonly cookie: Record<string, unknown>;
}

/** What a check of credentials looks at. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly cookies: Readonly<Record<string, unknown>>;
}

/** Proves one credential and says whose it is; throws why it is not good. */
export type VerifyScheme<Caller> = (credentials: Credentials, scopes: readonly string[]) => Caller | Promise<Caller>;

/** No alternative of the security requirements is satisfied: what each verification said, in the document's order. */
export class CredentialsDenied extends Error {
  override readonly name = 'CredentialsDenied';
  readonly reasons: readonly unknown[];

  constructor(message: string, reasons: readonly unknown[]) {
    super(message);
    this.reasons = reasons;
  }
}

/** express-openapi-validator for one operation. */
export interface OperationValidator<Caller> {
  /** Resolves to the callers by scheme, of the first alternative satisfied. @throws {CredentialsDenied} */
  security(credentials: Credentials): Promise<ReadonlyMap<string, Caller>>;
  /** Resolves to the values with defaults filled in. @throws {Violations} */
  request(
    parameters: Parameters,
    media: MediaType | undefined,
    body: unknown,
  ): Promise<{ parameters: Parameters; body: unknown }>;
  /** @throws {Violations} if the body is not what the media type of the response declares. */
  response(response: DeclaredResponse, media: MediaType, body: unknown): Promise<void>;
  /** @throws {Violations} if headers, by name in lower case, are not what the response declares. */
  responseHeaders(response: DeclaredResponse, headers: Json): Promise<void>;
}

const LOCATIONS = ['path', 'query', 'header', 'cookie'] as const;

/**
 * Sets the validators of one path item's operations up.
 *
 * @param root the whole document.
 * @param verifiers how to prove the credential of each security scheme, by its name.
 */
export async function validatePath<Caller>(
  root: Json,
  operations: readonly Operation[],
  verifiers: Readonly<Record<string, VerifyScheme<Caller>>>,
): Promise<Map<Operation, OperationValidator<Caller>>> {
  const rewriter = new SchemaRewriter(root, knownFormat);
  const judged = new Map(operations.map((operation) => [operation.method, judgedOperation(rewriter, operation)]));
  const components = { schemas: rewriter.components, securitySchemes: securitySchemesOf(root) };
  const schemes = verifiers as Readonly<Record<string, JudgeScheme>>;
  const judges = await judgesOf(judged, components, rewriter.fractions, schemes);
  return new Map(
    operations.flatMap((operation) => {
      const judge = judges.get(operation.method);
      return judge === undefined ? [] : [[operation, operationValidator<Caller>(root, operation, judge)]];
    }),
  );
}

function operationValidator<Caller>(root: Json, operation: Operation, judge: Judge): OperationValidator<Caller> {
  // An alternative without schemes is satisfied by everyone: who did give credentials is not taken for no one.
  const alternatives = operation.security
    .map((all) => Object.keys(all))
    .sort((a, b) => Math.sign(b.length) - Math.sign(a.length));

  return {
    async security(credentials) {
      try {
        const { callers } = await judge.security(credentials);
        const satisfied = alternatives.find((names) => names.every((name) => callers.has(name))) ?? [];
        return new Map(satisfied.map((name) => [name, callers.get(name) as Caller]));
      } catch (error) {
        const { message, reasons } = error as Error & { reasons: readonly unknown[] };
        throw new CredentialsDenied(message, reasons);
      }
    },

    async request(parameters, media, body) {
      const { path, query, header, cookie } = parameters;
      const checked = media === undefined || media.kind === 'stream' ? undefined : body;
      const files = media?.kind === 'multipart' ? new Files() : undefined;
      let value = { path, query, header, cookie, body: files === undefined ? checked : files.replace(checked) };
      const standIns = holdsLarge(value) ? new StandIns() : undefined;
      if (standIns !== undefined) value = standIns.replace(value) as typeof value;
      await judged(judge.request(requestKey(operation, media), value));
      if (standIns !== undefined) value = restored(root, operation, media, value, standIns);
      if (files !== undefined) files.restore(value.body);
      return { parameters: value, body: checked === undefined ? body : value.body };
    },

    response: (response, media, body) =>
      media.schema === undefined ? Promise.resolve() : judgeReply(judge, responseKey(response, media), 'body', body),

    responseHeaders: (response, headers) => judgeReply(judge, headersKey(response), 'headers', headers),
  };
}

async function judged(judgement: Promise<void>): Promise<void> {
  try {
    await judgement;
  } catch (error) {
    const findings = findingsOf(error);
    throw findings === undefined ? error : new Violations(findings);
  }
}

const judgeReply = (judge: Judge, key: string, name: string, value: unknown): Promise<void> =>
  judged(judge.response(key, { [name]: holdsLarge(value) ? new StandIns().replace(value) : value }));

const requestKey = ({ requestBody }: Operation, media: MediaType | undefined): string =>
  `request/${media === undefined ? 'none' : requestBody?.media.indexOf(media)}`;
const responseKey = ({ key, media }: DeclaredResponse, type: MediaType): string => `body ${key} ${media.indexOf(type)}`;
const headersKey = ({ key }: DeclaredResponse): string => `headers ${key}`;

function judgedOperation(rewriter: SchemaRewriter, operation: Operation): JudgedOperation {
  const { parameters, requestBody, responses, security } = operation;
  const located = Object.fromEntries(
    LOCATIONS.map((where) => [where, parameters.filter((parameter) => parameter.in === where)] as const)
      .filter(([, inPlace]) => inPlace.length > 0)
      .map(([where, inPlace]) => [where, objectSchema(rewriter, inPlace, 'request')]),
  );
  const request = (body?: MediaType): Json => ({
    type: 'object',
    properties: {
      ...located,
      ...(body !== undefined && body.kind !== 'stream' && { body: rewriter.rewrite(body.schema, 'request') }),
    },
  });
  const reply = (name: string, schema: unknown): Json => ({ type: 'object', properties: { [name]: schema } });
  return {
    security,
    requests: {
      [requestKey(operation, undefined)]: request(),
      ...Object.fromEntries((requestBody?.media ?? []).map((media) => [requestKey(operation, media), request(media)])),
    },
    responses: Object.fromEntries(
      responses.flatMap((response) => [
        ...response.media
          .filter(({ schema }) => schema !== undefined)
          .map((media) => [responseKey(response, media), reply('body', rewriter.rewrite(media.schema, 'response'))]),
        [headersKey(response), reply('headers', objectSchema(rewriter, response.headers, 'response'))],
      ]),
    ),
  };
}

function objectSchema(
  rewriter: SchemaRewriter,
  members: readonly { readonly name: string; readonly required: boolean; readonly schema: unknown }[],
  direction: 'request' | 'response',
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, rewriter.rewrite(schema, direction)])),
  };
}

/** A request with the numbers that stand-ins stood for while it was judged. */
function restored<Request extends Parameters & { body: unknown }>(
  root: Json,
  { parameters }: Operation,
  media: MediaType | undefined,
  request: Request,
  standIns: StandIns,
): Request {
  const schemas = new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter.schema]));
  const locations = LOCATIONS.map((where) => [
    where,
    Object.fromEntries(
      Object.entries(request[where]).map(([name, value]) => [
        name,
        restoreExact(root, [schemas.get(`${where} ${name}`)], value, standIns),
      ]),
    ),
  ]);
  return {
    ...request,
    ...Object.fromEntries(locations),
    body: restoreExact(root, [media?.schema], request.body, standIns),
  };
}

/** The files of a form, which are judged as the strings that the document has for them, by their length in bytes. */
class Files {
  readonly #files = new Map<string, unknown>();

  replace(body: unknown): unknown {
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
