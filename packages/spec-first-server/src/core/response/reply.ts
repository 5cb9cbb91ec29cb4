import { Readable } from 'node:stream';
import {
  type BodyFormat,
  type Budget,
  type Codecs,
  charsetOf,
  type DeclaredResponse,
  declaredFor,
  type ItemsCoder,
  isRange,
  isSentAsItIs,
  mediaTypeFor,
  type Operation,
  writeParameter,
} from 'openapi-document';
import type { AnyReply } from '../handlers/types.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';
import type { CheckedReply } from './answer.ts';
import { isHeader } from './headers.ts';
import { InvalidReply } from './http-error.ts';
import { closeItems } from './item-body.ts';

/** Headers that frame a message: only the server sets them (RFC 9112 §6, RFC 9110 §7.6.1). */
export const FRAMING_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

type ReplyValidator = Pick<OperationValidator, 'codecs' | 'response' | 'responseHeaders'>;

/** Used for mocks that have no valid value: the document has an example of them. */
const UNCHECKED: Omit<ReplyValidator, 'codecs'> = {
  response: (_media, body) => body,
  responseHeaders: (_response, headers) => headers,
};

/**
 * Checks a reply against the document: status, headers, media type and body.
 *
 * @throws {InvalidReply} if the document does not declare such a reply.
 */
export function checkReply(
  operation: Operation,
  documentValidator: ReplyValidator,
  reply: AnyReply,
  budget?: Budget,
): CheckedReply {
  const { status } = reply;
  const validator =
    reply.unchecked === true ? { ...documentValidator, ...UNCHECKED } : documentValidator;
  try {
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new InvalidReply('the status must be an integer from 200 to 599');
    const declared = declaredFor(operation, status);
    if (declared === undefined) throw new InvalidReply('the document does not declare this status');
    const { headers: sent } = reply;
    const hasHeaders = sent !== undefined || declared.headers.length > 0;
    const headers = hasHeaders ? checkHeaders(validator, declared, sent) : undefined;
    return { status, headers, ...checkBody(validator, declared, reply, budget) };
  } catch (error) {
    // An unread stream would keep its file open.
    if (isAsyncIterable(reply.body)) closeItems(reply.body);
    const mismatch = mismatchOf(error);
    throw mismatch === undefined
      ? error
      : new InvalidReply(`${operation.id} answered ${status}: ${mismatch}`);
  }
}

export function mismatchOf(error: unknown): string | undefined {
  return error instanceof Violations || error instanceof InvalidReply ? error.message : undefined;
}

/**
 * Checks the body of a reply. Returns it as it is written, with its media type.
 *
 * @throws {InvalidReply | Violations} if it does not match the declared response.
 */
export function checkBody(
  validator: ReplyValidator,
  declared: DeclaredResponse,
  { contentType, body }: Pick<AnyReply, 'contentType' | 'body'>,
  budget?: Budget,
): Pick<CheckedReply, 'type' | 'body'> {
  if (contentType !== undefined && typeof contentType !== 'string')
    throw new InvalidReply('contentType must be a string');
  const mediaTypes = declared.media;
  const media = contentType === undefined ? mediaTypes[0] : mediaTypeFor(mediaTypes, contentType);
  if (media === undefined) {
    if (mediaTypes.length > 0)
      throw new InvalidReply(`the document does not declare ${contentType}`);
    if (body !== undefined)
      throw new InvalidReply('the document declares no body, but the reply has one');
    return {};
  }
  if (contentType === undefined && mediaTypes.length > 1) {
    throw new InvalidReply('contentType must be one of the declared media types');
  }
  if (body === undefined)
    throw new InvalidReply('the document declares a body, but the reply has none');
  const chosen = contentType ?? media.type;
  if (isRange(chosen))
    throw new InvalidReply(`contentType must be a media type in the range ${chosen}`);
  if (!isHeader('content-type', chosen))
    throw new InvalidReply('contentType is not a valid header');
  // Each item has steps of its own.
  const check: Check = (value, index) =>
    validator.response(media, value, index === undefined ? budget : undefined);
  return writeBody(validator.codecs, media, chosen, body, check);
}

/** Returns a value, or the item with an index, as it is written. @throws {Violations} */
type Check = (value: unknown, index?: number) => unknown;

/**
 * Writes a body by the codec of its media type.
 *
 * @param check by default, all values are valid.
 * @throws {InvalidReply} for a body that the media type cannot represent.
 */
export function writeBody(
  codecs: Codecs,
  format: BodyFormat,
  contentType: string,
  body: unknown,
  check: Check = (value) => value,
): Pick<CheckedReply, 'type' | 'body'> {
  const type = /^text\/[^;]+$/i.test(contentType) ? `${contentType}; charset=utf-8` : contentType;
  const coder = codecs.of(format, type);
  if (coder.unit === 'items') return itemsOf(check, format, coder, type, body);
  if (coder.unit === 'value' && !isSentAsItIs(coder, body)) {
    const value = check(body);
    try {
      const written = coder.write(value, format);
      return { type, body: typeof written === 'string' ? inCharset(type, written) : written };
    } catch (error) {
      throw error instanceof TypeError ? new InvalidReply(error.message) : error;
    }
  }
  if (coder.acceptsStreams || isRange(format.type)) {
    if (typeof body === 'string') check(body);
    else if (format.outline?.restrictsBytes) {
      throw new InvalidReply(
        `a body of ${format.type} must be a string, so that it can be checked against the schema`,
      );
    }
  }
  return { type, body: writeBytes(format, type, body) };
}

/**
 * Returns the text, which is sent as UTF-8.
 *
 * @throws {InvalidReply} if the media type has another charset, unless the bytes are the same.
 */
function inCharset(type: string, text: string): string {
  const charset = type.includes(';') ? charsetOf(type) : undefined;
  if (charset === undefined) return text;
  if (/^utf-?8$/.test(charset)) return text;
  // ASCII has the same bytes in most other charsets, but not in UTF-16 and UTF-32.
  const isAscii = Buffer.byteLength(text) === text.length;
  if (isAscii && !/^(utf|ucs)/.test(charset)) return text;
  throw new InvalidReply(
    `a string is written as UTF-8, not ${charset}: use bytes, or charset=utf-8 in contentType`,
  );
}

function itemsOf(check: Check, media: BodyFormat, coder: ItemsCoder, type: string, items: unknown) {
  if (!isAsyncIterable(items))
    throw new InvalidReply(`a body of ${media.type} must be an AsyncIterable of its items`);
  const message = { format: media, contentType: coder.contentType?.(type) ?? type };
  const write = (item: unknown, index: number) => {
    try {
      const value = check(item, index);
      if (value === undefined) throw new InvalidReply('must not be undefined');
      const chunk = coder.write(value, message, index);
      return typeof chunk === 'string' ? inCharset(type, chunk) : chunk;
    } catch (error) {
      const mismatch = error instanceof TypeError ? error.message : mismatchOf(error);
      if (mismatch === undefined) throw error;
      throw new InvalidReply(`item ${index} of the body: ${mismatch}`);
    }
  };
  const end = coder.end?.(message) ?? '';
  return { type: message.contentType, body: { items, write, end, comment: coder.comment } };
}

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Returns text and bytes as they are, and a stream of them. */
function writeBytes(media: BodyFormat, type: string, body: unknown): CheckedReply['body'] {
  if (typeof body === 'string') return inCharset(type, body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  const stream = body instanceof Blob ? body.stream() : body;
  const items = stream instanceof ReadableStream ? Readable.fromWeb(stream) : stream;
  if (items instanceof Readable) {
    const writeChunk = (chunk: unknown) => chunkOf(type, chunk);
    return { items, areChunks: true, write: writeChunk, end: '', comment: undefined };
  }
  throw new InvalidReply(
    `a body of ${media.type} must be a string, a Uint8Array, an ArrayBuffer, a Blob, ` +
      'a Readable or a ReadableStream',
  );
}

function chunkOf(type: string, chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string') return inCharset(type, chunk);
  if (chunk instanceof Uint8Array) return chunk;
  throw new InvalidReply('a stream must yield strings or bytes');
}

/**
 * Validates the declared headers, and serializes them. Headers that are `undefined` or `null` are
 * not sent. If two names differ only in case, the last one is sent.
 */
function checkHeaders(
  validator: ReplyValidator,
  declared: DeclaredResponse,
  headers: AnyReply['headers'],
): CheckedReply['headers'] {
  const isDeclared = declared.headers.length > 0;
  // `Headers` and a `Map` have no properties, so their headers would be lost.
  if (typeof (headers ?? {}) !== 'object' || Symbol.iterator in (headers ?? {})) {
    throw new InvalidReply(
      'headers must be an object by name, such as Object.fromEntries(headers)',
    );
  }
  const present = Object.entries(headers ?? {}).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  const names = new Map(present.map(([name]) => [name.toLowerCase(), name]));
  const sources = Object.fromEntries(present.map(([name, value]) => [name.toLowerCase(), value]));
  const values = isDeclared ? validator.responseHeaders(declared, sources) : {};
  const written: Record<string, string | string[]> = {};
  for (const [lower, name] of names) {
    if (FRAMING_HEADERS.has(lower))
      throw new InvalidReply(`the header ${name} is set by the server only`);
    const header = declared.headers.find((each) => each.name === lower);
    const value = header === undefined ? sources[lower] : values[lower];
    if (value === undefined) continue;
    const writeValue = (each: unknown) =>
      header === undefined ? String(each) : writeParameter(header, each);
    // The values of `Set-Cookie` cannot be joined (RFC 9110 §5.3).
    written[name] =
      lower === 'set-cookie' && Array.isArray(value) ? value.map(writeValue) : writeValue(value);
    if (!isHeader(name, written[name]))
      throw new InvalidReply(`the header ${name} contains an invalid character`);
  }
  return written;
}
