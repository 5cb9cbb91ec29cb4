import type { IncomingHttpHeaders } from 'node:http';
import type { Readable as Stream } from 'node:stream';
import type { StatusRanges } from 'openapi-document/client';
import type { Logger } from 'pino';

/** The authenticated client of a request. */
export interface Caller {
  /** The `sub` claim of a signed token, or the name of an access token. */
  readonly subject: string | undefined;
  /** The scopes of a signed token. An access token has all scopes. */
  readonly scopes: ReadonlySet<string> | 'all';
  /** The claims of a signed token. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The parts of a generated file that the types of handlers are made of. */
export interface Contract {
  readonly operations: object;
  readonly security: object;
  readonly defaults: object;
}

type Get<T, K extends PropertyKey> = K extends keyof T ? T[K] : undefined;
/** Merges an intersection into one object type: the compiler's messages become short. */
type Flat<T> = { [K in keyof T]: T[K] } & {};

type Location = 'path' | 'query' | 'header' | 'cookie';
/** The parameters of one location. Those with a default are always present. */
type ParametersAt<Declared, WithDefault, P = NonNullable<Declared>> = [P] extends [never]
  ? Record<never, never>
  : Flat<Omit<P, Extract<keyof P, WithDefault>> & Required<Pick<P, Extract<keyof P, WithDefault>>>>;

type JsonEssence = 'application/json' | `application/${string}+json` | 'text/json';
type JsonType = JsonEssence | `${JsonEssence};${string}`;
type FormType = 'multipart/form-data' | 'application/x-www-form-urlencoded';
type TextType = `text/${string}`;
type Scalar = string | number | bigint | boolean;

/** The body of a request. A text is a scalar if its schema allows one; anything else is a stream of items or bytes. */
type ReceivedBody<Type, Value> = Type extends JsonType | FormType
  ? Value
  : [Value] extends [AsyncIterable<unknown>]
    ? Value
    : Type extends TextType
      ? unknown extends Value
        ? string
        : [Extract<Value, Scalar>] extends [never]
          ? Stream
          : Extract<Value, Scalar>
      : Stream;
type RequestBody<Declared> = Declared extends { content: infer Content }
  ? {
      [T in keyof Content]: { readonly contentType: T; readonly body: ReceivedBody<T, Content[T]> };
    }[keyof Content]
  : { readonly contentType: undefined; readonly body: undefined };

/** A log whose lines have the request's id and its operationId. */
export type RequestLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Where lines are logged: pino's interface, as far as it is used. */
export interface Log extends RequestLog {
  child(bindings: object): RequestLog;
}

interface Context<Security> {
  /** The request's id: that of the log and of the answer's `X-Request-Id`. */
  readonly id: string;
  readonly log: RequestLog;
  /** All headers as received. `header` has the declared ones. */
  readonly headers: IncomingHttpHeaders;
  /** The authenticated client. `undefined` if the operation allows requests without credentials and got none. */
  readonly caller: Security extends 'required' ? Caller : Security extends 'optional' ? Caller | undefined : undefined;
  /** Returns the media type that the client prefers by its `Accept` header (RFC 9110 §12.5.1). */
  readonly accepts: <T extends string>(...types: readonly T[]) => T | undefined;
  /** Aborted when the client closes its side of the connection before the response is sent. */
  readonly signal: AbortSignal;
}

/** A validated request to an operation, with defaults filled in. */
export type RequestOf<C extends Contract, Id extends keyof C['operations'], Op = C['operations'][Id]> = Flat<
  {
    readonly [L in Location]: ParametersAt<Get<Get<Op, 'parameters'>, L>, Get<Get<C['defaults'], Id>, L>>;
  } & RequestBody<Get<Op, 'requestBody'>> &
    Context<Get<C['security'], Id>>
>;

type Ranges = Omit<StatusRanges, '1XX'>;
type Success = Ranges['2XX'];
type Failure = Ranges['3XX' | '4XX' | '5XX'];
type StatusesOf<Key> = Key extends keyof Ranges ? Ranges[Key] : Extract<Key, number>;
/** What `default` declares. The compiler shows the name instead of a list of all statuses. */
type OtherStatus<Declared> = Exclude<Success | Failure, Declared>;
type OtherFailure<Declared> = Exclude<Failure, Declared>;
/** The statuses of one response. `default` has no success status where the operation declares one by itself. */
type StatusOf<Key, Declared> = Key extends 'default'
  ? Extract<StatusesOf<Declared>, Success> extends never
    ? OtherStatus<StatusesOf<Declared>>
    : OtherFailure<StatusesOf<Declared>>
  : Key extends keyof Ranges
    ? Exclude<Ranges[Key], Declared>
    : Key;

/** Declared headers as the document types them, and any others. */
type ReplyHeaders<Headers> =
  Record<never, never> extends Headers ? { readonly headers?: Headers } : { readonly headers: Headers };

type Bytes = Stream | Uint8Array | Blob;
type SentBody<Type, Value> = Type extends JsonType
  ? Value
  : [Value] extends [AsyncIterable<unknown>]
    ? Value
    : string | Bytes | (Type extends TextType ? Extract<Value, Scalar> : never);
/** A media range such as `image/*` needs the `contentType` of the reply. A range that includes JSON allows a value. */
type ReplyBody<Content> = [Content] extends [undefined]
  ? { readonly body?: undefined; readonly contentType?: undefined }
  : {
      [Type in keyof Content]: Type extends `${string}*`
        ?
            | { readonly contentType: string; readonly body: string | Bytes }
            | (Type extends '*/*' | 'application/*'
                ? { readonly contentType: JsonType; readonly body: Content[Type] }
                : never)
        : { readonly body: SentBody<Type, Content[Type]> } & ([keyof Content] extends [Type]
            ? { readonly contentType?: Type }
            : { readonly contentType: Type });
    }[keyof Content];

/** A reply of an operation: one of its declared responses, or any status without a body if it declares none. */
export type ReplyOf<Op> = [Get<Op, 'responses'>] extends [never]
  ? Flat<{ readonly status: Success | Failure; readonly reason?: string } & ReplyHeaders<object> & ReplyBody<undefined>>
  : Get<Op, 'responses'> extends infer Responses
    ? {
        [Key in keyof Responses]: Flat<
          {
            readonly status: StatusOf<Key, keyof Responses>;
            /** The cause, for the log. Must not hold what the client sent. */
            readonly reason?: string;
          } & ReplyHeaders<Get<Responses[Key], 'headers'>> &
            ReplyBody<Get<Responses[Key], 'content'>>
        >;
      }[keyof Responses]
    : never;

/** A handler for each operation of a document, by operationId. */
export type HandlersOf<C extends Contract> = {
  readonly [Id in keyof C['operations']]: (
    request: RequestOf<C, Id>,
  ) => ReplyOf<C['operations'][Id]> | Promise<ReplyOf<C['operations'][Id]>>;
};

/** A validated request to an operation that is known at run time only. */
export interface AnyRequest
  extends Omit<Context<'optional'>, 'accepts'>,
    Readonly<Record<Location, Readonly<Record<string, unknown>>>> {
  readonly contentType: string | undefined;
  readonly body: unknown;
  readonly accepts: (...types: readonly string[]) => string | undefined;
}

/** A reply that is not validated yet. */
export interface AnyReply {
  readonly status: number;
  readonly reason?: string | undefined;
  /** Whether no handler made it, but the document. */
  readonly mocked?: true | undefined;
  readonly contentType?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/** A handler of any operation. A method type: TypeScript compares its parameter loosely, so every handler is one. */
export type AnyHandler = { handle(request: AnyRequest): AnyReply | Promise<AnyReply> }['handle'];
