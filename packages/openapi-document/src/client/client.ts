import type { Operation } from '../document/operations.ts';
import { parseJson, stringifyJson } from '../json/exact.ts';
import { type Styled, writeForm, writeParameter } from '../parameters/write-parameter.ts';
import { readItems, type Stream, UnreadableItem } from '../sequences/read-items.ts';
import type { Client, StatusRanges } from './types.ts';

export type { Client, StatusRanges };

/** How an operation is called, as its document says. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** The media types of its body, as the document declares them. */
  readonly media: readonly string[];
  readonly parameters: readonly Styled[];
  /** The media types of its replies that are streams of items. */
  readonly streams?: Readonly<Record<string, Stream>>;
}

/** How each operation is called, for a client, by its operationId. */
export const routesOf = <Id extends PropertyKey = string>(operations: readonly Operation[]) =>
  Object.fromEntries(
    operations
      .filter(({ template }) => template.isReachable)
      .map(({ id, method, path, parameters, requestBody, responses }): [string, Route] => {
        const streams = responses
          .flatMap(({ media }) => media)
          .flatMap(({ type, sequence, items }) => (items ? [[type, { sequence, items: { data: items.data } }]] : []));
        return [
          id,
          {
            method: method.toUpperCase(),
            path,
            media: (requestBody?.media ?? []).map(({ type }) => type),
            parameters: parameters.map(({ in: where, name, style, explode, json, allowReserved, media }) => ({
              ...{ in: where, name, style, explode, json },
              ...(allowReserved && { allowReserved }),
              ...(style === 'querystring' && media && { media: { kind: media.kind } }),
            })),
            ...(streams.length > 0 && { streams: Object.fromEntries(streams) }),
          },
        ];
      }),
  ) as { readonly [Key in Id]: Route };

export interface ClientOptions {
  /** Where the document's paths begin. */
  readonly baseUrl: string;
  /** Headers of each request, such as `Authorization`. A function is called for each request, with what it sends. */
  readonly headers?: Headers | ((operationId: string, input: AnyInput) => Promise<Headers>);
  /** By default `fetch` of the platform. */
  readonly fetch?: typeof fetch;
}

type Headers = Readonly<Record<string, string>>;

export interface AnyInput extends Partial<Record<Styled['in'], Readonly<Record<string, unknown>>>> {
  readonly contentType?: string;
  readonly body?: unknown;
}

/**
 * Makes a client that sends what the document declares: media types, styles of parameters, and integers exactly. It runs in
 * browsers, too.
 */
export function clientOf<Operations>(
  routes: { readonly [Id in keyof Operations]: Route },
  { baseUrl, headers, fetch: send = fetch }: ClientOptions,
): Client<Operations> {
  const callOf =
    (id: string, route: Route) =>
    async (input: AnyInput = {}, init: RequestInit = {}) => {
      const { method, media, streams = {} } = route;
      const target = targetOf(route, input);
      const type = input.body === undefined ? undefined : (input.contentType ?? media[0]);
      const request = async (more: Headers = {}) =>
        send((route.path === '' ? baseUrl : baseUrl.replace(/\/$/, '')) + target.url, {
          ...init,
          method,
          headers: {
            ...(typeof headers === 'function' ? await headers(id, input) : headers),
            // The platform adds the boundary.
            ...(type === undefined || type.startsWith('multipart/') ? {} : { 'Content-Type': type }),
            ...target.headers,
            ...more,
          },
          ...(type !== undefined && { body: bodyOf(type, input.body), duplex: 'half' }),
        });
      const response = await request();
      const contentType = response.headers.get('Content-Type')?.split(';')[0];
      const stream = contentType === undefined ? undefined : streams[contentType];
      const again = stream?.sequence === 'events' && method === 'GET' ? request : undefined;
      const body = stream ? itemsOf(response, stream, init.signal, again) : await read(response, contentType);
      return { status: response.status, contentType, body, response };
    };
  const calls = Object.entries<Route>(routes).map(([id, route]) => [id, callOf(id, route)]);
  return Object.fromEntries(calls);
}

/** The path and query of a call, and the headers that its parameters are. */
export function targetOf({ path, parameters }: Pick<Route, 'path' | 'parameters'>, input: AnyInput) {
  let url = path.replace(/[^\w{}!$&'()*+,;=:@%./~-]+/g, encodeURIComponent);
  const headers: Record<string, string> = {};
  const query: string[] = [];
  const cookies: string[] = [];
  for (const parameter of parameters) {
    const { in: where, name } = parameter;
    const value = input[where]?.[name];
    if (value === undefined) continue;
    const text = writeParameter(parameter, value);
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

/** A body in a media type: JSON, a form, or what the platform sends as it is. */
export function bodyOf(type: string, body: unknown): RequestInit['body'] {
  if (/\bjson\b/.test(type)) return stringifyJson(body);
  if (type === 'application/x-www-form-urlencoded') return writeForm(Object(body));
  if (type !== 'multipart/form-data') return body as RequestInit['body'];
  const form = new FormData();
  for (const [name, value] of Object.entries(Object(body))) {
    for (const item of [value].flat()) {
      form.append(name, item instanceof Blob || typeof item === 'string' ? item : (stringifyJson(item) ?? ''));
    }
  }
  return form;
}

async function read(response: Response, type: string | undefined): Promise<unknown> {
  if (type === undefined || response.body === null) return undefined;
  if (/\bjson$/.test(type)) return parseJson(await response.text());
  return type.startsWith('text/') && type !== 'text/event-stream' ? response.text() : response.body;
}

/**
 * The items of a stream. A stream of events with ids goes on behind the last one when it ends or the connection is lost, as
 * that of an `EventSource` (HTML §9.2), until the service answers with another status than 200 or the signal is aborted.
 */
async function* itemsOf(
  first: Response,
  { sequence, items }: Stream,
  signal: AbortSignal | null | undefined,
  again: ((headers: Headers) => Promise<Response>) | undefined,
): AsyncGenerator<unknown> {
  let response: Response | undefined = first;
  let last: string | undefined;
  let pause = 1_000;
  while (response?.status === first.status) {
    const type = response.headers.get('Content-Type') ?? '';
    try {
      for await (const item of readItems({ sequence, items }, type, chunksOf(response.body), Infinity)) {
        const { id, retry } = Object(item);
        last = id ?? last;
        pause = retry ?? pause;
        yield item;
      }
    } catch (error) {
      if (error instanceof UnreadableItem || last === undefined || again === undefined || signal?.aborted) throw error;
    }
    if (last === undefined || again === undefined) return;
    do {
      await delay(pause, signal);
      response = await again({ 'Last-Event-ID': last }).catch(() => undefined);
    } while (response === undefined || response.status >= 500);
  }
}

async function* chunksOf(body: Response['body']): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

const delay = (milliseconds: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
