/** How an operation is called, as its document says. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** The media types of its body, as the document declares them. */
  readonly media: readonly string[];
  readonly parameters: readonly {
    readonly in: 'path' | 'query' | 'header' | 'cookie';
    readonly name: string;
    readonly style: string;
    readonly explode: boolean;
    /** Whether its value is written as JSON. */
    readonly json: boolean;
  }[];
}

export interface ClientOptions {
  /** Where the document's paths begin. */
  readonly baseUrl: string;
  /** Headers of each request, such as `Authorization`. A function is called for each request. */
  readonly headers?: Readonly<Record<string, string>> | (() => Promise<Readonly<Record<string, string>>>);
  /** By default `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

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

type Range = {
  '1XX': 100 | 101 | 102 | 103;
  '2XX': 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226;
  '3XX': 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308;
  '4XX':
    | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
    | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451);
  '5XX': 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 510 | 511;
};
type StatusesOf<Key> = Key extends keyof Range ? Range[Key] : Key;
/** The statuses of one response: those that no other one declares more exactly. */
type StatusOf<Key, Declared> = Key extends 'default'
  ? Exclude<Range[keyof Range], StatusesOf<Exclude<Declared, 'default'>>>
  : Key extends keyof Range
    ? Exclude<Range[Key], Declared>
    : Key;
type ReplyBody<Content> = [Content] extends [undefined]
  ? { readonly contentType: undefined; readonly body: undefined }
  : {
      [T in keyof Content]: {
        readonly contentType: T;
        readonly body: T extends Json ? Content[T] : T extends `text/${string}` ? string : ReadableStream<Uint8Array>;
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

interface AnyInput extends Partial<Record<'path' | 'query' | 'header' | 'cookie', Readonly<Record<string, unknown>>>> {
  readonly contentType?: string;
  readonly body?: unknown;
}

/** Makes a client that sends what the document declares: media types, styles of parameters, and integers exactly. */
export function clientOf<Operations>(
  routes: { readonly [Id in keyof Operations]: Route },
  { baseUrl, headers, fetch: send = fetch }: ClientOptions,
): Client<Operations> {
  async function call(route: Route, input: AnyInput = {}, init: RequestInit = {}) {
    const { method, media } = route;
    const target = targetOf(route, input);
    const type = input.body === undefined ? undefined : (input.contentType ?? media[0]);
    const response = await send(baseUrl.replace(/\/$/, '') + target.url, {
      ...init,
      method,
      headers: {
        ...(typeof headers === 'function' ? await headers() : headers),
        // The platform adds the boundary.
        ...(type === undefined || type.startsWith('multipart/') ? {} : { 'Content-Type': type }),
        ...target.headers,
      },
      ...(type !== undefined && { body: bodyOf(type, input.body), duplex: 'half' }),
    });
    const contentType = response.headers.get('Content-Type')?.split(';')[0];
    return { status: response.status, contentType, body: await read(response, contentType), response };
  }
  const entries = Object.entries<Route>(routes).map(([id, route]) => [
    id,
    (input?: AnyInput, init?: RequestInit) => call(route, input, init),
  ]);
  return Object.fromEntries(entries);
}

function targetOf({ path, parameters }: Route, input: AnyInput) {
  let url = path.replace(/[^\w{}!$&'()*+,;=:@%./~-]+/g, encodeURIComponent);
  const headers: Record<string, string> = {};
  const query: string[] = [];
  const cookies: string[] = [];
  for (const parameter of parameters) {
    const { in: where, name } = parameter;
    const value = input[where]?.[name];
    if (value === undefined) continue;
    const text = write(parameter, value);
    if (where === 'query') query.push(text);
    else if (where === 'cookie') cookies.push(text);
    else if (where === 'header') headers[name] = text;
    // A URL without such a segment is another path.
    else if (/^\.{0,2}$/.test(text)) throw new TypeError(`the path parameter ${name} cannot be "${text}"`);
    else url = url.replaceAll(`{${name}}`, () => text);
  }
  if (cookies.length > 0) headers.Cookie = cookies.join('; ');
  return { url: query.length > 0 ? `${url}?${query.join('&')}` : url, headers };
}

type Parameter = Route['parameters'][number];

const DELIMITERS: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };
const PREFIXES: Readonly<Record<string, string>> = { label: '.', matrix: ';' };

const isList = (value: unknown): value is object => typeof value === 'object' && value !== null;
const scalar = (value: unknown): string => (isList(value) ? stringify(value) : String(value ?? ''));
/** The items of a list, or the names and values of an object, alternating. */
const flat = (value: object): string[] => (Array.isArray(value) ? value : Object.entries(value).flat()).map(scalar);

/** A parameter by its style (OpenAPI 3.1 §4.8.12.2): with its name in a query or a cookie. */
function write({ in: where, name, style, explode, json }: Parameter, value: unknown): string {
  const encode = where === 'header' ? String : encodeURIComponent;
  const prefix = PREFIXES[style] ?? '';
  const isNamed = where === 'query' || style === 'matrix';
  const label = isNamed || where === 'cookie' ? `${style === 'matrix' ? name : encode(name)}=` : '';
  if (json) return label + encode(stringify(value));
  if (!isList(value)) return prefix + label + encode(scalar(value));
  if (style === 'deepObject') return deep(name, value).join('&');
  if (!explode)
    return (
      prefix +
      label +
      flat(value)
        .map(encode)
        .join(DELIMITERS[style] ?? ',')
    );
  const parts = Array.isArray(value)
    ? value.map((item) => (isNamed ? label : '') + encode(scalar(item)))
    : Object.entries(value).flatMap(([key, inner]) =>
        (isNamed ? [inner].flat() : [inner]).map((item) => `${encode(key)}=${encode(scalar(item))}`),
      );
  return (isNamed ? '' : label) + prefix + parts.join(where === 'query' ? '&' : prefix || ',');
}

const deep = (name: string, value: object): string[] =>
  Object.entries(value).flatMap(([key, item]) => {
    const inside = `${name}[${Array.isArray(value) ? '' : key}]`;
    return isList(item) ? deep(inside, item) : [`${encodeURIComponent(inside)}=${encodeURIComponent(scalar(item))}`];
  });

function bodyOf(type: string, body: unknown): RequestInit['body'] {
  if (/\bjson\b/.test(type)) return stringify(body);
  if (type === 'multipart/form-data') {
    const form = new FormData();
    for (const [name, value] of Object.entries(Object(body))) {
      for (const item of [value].flat()) form.append(name, item instanceof Blob ? item : scalar(item));
    }
    return form;
  }
  if (type !== 'application/x-www-form-urlencoded') return body as RequestInit['body'];
  const field = { in: 'query', style: 'form', explode: true, json: false } as const;
  return Object.entries(Object(body))
    .map(([name, value]) => write({ ...field, name }, value))
    .join('&');
}

/** The value of JSON, the text of a text, or the stream of anything else. */
async function read(response: Response, type: string | undefined): Promise<unknown> {
  if (type === undefined || response.body === null) return undefined;
  if (/\bjson$/.test(type)) return JSON.parse(await response.text(), exact);
  return type.startsWith('text/') && type !== 'text/event-stream' ? response.text() : response.body;
}

declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text (ECMA-262 §25.5.3). */
    rawJSON(text: string): unknown;
  }
}

/** JSON with each `bigint` as a number. */
const stringify = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? JSON.rawJSON(String(item)) : item));

/** An integer beyond ±(2^53−1) is read as a `bigint`. */
const exact = (_key: string, value: unknown, context?: { source?: string }) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context?.source ?? '')
    : value;
