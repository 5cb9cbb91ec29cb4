import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response sent in place of the one that was asked for. */
export interface HttpFailure {
  /** A status of HTTP from 400 to 599. */
  readonly status: number;
  /** For the client. */
  readonly message: string;
  /** Each item of an array is sent as a separate line, as `Set-Cookie` needs (RFC 9110 §5.3). */
  readonly headers?: HeaderValues | undefined;
  /** Logged instead of a message that quotes data of the client. By default the message. */
  readonly reason?: string | undefined;
  /** For the log only. */
  readonly cause?: unknown;
  /**
   * True if the log line of the response is not an error, such as for a 503 while the service
   * stops.
   */
  readonly expected?: boolean | undefined;
}

/** Headers by name. */
export type HeaderValues = Readonly<Record<string, string | number | readonly string[]>>;

/** A response of a server that may reject a request while its app handles it. */
export interface RejectableResponse extends ServerResponse {
  /** Set when the server sends another response than the app, or closes the connection. */
  failure?: HttpFailure;
}

/** The maximum total size of a request's target, header names and header values, in bytes. */
export const MAX_HEADER_SIZE = 16_384;

/**
 * The maximum number of headers that Node reads. Node drops further headers silently, so a request
 * with this many is rejected.
 */
export const MAX_HEADERS = 200;

/** A host with an optional port (RFC 3986 §3.2.2). The host may be empty (RFC 9112 §3.2). */
const HOST = /^(?:\[[\da-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** A target in absolute form, up to its path (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#@]+)(?=[/?#]|$)/i;

const badRequest = (message: string): HttpFailure => ({ status: 400, message });

const HEADER_OVERFLOW: HttpFailure = {
  status: 431,
  message:
    `the header section must have at most ${MAX_HEADER_SIZE} bytes ` +
    `and ${MAX_HEADERS - 1} headers`,
};

/**
 * Returns the failure of a request that Node's parser accepts, but the app must not get. Removes
 * the origin from a target in absolute form.
 */
export function requestFailure(request: IncomingMessage): HttpFailure | undefined {
  const { httpVersion, headers, rawHeaders, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return badRequest('the version of HTTP must be 1.0 or 1.1 (RFC 9112 §2.3)');
  // Node may have dropped further headers, such as Content-Length.
  if (rawHeaders.length >= 2 * MAX_HEADERS) return HEADER_OVERFLOW;
  // By default, Node drops a second host, authorization or content-type.
  const isHost = headers.host === undefined ? httpVersion === '1.0' : HOST.test(headers.host);
  if (!isHost || isRepeated(rawHeaders, 'host')) {
    return badRequest('the header host must come once, as host or host:port (RFC 9112 §3.2)');
  }
  // Programs differ in the path that they read from such a target.
  if (url.includes('#')) return badRequest('the target must not have a fragment (RFC 9112 §3.2)');
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    const [origin = '', host = ''] = ORIGIN.exec(url) ?? [];
    if (origin === '' || !HOST.test(host))
      return badRequest('the target must be a path or http://host/path (RFC 9112 §3.2)');
    const path = url.slice(origin.length);
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  if (headers.authorization !== undefined && isRepeated(rawHeaders, 'authorization'))
    return badRequest('the header authorization must come once');
  if (headers['content-type'] !== undefined && isRepeated(rawHeaders, 'content-type'))
    return badRequest('the header content-type must come once');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return badRequest(
      'the transfer coding must be chunked only, which needs HTTP/1.1 (RFC 9112 §6.1)',
    );
  }
  return undefined;
}

/** Names and values alternate in `rawHeaders`. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const text = rawHeaders[index];
    if (text?.length === name.length && text.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** The failures of bytes that are not a valid request, by the codes of Node's errors (RFC 9112). */
const PARSER_FAILURES: Readonly<Record<string, HttpFailure>> = {
  HPE_HEADER_OVERFLOW: HEADER_OVERFLOW,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
  HPE_INVALID_METHOD: badRequest(
    'the request line must begin with a method of HTTP in capitals (RFC 9112 §3.1)',
  ),
  HPE_INVALID_URL: badRequest('the request target must be percent-encoded (RFC 9112 §3.2)'),
  HPE_INVALID_VERSION: badRequest('the version of HTTP must be 1.0 or 1.1 (RFC 9112 §2.3)'),
  HPE_INVALID_HEADER_TOKEN: badRequest(
    'a header must be a name, a colon and visible characters (RFC 9112 §5)',
  ),
  HPE_INVALID_CONTENT_LENGTH: badRequest(
    'Content-Length must be a number, without Transfer-Encoding (RFC 9112 §6)',
  ),
  HPE_UNEXPECTED_CONTENT_LENGTH: badRequest(
    'Content-Length must come once, without Transfer-Encoding (RFC 9112 §6)',
  ),
  HPE_INVALID_TRANSFER_ENCODING: badRequest(
    'the transfer coding must be chunked, without Content-Length (RFC 9112 §6.1)',
  ),
  HPE_INVALID_CHUNK_SIZE: badRequest(
    'a chunk must begin with its size in hex digits (RFC 9112 §7.1)',
  ),
  HPE_INVALID_EOF_STATE: badRequest('the request was cut off'),
};

export const parserFailure = (code: string): HttpFailure =>
  PARSER_FAILURES[code] ?? badRequest('the request is not HTTP/1.1 (RFC 9112)');
