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
  type Json,
  mediaTypeFor,
  type Operation,
  type Parameter,
  writeParameter,
} from 'openapi-document';
import type { AnyReply } from '../handlers/types.ts';
import type { Check, OperationValidator } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';
import type { CheckedReply } from './answer.ts';
import { FRAMING_HEADERS, isHeader, SERVER_HEADERS } from './headers.ts';
import { InvalidReply } from './http-error.ts';
import { closeItems, streamHeaders } from './item-body.ts';

type ReplyValidator = Pick<OperationValidator, 'codecs' | 'response' | 'responseHeaders'>;

/** A body as it is written. */
export type WrittenBody = Pick<CheckedReply, 'type' | 'body' | 'items'>;

/** Checks a body, and returns it as it is written. @throws {InvalidReply | Violations} */
type WriteBody = (body: unknown, budget?: Budget) => WrittenBody;

/** The way to check and write replies with one status and media type. */
interface ReplyPlan {
  readonly declared: DeclaredResponse;
  readonly writeBody: WriteBody;
}

/**
 * Checks a reply, and returns it as it is written.
 *
 * @param defaults the headers that are sent unless the reply has others of the same names. Names
 *   and values alternate.
 * @throws {InvalidReply | Violations} if the document does not declare such a reply.
 */
type WriteReply = (reply: AnyReply, budget?: Budget, defaults?: readonly string[]) => CheckedReply;

/**
 * Returns the function that checks the replies of an operation against the document: status,
 * headers, media type and body. It closes the streams of those that it rejects.
 */
export function replyWriter(operation: Operation, validator: ReplyValidator): WriteReply {
  /** By status, and by the declared media type that the reply chooses. */
  const plans = new Map<number | string, ReplyPlan>();

  function planOf({ status, contentType }: AnyReply): ReplyPlan {
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new InvalidReply('the status must be an integer from 200 to 599');
    if (contentType !== undefined && typeof contentType !== 'string')
      throw new InvalidReply('contentType must be a string');
    const key = contentType === undefined ? status : `${status} ${contentType}`;
    const existing = plans.get(key);
    if (existing !== undefined) return existing;
    const declared = declaredFor(operation, status);
    if (declared === undefined) throw new InvalidReply('the document does not declare this status');
    const plan = { declared, writeBody: declaredBody(validator, declared, contentType) };
    const isDeclared = declared.media.some(({ type }) => type === contentType);
    if (isDeclared || contentType === undefined) plans.set(key, plan);
    return plan;
  }

  return (reply, budget, defaults = []) => {
    const { status, headers, body } = reply;
    try {
      const { declared, writeBody } = planOf(reply);
      const written = writeBody(body, budget);
      if (headers === undefined && declared.headers.length === 0) return { status, ...written };
      const added = streamHeaders(written.items);
      const others = added.length > 0 ? [...defaults, ...added] : defaults;
      return { status, headers: checkHeaders(validator, declared, headers, others), ...written };
    } catch (error) {
      // An unread stream would keep its file open.
      if (isAsyncIterable(body)) closeItems(body);
      const violation = violationOf(error);
      throw violation === undefined
        ? error
        : new InvalidReply(violation, `${operation.id} responded with ${status}: `);
    }
  };
}

export function violationOf(error: unknown): string | undefined {
  if (error instanceof InvalidReply) return error.violation;
  return error instanceof Violations ? error.message : undefined;
}

/**
 * Returns the function that checks and writes the bodies of a declared response.
 *
 * @throws {InvalidReply} if the response does not have the media type.
 */
export function declaredBody(
  validator: ReplyValidator,
  { media: mediaTypes }: DeclaredResponse,
  contentType?: string,
): WriteBody {
  const media = contentType === undefined ? mediaTypes[0] : mediaTypeFor(mediaTypes, contentType);
  if (media === undefined) {
    if (mediaTypes.length > 0)
      throw new InvalidReply(`the document does not declare ${contentType}`);
    return (body) => {
      if (body === undefined) return {};
      throw new InvalidReply('the document declares no body, but the reply has one');
    };
  }
  if (contentType === undefined && mediaTypes.length > 1) {
    throw new InvalidReply('contentType must be one of the declared media types');
  }
  const chosen = contentType ?? media.type;
  if (isRange(chosen))
    throw new InvalidReply(`contentType must be a media type in the range ${chosen}`);
  if (!isHeader('content-type', chosen))
    throw new InvalidReply('contentType is not a valid header');
  return bodyWriter(validator.codecs, media, chosen, validator.response(media));
}

/**
 * Returns the function that writes bodies by the codec of their media type.
 *
 * @param check by default, all values are valid.
 * @throws {InvalidReply} The function throws for a body that the media type cannot represent.
 */
export function bodyWriter(
  codecs: Codecs,
  format: BodyFormat,
  contentType: string,
  check: Check = (value) => value,
): WriteBody {
  const type = /^text\/[^;]+$/i.test(contentType) ? `${contentType}; charset=utf-8` : contentType;
  const coder = codecs.of(format, type);
  const charset = foreignCharset(type);

  return (body, budget) => {
    if (body === undefined)
      throw new InvalidReply(`a body of ${format.type} is required, but the reply has none`);
    if (coder.unit === 'items') return itemsOf(check, format, coder, type, charset, body);
    if (coder.unit !== 'value' || isSentAsItIs(coder, body)) {
      if (coder.acceptsStreams || isRange(format.type)) checkBytes(body, budget);
      return { type, ...writeBytes(format, charset, body) };
    }
    const value = check(body, budget);
    try {
      const written = coder.write(value, format);
      return { type, body: typeof written === 'string' ? inCharset(charset, written) : written };
    } catch (error) {
      throw error instanceof TypeError ? new InvalidReply(error.message) : error;
    }
  };

  function checkBytes(body: unknown, budget?: Budget): void {
    if (typeof body === 'string') check(body, budget);
    else if (format.outline?.restrictsBytes) {
      throw new InvalidReply(
        `a body of ${format.type} must be a string, so that it can be checked against the schema`,
      );
    }
  }
}

/** Returns the charset of a media type, unless its text has the same bytes in UTF-8. */
function foreignCharset(type: string): string | undefined {
  const charset = charsetOf(type);
  return charset === undefined || /^utf-?8$/.test(charset) ? undefined : charset;
}

/**
 * Returns the text, which is sent as UTF-8.
 *
 * @throws {InvalidReply} if the bytes of the text differ in its charset.
 */
function inCharset(charset: string | undefined, text: string): string {
  if (charset === undefined) return text;
  // ASCII has the same bytes in most other charsets, but not in UTF-16 and UTF-32.
  const isAscii = Buffer.byteLength(text) === text.length;
  if (isAscii && !/^(utf|ucs)/.test(charset)) return text;
  throw new InvalidReply(
    `a string is written as UTF-8, not ${charset}: use bytes, or charset=utf-8 in contentType`,
  );
}

function itemsOf(
  check: Check,
  media: BodyFormat,
  coder: ItemsCoder,
  type: string,
  charset: string | undefined,
  items: unknown,
) {
  if (!isAsyncIterable(items))
    throw new InvalidReply(`a body of ${media.type} must be an AsyncIterable of its items`);
  const message = { format: media, contentType: coder.contentType?.(type) ?? type };
  const write = (item: unknown, index: number) => {
    try {
      // Each item has steps of its own.
      const value = check(item);
      if (value === undefined) throw new InvalidReply('must not be undefined');
      const chunk = coder.write(value, message);
      return typeof chunk === 'string' ? inCharset(charset, chunk) : chunk;
    } catch (error) {
      const violation = error instanceof TypeError ? error.message : violationOf(error);
      if (violation === undefined) throw error;
      throw new InvalidReply(`item ${index} of the body: ${violation}`);
    }
  };
  const end = coder.end?.(message) ?? '';
  return { type: message.contentType, items: { items, write, end, comment: coder.comment } };
}

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Returns text and bytes as they are, and a stream of them. */
function writeBytes(media: BodyFormat, charset: string | undefined, body: unknown): WrittenBody {
  if (typeof body === 'string') return { body: inCharset(charset, body) };
  if (body instanceof Uint8Array) return { body };
  if (body instanceof ArrayBuffer) return { body: new Uint8Array(body) };
  const stream = body instanceof Blob ? body.stream() : body;
  const items = stream instanceof ReadableStream ? Readable.fromWeb(stream) : stream;
  if (items instanceof Readable) {
    const write = (chunk: unknown) => chunkOf(charset, chunk);
    return { items: { items, areChunks: true, write, end: '', comment: undefined } };
  }
  throw new InvalidReply(
    `a body of ${media.type} must be a string, a Uint8Array, an ArrayBuffer, a Blob, ` +
      'a Readable or a ReadableStream',
  );
}

function chunkOf(charset: string | undefined, chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string') return inCharset(charset, chunk);
  if (chunk instanceof Uint8Array) return chunk;
  throw new InvalidReply('a stream must yield strings or bytes');
}

/**
 * Returns the declared headers of a response, as values of JSON.
 *
 * @param defaults further headers that are sent. Names and values alternate.
 * @throws {InvalidReply | Violations}
 */
export function declaredHeaders(
  validator: Pick<OperationValidator, 'responseHeaders'>,
  declared: DeclaredResponse,
  values: Json,
  defaults: readonly string[],
): Json {
  const isSent = (name: string) =>
    Object.hasOwn(values, name) ||
    SERVER_HEADERS.has(name) ||
    defaults.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  const missing = declared.headers.find(({ name, required }) => required && !isSent(name));
  if (missing !== undefined) throw new InvalidReply(`/headers/${missing.name} is required`);
  return validator.responseHeaders(declared, values);
}

const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

/** @throws {InvalidReply} for a value that clients would read as another one. */
function writeHeader(header: Parameter, value: unknown): string {
  try {
    // Recipients remove outer spaces (RFC 9110 §5.5).
    return writeParameter(header, Array.isArray(value) ? value.map(trimmed) : trimmed(value));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new InvalidReply(`the header ${header.name} cannot be sent: ${error.message}`);
  }
}

/**
 * Validates the declared headers, and serializes them. Headers that are `undefined` or `null` are
 * not sent. If two names differ only in case, the last one is sent.
 */
function checkHeaders(
  validator: ReplyValidator,
  declared: DeclaredResponse,
  headers: AnyReply['headers'],
  defaults: readonly string[],
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
  const values = isDeclared ? declaredHeaders(validator, declared, sources, defaults) : {};
  const written = new Map<string, string | string[]>();
  for (const [lower, name] of names) {
    if (FRAMING_HEADERS.has(lower))
      throw new InvalidReply(`the header ${name} is set by the server only`);
    const header = declared.headers.find((each) => each.name === lower);
    const value = header === undefined ? sources[lower] : values[lower];
    if (value === undefined) continue;
    // Other objects, such as a URL, have a text.
    if (header === undefined && Object(value).toString === Object.prototype.toString)
      throw new InvalidReply(`the header ${name} must be a string, a number or a list`);
    const writeValue = (each: unknown) =>
      header === undefined ? String(each) : writeHeader(header, each);
    // The values of `Set-Cookie` cannot be joined (RFC 9110 §5.3).
    const text =
      lower === 'set-cookie' && Array.isArray(value) ? value.map(writeValue) : writeValue(value);
    if (!isHeader(name, text))
      throw new InvalidReply(`the header ${name} contains an invalid character`);
    written.set(name, text);
  }
  return Object.fromEntries(written);
}
