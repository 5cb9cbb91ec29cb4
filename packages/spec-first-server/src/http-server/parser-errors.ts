import type { Problem } from './problem.ts';

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
export function parserError({ code = '' }: { code?: string }, { maxHeaderSize }: { maxHeaderSize: number }): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: `the header section is too large: at most ${maxHeaderSize} bytes are accepted` };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, message: 'the chunk extensions are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'the request did not arrive in time' };
  }
  return { status: 400, message: PARSER_ERRORS[code] ?? 'the request is not HTTP/1.1 (RFC 9112)' };
}
