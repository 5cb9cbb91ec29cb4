import { Readable } from 'node:stream';
import {
  type DeclaredResponse,
  declaredFor,
  kindOf,
  type MediaType,
  mediaTypeFor,
  type Operation,
  stringifyJson,
} from 'openapi-document';
import type { AnyReply } from '../handlers/types.ts';
import { http } from '../http-server/index.ts';
import { Violations } from '../validation/checks.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { InvalidReply } from './http-error.ts';
import type { CheckedReply } from './send.ts';

/** Headers that frame a message: only the server sets them (RFC 9112 §6, RFC 9110 §7.6.1). */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Statuses whose answers have no body, whatever a `default` response declares (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export const BODILESS = new Set([204, 205, 304]);

const NOTHING: DeclaredResponse = { key: 'default', media: [], headers: [], pointer: '', source: {} };

/** The declared response for a status. An operation that declares none answers with any status, without a body. */
export const responseFor = (operation: Operation, status: number): DeclaredResponse | undefined =>
  operation.responses.length === 0 ? NOTHING : declaredFor(operation, status);

/**
 * Checks a reply against the document: status, headers, media type and body.
 *
 * @throws {InvalidReply} if the document does not declare such a reply.
 */
export function checkReply(operation: Operation, schemas: OperationValidator, reply: AnyReply): CheckedReply {
  const { status } = reply;
  // A mock is checked when it is made. It may be an example of the document that does not fit.
  const validator = reply.mocked === true ? { ...schemas, response() {}, responseHeaders() {} } : schemas;
  try {
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new InvalidReply('no status of a reply');
    const declared = responseFor(operation, status);
    if (declared === undefined) throw new InvalidReply('the document declares no such status');
    const headers = reply.headers && writeHeaders(declared, reply.headers);
    if (declared.headers.length > 0) {
      const given = Object.entries(reply.headers ?? {}).filter(([, value]) => value !== undefined);
      const byName = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
      validator.responseHeaders(declared, byName);
    }
    return { status, headers, ...checkBody(validator, declared, reply) };
  } catch (error) {
    const what = mismatchOf(error);
    throw what === undefined ? error : new InvalidReply(`${operation.id} answered ${status}: ${what}`);
  }
}

/** How a reply differs from what the document declares; `undefined` for any other error. */
export function mismatchOf(error: unknown): string | undefined {
  return error instanceof Violations || error instanceof InvalidReply ? error.message : undefined;
}

/**
 * The body of a reply, ready to be written, and its media type.
 *
 * @throws {InvalidReply | Violations} if it is not what the response declares.
 */
export function checkBody(
  validator: OperationValidator,
  declared: DeclaredResponse,
  { status, contentType, body }: AnyReply,
): Pick<CheckedReply, 'type' | 'body'> {
  const all = BODILESS.has(status) ? [] : declared.media;
  const media = contentType === undefined ? all[0] : mediaTypeFor(all, contentType);
  if (media === undefined) {
    if (all.length > 0) throw new InvalidReply(`the document declares no ${contentType}`);
    if (body !== undefined) throw new InvalidReply('the document declares no body');
    return { type: undefined, body };
  }
  if (contentType === undefined && all.length > 1) {
    throw new InvalidReply('its contentType must say which of the declared media types it is');
  }
  if (body === undefined) throw new InvalidReply('the document declares a body');
  const given = contentType ?? media.type;
  if (given.includes('*')) throw new InvalidReply(`its contentType must be one of ${given}`);
  const type = /^text\/[^;]+$/i.test(given) ? `${given}; charset=utf-8` : given;
  if (media.items !== undefined) return itemsOf(validator, media, type, body);
  const kind = media.type.includes('*') ? kindOf(type) : media.kind;
  if (kind !== 'json') return { type, body: write(validator, media, kind, body) };
  validator.response(media, body);
  return { type, body: stringifyJson(body) };
}

function itemsOf(validator: OperationValidator, media: MediaType, type: string, items: unknown) {
  if (!isAsyncIterable(items)) throw new InvalidReply(`a body of ${media.type} is an AsyncIterable of its items`);
  const writer = media.itemWriter(type);
  const write = (item: unknown, index: number) => {
    try {
      validator.response(media, item);
      return writer.write(item, index);
    } catch (error) {
      const what = error instanceof TypeError ? error.message : mismatchOf(error);
      throw what === undefined ? error : new InvalidReply(`item ${index} of the body: ${what}`);
    }
  };
  return { type: writer.contentType, body: { ...writer, items, write } };
}

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

function write(validator: OperationValidator, media: MediaType, kind: string, body: unknown): CheckedReply['body'] {
  const isScalar = ['string', 'number', 'bigint', 'boolean'].includes(typeof body);
  if (kind === 'text' || media.type.includes('*')) {
    if (isScalar) validator.response(media, body);
    else if (media.constrained) {
      throw new InvalidReply(`a body of ${media.type} must be a string, so that it can be checked against the schema`);
    }
  }
  if (typeof body === 'string' || (kind === 'text' && isScalar)) return String(body);
  if (body instanceof Uint8Array) return body;
  const items = body instanceof Blob ? Readable.fromWeb(body.stream()) : body;
  if (items instanceof Readable) return { items, areChunks: true, write: bytesOf, end: '', comment: undefined };
  throw new InvalidReply(`a body of ${media.type} is a string, a Uint8Array, a Blob or a Readable`);
}

function bytesOf(chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return chunk;
  throw new InvalidReply('a stream gives strings and bytes');
}

/** Writes headers in the `simple` style, or as JSON. */
function writeHeaders({ headers: declared }: DeclaredResponse, headers: object): Record<string, string | string[]> {
  const written: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    if (FRAMING.has(lower)) throw new InvalidReply(`the header ${name} is not for handlers to set`);
    const write = declared.find((header) => header.name === lower)?.write ?? String;
    // The one header whose values cannot be joined (RFC 9110 §5.3).
    written[name] = lower === 'set-cookie' && Array.isArray(value) ? value.map(write) : write(value);
    try {
      http.validateHeaderName(name);
      for (const text of [written[name]].flat()) http.validateHeaderValue(name, text);
    } catch {
      throw new InvalidReply(`the header ${name} holds a character that no header can have`);
    }
  }
  return written;
}
