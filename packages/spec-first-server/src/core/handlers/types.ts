import type { IncomingHttpHeaders } from 'node:http';
import type { Readable as Stream } from 'node:stream';
import type {
  EventsType,
  Flat,
  FormType,
  Get,
  StatusRanges,
  ValueType,
} from 'openapi-document/client';
import type { Logger } from 'pino';

/** The authenticated client of a request. */
export interface Caller {
  /**
   * The `sub` claim of a signed token, the name of a static token, or `development` for the
   * development token.
   */
  readonly subject: string | undefined;
  /** The scopes of the token. The development token has all scopes. */
  readonly scopes: ReadonlySet<string> | 'all';
  /** The claims of a signed token. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The parts of a generated file from which the types of handlers are derived. */
interface Contract {
  readonly operations: object;
  readonly security: object;
  readonly defaults: object;
}

type Location = 'path' | 'query' | 'header' | 'cookie';
/** Parameters with a default are always present. */
type ParametersAt<Declared, WithDefault, P = NonNullable<Declared>> = [P] extends [never]
  ? Record<never, never>
  : Flat<Omit<P, Extract<keyof P, WithDefault>> & Required<Pick<P, Extract<keyof P, WithDefault>>>>;

type TextType = `text/${string}`;
type Scalar = string | number | bigint | boolean;

/**
 * The body of a request: the value of JSON or of a form, the items of a sequence, a text as the
 * scalar that its schema allows, or else a stream of bytes.
 */
type ReceivedBody<Type, Value> = Type extends ValueType | FormType
  ? Value
  : [Value] extends [AsyncIterable<unknown>]
    ? Value
    : Type extends EventsType
      ? Stream
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

/** A log whose lines have the request's id, trace id and operationId. */
export type RequestLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** The part of pino's interface that the service uses. */
export interface Log extends RequestLog {
  child(bindings: object): RequestLog;
}

/** Verifiers of credentials, by security scheme. Only the types of their results are used. */
type AnyVerifiers = Readonly<Record<string, (...credential: never) => unknown>>;

type NoVerifiers = Record<never, never>;
type NoMembers = Record<never, never>;

/**
 * The caller of an operation: the result of the verifier of one of its security schemes, or a
 * {@link Caller} for a scheme without a verifier. `undefined` stands for a request without
 * credentials.
 */
type CallerOf<Scheme, Verifiers> = Scheme extends keyof Verifiers
  ? Verifiers[Scheme] extends (...credential: never) => infer Result
    ? Awaited<Result>
    : never
  : Scheme extends undefined
    ? undefined
    : Scheme extends readonly string[]
      ? CallerOf<Scheme[number], Verifiers>
      : Caller;

/** The callers of schemes that are required together. */
type CallersOf<Schemes, Verifiers> = Schemes extends readonly string[]
  ? { readonly [Scheme in Schemes[number]]: CallerOf<Scheme, Verifiers> }
  : undefined;

interface RequestBase<AuthenticatedCaller, Callers> {
  /** The id of the request, as in the log and in the response header `X-Request-Id`. */
  readonly id: string;
  readonly log: RequestLog;
  /** All headers as received. `header` has the declared ones. */
  readonly headers: IncomingHttpHeaders;
  /**
   * The authenticated client. `undefined` if the operation allows requests without credentials and
   * this request has none. Of several callers, the first one with a subject, or else the first one.
   */
  readonly caller: AuthenticatedCaller;
  /** The callers by security scheme, if the document requires several together. */
  readonly callers: Callers;
  /** Returns the media type that the client prefers by its `Accept` header (RFC 9110 §12.5.1). */
  readonly accepts: <T extends string>(...types: readonly T[]) => T | undefined;
  /**
   * Aborted when the client closes its side of the connection before the response is sent, or when
   * the service stops while the reply is an event stream.
   */
  readonly signal: AbortSignal;
}

/** A validated request to an operation, with defaults filled in. */
export type RequestOf<
  C extends Contract,
  Id extends keyof C['operations'],
  Verifiers = NoVerifiers,
  Members = NoMembers,
  Op = C['operations'][Id],
> = Flat<
  {
    readonly [L in Location]: ParametersAt<
      Get<Get<Op, 'parameters'>, L>,
      Get<Get<C['defaults'], Id>, L>
    >;
  } & RequestBody<Get<Op, 'requestBody'>> &
    RequestBase<
      CallerOf<Get<C['security'], Id>, Verifiers>,
      CallersOf<Get<C['security'], Id>, Verifiers>
    > &
    Readonly<Members>
>;

type Ranges = Omit<StatusRanges, '1XX'>;
type Success = Ranges['2XX'];
type NonSuccess = Ranges['3XX' | '4XX' | '5XX'];
type StatusesOf<Key> = Key extends keyof Ranges ? Ranges[Key] : Extract<Key, number>;
/** The statuses of `default`. A named type, which keeps messages of the compiler short. */
type OtherStatus<Declared> = Exclude<Success | NonSuccess, Declared>;
type OtherNonSuccess<Declared> = Exclude<NonSuccess, Declared>;
/**
 * The statuses of one response. `default` includes success statuses only if the operation declares
 * none of them.
 */
type StatusOf<Key, Declared> = Key extends 'default'
  ? Extract<StatusesOf<Declared>, Success> extends never
    ? OtherStatus<StatusesOf<Declared>>
    : OtherNonSuccess<StatusesOf<Declared>>
  : Key extends keyof Ranges
    ? Exclude<Ranges[Key], Declared>
    : Key;

/** The headers are optional unless the document requires one. Undeclared ones are allowed. */
type ReplyHeaders<Headers> =
  Record<never, never> extends Headers
    ? { readonly headers?: Headers }
    : { readonly headers: Headers };

type ReplyBytes = Stream | ReadableStream | Uint8Array | ArrayBuffer | Blob;
type SentBody<Type, Value> = Type extends ValueType
  ? Value
  : [Value] extends [AsyncIterable<unknown>]
    ? Value
    : string | ReplyBytes | (Type extends TextType ? Extract<Value, Scalar> : never);
/**
 * A media range such as `image/*` needs the `contentType` of the reply. A range that includes JSON
 * also allows a value that is written as JSON.
 */
type ReplyBody<Content> = [Content] extends [undefined]
  ? { readonly body?: undefined; readonly contentType?: undefined }
  : {
      [Type in keyof Content]: Type extends `${string}*`
        ?
            | { readonly contentType: string; readonly body: string | ReplyBytes }
            | (Type extends '*/*' | 'application/*'
                ? { readonly contentType: ValueType; readonly body: Content[Type] }
                : never)
        : { readonly body: SentBody<Type, Content[Type]> } & ([keyof Content] extends [Type]
            ? { readonly contentType?: Type }
            : { readonly contentType: Type });
    }[keyof Content];

/**
 * A reply of an operation: one of its declared responses, or any status without a body if it
 * declares none.
 */
export type ReplyOf<Op> = [Get<Op, 'responses'>] extends [never]
  ? Flat<
      {
        readonly status: Success | NonSuccess;
        readonly reason?: string;
      } & ReplyHeaders<object> &
        ReplyBody<undefined>
    >
  : Get<Op, 'responses'> extends infer Responses
    ? {
        [Key in keyof Responses]: Flat<
          {
            readonly status: StatusOf<Key, keyof Responses>;
            /** The reason for the reply, for the log. Must not contain data of the client. */
            readonly reason?: string;
          } & ReplyHeaders<Get<Responses[Key], 'headers'>> &
            ReplyBody<Get<Responses[Key], 'content'>>
        >;
      }[keyof Responses]
    : never;

/**
 * A handler for each operation of a document, by operationId.
 *
 * @template Verifiers the type of the project's verifiers. Handlers get the callers that the
 *   verifiers return.
 * @template Members the members that `around` adds to each request, such as a transaction.
 */
export type HandlersOf<
  C extends Contract,
  Verifiers extends AnyVerifiers = NoVerifiers,
  Members extends object = NoMembers,
> = {
  readonly [Id in keyof C['operations']]: (
    request: RequestOf<C, Id, Verifiers, Members>,
  ) => MaybePromise<RepliesOf<C>[Id]>;
};

type RepliesOf<C extends Contract> = {
  [Id in keyof C['operations']]: ReplyOf<C['operations'][Id]>;
};

/**
 * A hook around the handlers of a document, after authentication and validation. It returns the
 * reply of `next`, changed or unchanged, or another reply. The result is checked like the reply of
 * a handler.
 *
 * @example
 * const around: Around = async (operation, { caller }, next) => {
 *   if (isOverLimit(caller)) throw new HttpError(429, 'at most 100 requests a minute');
 *   return next();
 * };
 *
 * @template Members the members that the argument of `next` adds to the request of the handler.
 */
export type AroundOf<
  C extends Contract,
  Verifiers extends AnyVerifiers = NoVerifiers,
  Members extends object = NoMembers,
> = (
  ...call: {
    [Id in keyof C['operations']]: [
      operation: Id,
      request: RequestOf<C, Id, Verifiers>,
      next: (...members: MembersArgument<Members>) => Promise<RepliesOf<C>[Id]>,
    ];
  }[keyof C['operations']]
) => MaybePromise<RepliesOf<C>[keyof C['operations']]>;

type MembersArgument<Members> = keyof Members extends never ? [] : [members: Members];
type MaybePromise<T> = T | Promise<T>;

/** A validated request to an operation that is known at run time only. */
export interface AnyRequest
  extends Omit<
      RequestBase<Caller | undefined, Readonly<Record<string, Caller>> | undefined>,
      'accepts'
    >,
    Readonly<Record<Location, Readonly<Record<string, unknown>>>> {
  readonly contentType: string | undefined;
  readonly body: unknown;
  readonly accepts: (...types: readonly string[]) => string | undefined;
}

/** A reply that is not validated yet. */
export interface AnyReply {
  readonly status: number;
  readonly reason?: string | undefined;
  /** True if it is a mock, made from the document. */
  readonly mocked?: true | undefined;
  readonly contentType?: string | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
}

/**
 * A handler of any operation. A method type, because TypeScript compares the parameters of methods
 * loosely: every handler is assignable to it.
 */
export type AnyHandler = { handle(request: AnyRequest): MaybePromise<AnyReply> }['handle'];

/** A hook around any handlers. A method type, like {@link AnyHandler}. */
export type AnyAround = {
  handle(
    operation: string,
    request: AnyRequest,
    next: { handle(members?: object): Promise<AnyReply> }['handle'],
  ): MaybePromise<AnyReply>;
}['handle'];
