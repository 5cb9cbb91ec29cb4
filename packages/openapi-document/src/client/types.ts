type Get<T, K extends PropertyKey> = K extends keyof T ? T[K] : undefined;
type Flat<T> = { [K in keyof T]: T[K] } & {};
type Json = `${string}json` | `${string}json;${string}`;
type Bytes = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
type BodyOf<Type, Value> = Type extends Json | 'multipart/form-data' | 'application/x-www-form-urlencoded'
  ? Value
  : Bytes;
/** A body has the only media type that is declared, or names one of several. */
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
type Input<Op> = Flat<{ [L in keyof Get<Op, 'parameters'>]: Get<Op, 'parameters'>[L] } & BodyInput<Op>>;

export type StatusRanges = {
  '1XX': 100 | 101 | 102 | 103;
  '2XX': 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226;
  '3XX': 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308;
  '4XX':
    | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
    | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451);
  '5XX': 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;
};
type StatusesOf<Key> = Key extends keyof StatusRanges ? StatusRanges[Key] : Key;
/** The statuses of one response: those that no other one declares more exactly. */
type StatusOf<Key, Declared> = Key extends 'default'
  ? Exclude<StatusRanges[keyof StatusRanges], StatusesOf<Exclude<Declared, 'default'>>>
  : Key extends keyof StatusRanges
    ? Exclude<StatusRanges[Key], Declared>
    : Key;
type ReplyBody<Content> = [Content] extends [undefined]
  ? { readonly contentType: undefined; readonly body: undefined }
  : {
      [T in keyof Content]: {
        readonly contentType: T;
        readonly body: Content[T] extends AsyncIterable<unknown>
          ? Content[T]
          : T extends Json
            ? Content[T]
            : T extends `text/${string}`
              ? string
              : ReadableStream<Uint8Array>;
      };
    }[keyof Content];
/** A reply of an operation. Its `status` tells which one of the declared ones it is. */
type Reply<Op, Responses = Get<Op, 'responses'>> = {
  [K in keyof Responses]: Flat<
    { readonly status: StatusOf<K, keyof Responses>; readonly response: Response } & ReplyBody<
      Get<Responses[K], 'content'>
    >
  >;
}[keyof Responses];

/** A function for each operation, by its operationId. The input may be left out if nothing in it is required. */
export type Client<Operations> = {
  readonly [Id in keyof Operations]: (
    ...args: Record<never, never> extends Input<Operations[Id]>
      ? [input?: Input<Operations[Id]>, init?: RequestInit]
      : [input: Input<Operations[Id]>, init?: RequestInit]
  ) => Promise<Reply<Operations[Id]>>;
};
