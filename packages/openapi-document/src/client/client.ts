import { encodedPath } from '../document/document.ts';
import { essenceOf, mediaTypeFor } from '../document/media-types.ts';
import { type Styled, writeParameter } from '../parameters/write-parameter.ts';
import { encodeBody, readBody } from './body.ts';
import { itemsOf } from './items.ts';
import type { Route } from './routes.ts';
import { responseTo } from './send.ts';
import type { CallOptions, Client } from './types.ts';

export { encodeBody } from './body.ts';
export { type Route, routesOf } from './routes.ts';
export type { CallOptions, Client, Flat, FormType, Get, JsonType, StatusRanges } from './types.ts';

export interface ClientOptions extends Pick<CallOptions, 'timeout' | 'retries' | 'reconnect'> {
  /** The URL that the paths of the document are appended to. */
  readonly baseUrl: string;
  /** Headers of all requests, such as `Authorization`. A function is called for each request. */
  readonly headers?:
    | HeaderRecord
    | ((operationId: string, input: AnyInput) => Promise<HeaderRecord>);
  /** By default the global `fetch`. */
  readonly fetch?: typeof fetch;
}

type HeaderRecord = Readonly<Record<string, string>>;

interface AnyInput extends Partial<Record<Styled['in'], Readonly<Record<string, unknown>>>> {
  readonly contentType?: string;
  readonly body?: unknown;
}

/** Creates a client with a function for each operation. It also runs in browsers. */
export function clientOf<Operations>(
  routes: { readonly [Id in keyof Operations]: Route },
  { baseUrl, headers, fetch: send = fetch, ...defaults }: ClientOptions,
): Client<Operations> {
  const callOf =
    (id: string, route: Route) =>
    async (input: AnyInput = {}, options: CallOptions = {}) => {
      const { timeout, retries = 0, reconnect = true, ...init } = { ...defaults, ...options };
      const { method, media, streams } = route;
      const written = writeParameters(route, input);
      const url = (route.path === '' ? baseUrl : baseUrl.replace(/\/$/, '')) + written.url;
      const type = input.body === undefined ? undefined : (input.contentType ?? media[0]?.type);
      const encoding = media.find((declared) => declared.type === type)?.encoding;
      const sentBody = type && encodeBody(type, input.body, encoding);
      // `fetch` sets the Content-Type of a form, since it chooses the boundary.
      const hasType = type !== undefined && !(sentBody instanceof FormData);
      const request = async (
        signal: AbortSignal | null | undefined,
        extraHeaders: HeaderRecord = {},
      ) =>
        send(url, {
          ...init,
          ...(signal && { signal }),
          method,
          headers: {
            ...(typeof headers === 'function' ? await headers(id, input) : headers),
            ...(hasType && { 'Content-Type': type }),
            ...written.headers,
            ...extraHeaders,
          },
          ...(type !== undefined && { body: sentBody, duplex: 'half' }),
        });
      const isRepeatable = /^(GET|HEAD|OPTIONS|TRACE|QUERY|PUT|DELETE)$/.test(method);
      const isSentOnce = !isRepeatable || input.body instanceof ReadableStream;
      const { response, end } = await responseTo(request, {
        signal: init.signal,
        timeout,
        retries: isSentOnce ? 0 : retries,
      });
      const header = response.headers.get('Content-Type');
      const contentType = header === null ? undefined : essenceOf(header);
      const stream = mediaTypeFor(streams, header ?? '');
      if (stream === undefined) {
        const body = await readBody(response, contentType).finally(end);
        return { status: response.status, contentType, body, response };
      }
      end();
      const reconnects = reconnect && stream.sequence === 'events' && method === 'GET';
      const reopen = reconnects ? (extra: HeaderRecord) => request(init.signal, extra) : undefined;
      const body = itemsOf(response, stream, init.signal, reopen);
      return { status: response.status, contentType, body, response };
    };
  const calls = Object.entries<Route>(routes).map(([id, route]) => [id, callOf(id, route)]);
  return Object.fromEntries(calls);
}

/** Serializes the parameters of a call. Returns the path with the query, and the headers. */
export function writeParameters(
  { path, parameters }: Pick<Route, 'path' | 'parameters'>,
  input: AnyInput,
) {
  let url = encodedPath(path);
  const headers: Record<string, string> = {};
  const query: string[] = [];
  const cookies: string[] = [];
  for (const parameter of parameters) {
    const { in: where, name } = parameter;
    const values = input[where] ?? {};
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) continue;
    const text = writeParameter(parameter, value);
    // An empty array or object with `explode` is not sent.
    if (text === '' && (where === 'query' || where === 'cookie')) continue;
    if (where === 'query') query.push(text);
    else if (where === 'cookie') cookies.push(text);
    else if (where === 'header') headers[name] = text;
    // URL parsers remove the segments `.` and `..`, so the request would have another path.
    else if (/^\.{0,2}$/.test(text))
      throw new TypeError(`the path parameter ${name} cannot be "${text}"`);
    else url = url.replaceAll(encodedPath(`{${name}}`), () => text);
  }
  if (cookies.length > 0) headers.Cookie = cookies.join('; ');
  return { url: query.length > 0 ? `${url}?${query.join('&')}` : url, headers };
}
