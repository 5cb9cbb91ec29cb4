import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** Who calls. */
export interface Caller {
  /** The `sub` claim of a signed token; undefined for an access token, which stands for no one in particular. */
  readonly subject: string | undefined;
  /** What the caller may do: the scopes of a signed token; an access token has all of them. */
  readonly scopes: ReadonlySet<string> | 'all';
}

/** What a generated file says of a document's operations: `operations`, and what the server adds to each. */
export interface Contract {
  readonly operations: object;
  readonly security: object;
  readonly defaults: object;
}

type Get<T, K extends PropertyKey> = K extends keyof T ? T[K] : undefined;
type Simplify<T> = { [K in keyof T]: T[K] } & {};

type Location = 'path' | 'query' | 'header' | 'cookie';
type ParametersOf<Op> = Get<Op, 'parameters'>;
/** The parameters of one location, those with a default always there. */
type ParametersAt<Op, Defaults, L extends Location> = [NonNullable<Get<ParametersOf<Op>, L>>] extends [never]
  ? Record<never, never>
  : Filled<NonNullable<Get<ParametersOf<Op>, L>>, Get<Defaults, L>>;
type Filled<P, Names> = Simplify<
  { [K in keyof P as K extends Names ? K : never]-?: Exclude<P[K], undefined> } & {
    [K in keyof P as K extends Names ? never : K]: P[K];
  }
>;

/**
 * What is left of a type where all that goes one way only is marked, as openapi-typescript marks it: `$read` what is
 * readOnly, `$write` what is writeOnly.
 */
type Towards<Kept extends '$read' | '$write', T> = T extends { readonly [K in Kept]: infer U }
  ? Towards<Kept, U>
  : T extends Blob
    ? T
    : T extends readonly unknown[]
      ? { [I in keyof T]: Towards<Kept, T[I]> }
      : T extends object
        ? {
            [K in keyof T as NonNullable<T[K]> extends { readonly [M in Exclude<'$read' | '$write', Kept>]: unknown }
              ? never
              : K]: Towards<Kept, T[K]>;
          }
        : T;

/** The value of a body of a media type, as a handler sees it. */
type JsonEssence = 'application/json' | `application/${string}+json` | 'text/json';
type JsonType = JsonEssence | `${JsonEssence};${string}`;
type BodyOf<Type, Value> = Type extends JsonType
  ? Value
  : Type extends 'multipart/form-data' | 'application/x-www-form-urlencoded'
    ? Value
    : Type extends `text/${string}`
      ? TextOf<Value>
      : Readable;
/** What a text says; of a list or an object it says it in a way of its own. */
type TextOf<Value> = unknown extends Value
  ? string
  : [Extract<Value, Scalar>] extends [never]
    ? Readable
    : Extract<Value, Scalar>;
type Scalar = string | number | bigint | boolean;

type RequestBody<Op> =
  Get<Op, 'requestBody'> extends { content: infer Content }
    ? BodyUnion<Content>
    : Get<Op, 'requestBody'> extends { content: infer Content } | undefined
      ? BodyUnion<Content> | { readonly contentType: undefined; readonly body: undefined }
      : { readonly contentType: undefined; readonly body: undefined };
type BodyUnion<Content> = {
  [Type in keyof Content]: {
    readonly contentType: Type;
    readonly body: Readonly<BodyOf<Type, Towards<'$write', Content[Type]>>>;
  };
}[keyof Content];

type CallerOf<Security> = Security extends 'required'
  ? Caller
  : Security extends 'optional'
    ? Caller | undefined
    : undefined;

/** A checked request to an operation: typed as the document says, with defaults filled in. */
export type RequestOf<C extends Contract, Id extends keyof C['operations']> = {
  readonly [L in Location]: ParametersAt<C['operations'][Id], Get<C['defaults'], Id>, L>;
} & RequestBody<C['operations'][Id]> & {
    /** Who calls; `undefined` where no credentials are needed and none were given. */
    readonly caller: CallerOf<Get<C['security'], Id>>;
    /** The one of these media types that the client's `Accept` header prefers (RFC 9110 §12.5.1). */
    readonly accepts: <T extends string>(...types: readonly T[]) => T | undefined;
    /** Aborted when the client, before it is answered, closes its side of the connection: it may be gone. */
    readonly signal: AbortSignal;
  };

type ClientError =
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
  | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451);
type ServerError = 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;
type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226;
type Redirect = 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308;
type Range<Key> = Key extends '2XX'
  ? Success
  : Key extends '3XX'
    ? Redirect
    : Key extends '4XX'
      ? ClientError
      : Key extends '5XX'
        ? ServerError
        : never;
type StatusOf<Key, Declared> = Key extends number
  ? Key
  : Key extends 'default'
    ? Exclude<Success | Redirect | ClientError | ServerError, Declared | Range<Declared>>
    : Exclude<Range<Key>, Declared>;

type HeadersOf<Response> =
  Get<Response, 'headers'> extends infer H ? { [K in keyof H as string extends K ? never : K]: H[K] } : never;
/** Declared headers as the document says, and any others. */
type ReplyHeaders<Response> =
  Record<never, never> extends HeadersOf<Response>
    ? { readonly headers?: HeadersOf<Response> & Readonly<Record<string, unknown>> }
    : { readonly headers: HeadersOf<Response> & Readonly<Record<string, unknown>> };

type Bytes = Readable | Uint8Array | Blob;
/** A body of a media type, as a handler returns it. */
type WrittenAs<Type, Value> = Type extends JsonType
  ? Value
  : (Type extends `text/${string}` ? Extract<Value, Scalar> : never) | string | Bytes;

type ReplyBody<Response> =
  Get<Response, 'content'> extends infer Content
    ? [Content] extends [undefined]
      ? { readonly body?: undefined; readonly contentType?: undefined }
      : { [T in keyof Content]: ReplyOfType<T, Towards<'$read', Content[T]>, IsUnion<keyof Content>> }[keyof Content]
    : never;
/** A range such as `image/*` leaves it to the reply to say what it is, and one that admits JSON admits a value. */
type ReplyOfType<Type, Value, Several> = Type extends `${string}*`
  ?
      | { readonly contentType: string; readonly body: string | Bytes }
      | (Type extends '*/*' | 'application/*' ? { readonly contentType: JsonType; readonly body: Value } : never)
  : Several extends true
    ? { readonly contentType: Type; readonly body: WrittenAs<Type, Value> }
    : { readonly contentType?: Type; readonly body: WrittenAs<Type, Value> };
type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

/** What an operation may answer: one of its declared responses. */
export type ReplyOf<Op> =
  Get<Op, 'responses'> extends infer Responses
    ? {
        [Key in keyof Responses]: {
          readonly status: StatusOf<Key, keyof Responses>;
          /** Why, for the log: nothing that the client sent. */
          readonly reason?: string;
        } & ReplyHeaders<Responses[Key]> &
          ReplyBody<Responses[Key]>;
      }[keyof Responses]
    : never;

/** Handlers for the operations of a document, by operationId. */
export type HandlersOf<C extends Contract> = {
  readonly [Id in keyof C['operations']]: (
    request: RequestOf<C, Id>,
  ) => ReplyOf<C['operations'][Id]> | Promise<ReplyOf<C['operations'][Id]>>;
};

/** A checked request, when its operation is only known at run time. */
export interface AnyRequest {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly header: Readonly<Record<string, unknown>>;
  readonly cookie: Readonly<Record<string, unknown>>;
  readonly contentType: string | undefined;
  readonly body: unknown;
  readonly caller: Caller | undefined;
  /** As they came; what the document declares of them is in `header`. */
  readonly headers?: IncomingHttpHeaders;
  readonly accepts: (...types: readonly string[]) => string | undefined;
  readonly signal: AbortSignal;
}

/** A reply, before it is known to be one that the document declares. */
export interface AnyReply {
  readonly status: number;
  readonly reason?: string | undefined;
  readonly contentType?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/**
 * A handler, when its operation is only known at run time. A method, since TypeScript lets a method take a narrower
 * parameter: every handler of `HandlersOf` is one of these.
 */
export type AnyHandler = { handle(request: AnyRequest): AnyReply | Promise<AnyReply> }['handle'];
