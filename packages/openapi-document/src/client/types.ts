import type { ValueType } from './value-types.ts';

/** The type of a member, or `undefined` if there is none. */
export type Get<T, K extends PropertyKey> = K extends keyof T ? T[K] : undefined;
/** Merges an intersection into one object type, for shorter messages of the compiler. */
export type Flat<T> = { [K in keyof T]: T[K] } & {};
type FormEssence = 'multipart/form-data' | 'application/x-www-form-urlencoded';
export type FormType = FormEssence | `${FormEssence};${string}`;
/** Events without an `itemSchema` are bytes. */
export type EventsType = `text/event-stream${string}`;
type SentBytes =
  | string
  | Blob
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | ReadableStream<Uint8Array<ArrayBuffer>>;
type BodyOf<Type, Value> = Type extends ValueType | FormType
  ? Value
  : SentBytes | Extract<Value, AsyncIterable<unknown>>;
/** `contentType` is required if several media types are declared. */
type Body<Content> = {
  [T in keyof Content]: { readonly body: BodyOf<T, Content[T]> } & ([keyof Content] extends [T]
    ? { readonly contentType?: T }
    : { readonly contentType: T });
}[keyof Content];
type BodyInput<Op> = Op extends { requestBody: { content: infer C } }
  ? Body<C>
  : Op extends { requestBody?: { content: infer C } }
    ? Body<C> | { readonly body?: undefined }
    : { readonly body?: undefined };
type Input<Op> = Flat<
  { [L in keyof Get<Op, 'parameters'>]: Get<Op, 'parameters'>[L] } & BodyInput<Op>
>;

export type StatusRanges = {
  '1XX': 100 | 101 | 102 | 103;
  '2XX': 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226;
  '3XX': 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308;
  '4XX':
    | (
        | 400
        | 401
        | 402
        | 403
        | 404
        | 405
        | 406
        | 407
        | 408
        | 409
        | 410
        | 411
        | 412
        | 413
        | 414
        | 415
        | 416
        | 417
        | 418
      )
    | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451);
  '5XX': 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;
};
type StatusesOf<Key> = Key extends keyof StatusRanges ? StatusRanges[Key] : Key;
/** The statuses of a response, without those that a more specific response declares. */
type ReceivedStatus<Key, Declared> = Key extends 'default'
  ? Exclude<StatusRanges[keyof StatusRanges], StatusesOf<Exclude<Declared, 'default'>>>
  : Key extends keyof StatusRanges
    ? Exclude<StatusRanges[Key], Declared>
    : Key;
type ReceivedContent<Content> = [Content] extends [undefined]
  ? { readonly contentType: undefined; readonly body: undefined }
  : {
      [T in keyof Content]: {
        readonly contentType: T;
        readonly body: Content[T] extends AsyncIterable<unknown>
          ? Content[T]
          : T extends ValueType
            ? Content[T]
            : T extends EventsType
              ? ReadableStream<Uint8Array>
              : T extends `text/${string}`
                ? string
                : ReadableStream<Uint8Array>;
      };
    }[keyof Content];
/** A response of an operation, discriminated by `status`. */
type Reply<Op, Responses = Get<Op, 'responses'>> = {
  [K in keyof Responses]: Flat<
    {
      readonly status: ReceivedStatus<K, keyof Responses>;
      readonly response: Response;
    } & ReceivedContent<Get<Responses[K], 'content'>>
  >;
}[keyof Responses];

/** Options of one call. Defaults are the options of the client. */
export interface CallOptions extends RequestInit {
  /**
   * The time limit in milliseconds, after which a call fails with a `TimeoutError`. It includes
   * reading the response, except for streams. No limit by default.
   */
  readonly timeout?: number;
  /**
   * The maximum number of retries of a request with an idempotent method, after a failed connection
   * or a status of 429, 502, 503 or 504. Respects `Retry-After`. A request whose body is a
   * `ReadableStream` is not retried. 0 by default.
   */
  readonly retries?: number;
  /**
   * Reopens a stream of events when its connection ends, and continues after the last event. Only
   * for GET and events with ids. Use `false` for streams that have an end. True by default.
   */
  readonly reconnect?: boolean;
}

/** Functions by operation id. The input is optional if nothing in it is required. */
export type Client<Operations> = {
  readonly [Id in keyof Operations]: (
    ...args: Record<never, never> extends Input<Operations[Id]>
      ? [input?: Input<Operations[Id]>, options?: CallOptions]
      : [input: Input<Operations[Id]>, options?: CallOptions]
  ) => Promise<Reply<Operations[Id]>>;
};
