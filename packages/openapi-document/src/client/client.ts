import { essenceOf, mediaTypeFor } from '../document/media-types.ts';
import { encodeBody, readBody } from './body.ts';
import { itemsOf } from './items.ts';
import { type ParameterInput, writeParameters } from './parameters.ts';
import type { Route } from './routes.ts';
import { responseTo } from './send.ts';
import type { CallOptions, Client } from './types.ts';

export { encodeBody } from './body.ts';
export { isSendable, writeParameters } from './parameters.ts';
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

interface AnyInput extends ParameterInput {
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
      written.verify();
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
