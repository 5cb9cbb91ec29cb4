import type { IncomingMessage } from 'node:http';
import type { Problem } from './options.ts';

/** A host and a port (RFC 3986 §3.2.2); an empty one is allowed (RFC 9112 §3.2). */
const HOST = /^(?:\[[\da-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** A target in absolute form, up to its path (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#@]+)(?=[/?#]|$)/i;

/**
 * What is wrong with a request that Node's parser accepts. The target becomes a path with its query: without the origin
 * of an absolute form, and without a fragment, which is never sent (RFC 9110 §7.1).
 */
export function faultOf(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('the version of HTTP must be 1.1 (RFC 9112 §2.3)');
  if (headers.host === undefined ? httpVersion === '1.1' : !HOST.test(headers.host)) {
    return fault('the header host must come once, as host or host:port (RFC 9112 §3.2)');
  }
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    const [origin = '', host = ''] = ORIGIN.exec(url) ?? [];
    if (origin === '' || !HOST.test(host))
      return fault('the target must be a path or http://host/path (RFC 9112 §3.2)');
    const path = url.slice(origin.length);
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  // Express would parse such a target in a way that can fail before any of its handlers runs.
  if (url.includes('#')) request.url = request.url?.replace(/#.*/s, '');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return fault('the transfer coding must be chunked alone, in HTTP/1.1 (RFC 9112 §6.1)');
  }
  return undefined;
}

const fault = (message: string): Problem => ({ status: 400, message });

/** Node's codes for bytes that are not a request, in words (RFC 9112). */
const PARSER_ERRORS: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'the request line must begin with a method of HTTP in capitals (RFC 9112 §3.1)',
  HPE_INVALID_URL: 'the request target must be percent-encoded (RFC 9112 §3.2)',
  HPE_INVALID_VERSION: 'the version of HTTP must be 1.1 (RFC 9112 §2.3)',
  HPE_INVALID_HEADER_TOKEN: 'a header must be a name, a colon and visible characters (RFC 9112 §5)',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length must be a number, without Transfer-Encoding (RFC 9112 §6)',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Content-Length must come once, without Transfer-Encoding (RFC 9112 §6)',
  HPE_INVALID_TRANSFER_ENCODING: 'the transfer coding must be chunked, without Content-Length (RFC 9112 §6.1)',
  HPE_INVALID_CHUNK_SIZE: 'a chunk must begin with its size in hex digits (RFC 9112 §7.1)',
  HPE_INVALID_EOF_STATE: 'the request was cut off',
};

/** What the client learns of bytes that never became a request. */
export function parserError(code: string, maxHeaderSize: number): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: `the header section is too large: at most ${maxHeaderSize} bytes are accepted` };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, message: 'the chunk extensions are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'the request did not arrive in time' };
  }
  return fault(PARSER_ERRORS[code] ?? 'the request is not HTTP/1.1 (RFC 9112)');
}
