import { Violations } from './contract/validator.ts';
import { BrokenReply, Failure } from './failure.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** What clients learn of a failure. */
export interface ClientError {
  /** An HTTP status code from 400 to 599: the one that says most precisely what failed. */
  readonly status: number;
  /** What was wrong and what would be right. */
  readonly message: string;
}

/**
 * The body of every failure, in the form that the document gives its errors. A team whose document has another form
 * edits this function; the start proves that what it makes is what the document declares.
 */
export const errorBody = ({ status, message }: ClientError): unknown => ({ error: status, message });

/** The media type of `errorBody`, where the document does not declare another. */
export const ERROR_MEDIA_TYPE = 'application/json';

/** Any error as the failure that a client is told of. What is not known becomes 500, its cause for the log alone. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Violations) return Failure.violations(error.violations);
  return refusedByExpress(error) ?? internal(error);
}

/** A failure of the service itself: the client learns that it happened, the log why. */
export const internal = (cause: unknown): Failure =>
  new Failure(
    500,
    cause instanceof BrokenReply
      ? 'the service made a reply that its contract does not declare'
      : 'the service failed; the fault is not in the request',
    { cause },
  );

/** What Express says of a request for a file, by its status; the rest of what it refuses is a bad request. */
const FILE_FAILURES: Readonly<Record<number, string>> = {
  404: 'there is nothing at this path',
  412: 'the condition of the request does not hold (RFC 9110 §13.1)',
  416: 'the range is not within the file (RFC 9110 §14.1.1)',
};

/** What Express and its parts refuse: errors with a `status` (http-errors). */
function refusedByExpress(error: unknown): Failure | undefined {
  if (!(error instanceof Error && 'status' in error)) return undefined;
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  const message = FILE_FAILURES[status];
  return message === undefined ? new Failure(400, 'the request cannot be understood') : new Failure(status, message);
}

/** What Node's HTTP parser says of bytes that are no request (RFC 9112, RFC 6585 §5), by its code. */
const PARSER_FAILURES: Readonly<Record<string, string>> = {
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
export function parserError(
  { code = '' }: { code?: string },
  { maxHeaderSize }: { maxHeaderSize: number },
): ClientError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: `the header section is too large: at most ${maxHeaderSize} bytes are accepted` };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, message: 'the chunk extensions are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'the request did not arrive in time' };
  }
  return { status: 400, message: PARSER_FAILURES[code] ?? 'the request is not HTTP/1.1 (RFC 9112)' };
}

/** A whole HTTP response, for a connection that has no other way to answer. */
export function rawResponse(error: ClientError, headers: Readonly<Record<string, string>> = {}): string {
  const text = JSON.stringify(errorBody(error));
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    `Content-Type: ${ERROR_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    text,
  ].join('\r\n');
}
