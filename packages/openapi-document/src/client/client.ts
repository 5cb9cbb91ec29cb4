import type { Codec } from '../codecs/codec.ts';
import { Codecs } from '../codecs/codecs.ts';
import { declaredFor } from '../operations/declared-for.ts';
import { baseUrlFor } from '../operations/servers.ts';
import { essenceOf, isJsonType, mediaTypeFor } from '../source/media-types.ts';
import { encodeBody, readBody, withDoubles } from './body.ts';
import { itemsOf } from './items.ts';
import { type ParameterInput, writeParameters } from './parameters.ts';
import type { Route } from './routes.ts';
import { responseTo } from './send.ts';
import type { CallOptions, Client } from './types.ts';

export { type Codec, UnreadableBody } from '../codecs/codec.ts';
export { baseUrlFor } from '../operations/servers.ts';
export { encodeBody } from './body.ts';
export { writeParameters } from './parameters.ts';
export { type Route, routesOf } from './routes.ts';
export type {
  CallOptions,
  Client,
  EventsType,
  Flat,
  FormType,
  Get,
  StatusRanges,
} from './types.ts';
// TypeScript merges declarations of `ValueTypes` only through `export *`.
export * from './value-types.ts';

/** The options of `clientOf`, and of `createClient` of a generated client. */
export interface ClientOptions extends Pick<CallOptions, 'timeout' | 'retries' | 'reconnect'> {
  /**
   * The URL that the paths of the document are appended to. For an operation with servers of its
   * own, their path replaces that of the document. Their host does not replace that of the URL.
   */
  readonly baseUrl: string;
  /** Headers of all requests, such as `Authorization`. A function is called for each request. */
  readonly headers?:
    | HeaderRecord
    | ((operationId: string, input: AnyInput) => Promise<HeaderRecord>);
  /** By default the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Formats of bodies besides those of OpenAPI, such as CBOR. */
  readonly codecs?: readonly Codec[];
}

type HeaderRecord = Readonly<Record<string, string>>;

interface AnyInput extends ParameterInput {
  readonly contentType?: string;
  readonly body?: unknown;
}

/** Creates a client with a function for each operation. It also runs in browsers. */
export function clientOf<Operations>(
  routes: { readonly [Id in keyof Operations]: Route },
  { baseUrl, headers, fetch: send = fetch, codecs: own, ...defaults }: ClientOptions,
): Client<Operations> {
  const codecs = new Codecs(own);
  const callOf =
    (id: string, route: Route) =>
    async (input: AnyInput = {}, options: CallOptions = {}) => {
      const { timeout, retries = 0, reconnect = true, ...init } = { ...defaults, ...options };
      const { method, media } = route;
      const written = writeParameters(route, input);
      const base = baseUrlFor(baseUrl, route.serverPath);
      const url = (route.path === '' ? base : base.replace(/\/$/, '')) + written.url;
      const type = input.body === undefined ? undefined : (input.contentType ?? media[0]?.type);
      const declared = media.find((format) => format.type === type);
      const sent = type && (await encodeBody(codecs, declared ?? { type }, input.body));
      const headersWith = async (others: HeaderRecord = {}): Promise<HeaderRecord> => ({
        ...(typeof headers === 'function' ? await headers(id, input) : headers),
        ...(sent && { 'Content-Type': sent.contentType }),
        ...written.headers,
        ...others,
      });
      const request = async (
        allHeaders: HeaderRecord | Headers,
        signal: AbortSignal | null | undefined,
      ) =>
        send(url, {
          ...init,
          ...(signal && { signal }),
          method,
          headers: allHeaders,
          ...(sent && { body: sent.body, duplex: 'half' }),
        });
      const isRepeatable = /^(GET|HEAD|OPTIONS|TRACE|QUERY|PUT|DELETE)$/.test(method);
      const isSentOnce = !isRepeatable || (sent && sent.body instanceof ReadableStream);
      const { response, end } = await responseTo(
        async (signal) => request(await headersWith(), signal),
        {
          signal: init.signal,
          timeout,
          retries: isSentOnce ? 0 : retries,
        },
      );
      const header = response.headers.get('Content-Type');
      const contentType = header === null ? undefined : essenceOf(header);
      const declaredMedia = declaredFor(route, response.status)?.media ?? [];
      const format = mediaTypeFor(declaredMedia, header ?? '') ?? { type: contentType ?? '' };
      await codecs.load([format]);
      const coder = codecs.of(format);
      if (coder.unit !== 'items') {
        const hasBody = contentType !== undefined && response.body !== null;
        const reading = hasBody ? readBody(coder, format, response) : undefined;
        const value = await Promise.resolve(reading).finally(end);
        const hasDoubles = route.int64 !== true && isJsonType(contentType ?? '');
        const body = hasDoubles ? withDoubles(value) : value;
        return { status: response.status, contentType, body, response };
      }
      end();
      const reconnects = reconnect && contentType === 'text/event-stream' && method === 'GET';
      const reopen = async (others: HeaderRecord) => {
        // A header that cannot be sent is no lost connection.
        const allHeaders = new Headers(await headersWith(others));
        return request(allHeaders, init.signal).catch(() => undefined);
      };
      const body = itemsOf(response, coder, format, init.signal, reconnects ? reopen : undefined);
      return { status: response.status, contentType, body, response };
    };
  const calls = Object.entries<Route>(routes).map(([id, route]) => [id, callOf(id, route)]);
  return Object.fromEntries(calls);
}
