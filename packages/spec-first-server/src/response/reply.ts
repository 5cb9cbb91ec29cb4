import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { isObject } from '../document/document.ts';
import type { AnyReply } from '../document/handler-types.ts';
import { kindOf, type MediaType, mediaTypeFor } from '../document/media-types.ts';
import { type DeclaredResponse, declaredFor, type Operation } from '../document/operations.ts';
import { stringifyJson } from '../json/exact.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { describeViolations, Violations } from '../validation/violations.ts';
import { InvalidReply } from './http-error.ts';

const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');

/** A reply that the document declares, ready to be written. */
export interface CheckedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | readonly string[]>>;
  readonly body: string | Uint8Array | Readable | undefined;
}

/** Headers that say how a message is framed: the server's own business (RFC 9112 §6, RFC 9110 §7.6.1). */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Statuses whose answers have no body, whatever a `default` response declares (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
export const BODILESS = new Set([204, 205, 304]);

/**
 * Checks a reply against the document: status, media type, body and headers.
 *
 * @throws {InvalidReply} if the document does not declare such a reply.
 */
export async function checkReply(
  operation: Operation,
  validator: OperationValidator<unknown>,
  reply: AnyReply,
): Promise<CheckedReply> {
  const { status, body } = reply;
  const broken = (what: string) => new InvalidReply(`${operation.id} answered ${status}: ${what}`);
  if (!Number.isInteger(status) || status < 200 || status > 599) throw broken('this is no status of a reply');
  const response = declaredFor(operation, status);
  if (response === undefined) throw broken('the document declares no such status');

  const given = Object.entries(reply.headers ?? {}).filter(([, value]) => value !== undefined);
  const framing = given.find(([name]) => FRAMING.has(name.toLowerCase()));
  if (framing !== undefined) throw broken(`the header ${framing[0]} is not for handlers to set`);
  const headers = Object.fromEntries(given.map(([name, value]) => [name, headerText(response, name, value, broken)]));
  try {
    if (response.headers.length > 0) {
      await validator.responseHeaders(
        response,
        Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value])),
      );
    }
    const media = BODILESS.has(status) ? undefined : mediaFor(response, reply, broken);
    if (media === undefined) {
      if (body !== undefined) throw broken('the document declares no body');
      return { status, headers, body: undefined };
    }
    const type = concrete(reply.contentType ?? media.type, broken);
    const written = await write(validator, response, media, type, body, broken);
    return { status, headers: { ...headers, 'Content-Type': type }, body: written };
  } catch (error) {
    if (error instanceof Violations) throw broken(describeViolations(error.violations));
    throw error;
  }
}

/** Sends a reply. Resolves when it is sent, or the client is gone. */
export async function send(response: Response, { status, headers, body }: CheckedReply): Promise<void> {
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  if (!(body instanceof Readable)) {
    // Node drops the body of an answer to HEAD, and its length with it.
    if (response.req.method === 'HEAD' && body !== undefined) {
      response.setHeader('Content-Length', Buffer.byteLength(body));
    }
    response.end(body);
    return;
  }
  if (response.req.method === 'HEAD') {
    body.destroy();
    response.end();
    return;
  }
  try {
    // The response is left open, so that a body that fails before its first byte can be answered with a failure.
    await pipeline(body, response, { end: false });
    response.end();
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

type Broken = (what: string) => InvalidReply;

function mediaFor(response: DeclaredResponse, { contentType }: AnyReply, broken: Broken): MediaType | undefined {
  const { media } = response;
  if (contentType === undefined) {
    if (media.length > 1) throw broken('its contentType must say which of the declared media types it is');
    return media[0];
  }
  const found = mediaTypeFor(media, contentType);
  if (found === undefined) throw broken(`the document declares no ${contentType}`);
  return found;
}

function concrete(type: string, broken: Broken): string {
  if (type.includes('*')) throw broken(`its contentType must be one of ${type}`);
  return /^text\/[^;]+$/i.test(type) ? `${type}; charset=utf-8` : type;
}

async function write(
  validator: OperationValidator<unknown>,
  response: DeclaredResponse,
  media: MediaType,
  type: string,
  body: unknown,
  broken: Broken,
): Promise<CheckedReply['body']> {
  if (body === undefined) throw broken('the document declares a body');
  const range = media.type.includes('*');
  const kind = range ? kindOf(type) : media.kind;
  if (kind === 'json') {
    await validator.response(response, media, body);
    return stringifyJson(body);
  }
  const isScalar = ['string', 'number', 'bigint', 'boolean'].includes(typeof body);
  if (kind === 'text' || range) {
    if (isScalar) await validator.response(response, media, body);
    else if (media.constrained) {
      throw broken(`a body of ${type} must be a string, so that it can be checked against the schema`);
    }
  }
  if (typeof body === 'string' || (kind === 'text' && isScalar)) return String(body);
  if (body instanceof Readable || body instanceof Uint8Array) return body;
  if (body instanceof Blob) return Readable.fromWeb(body.stream());
  throw broken(`a body of ${media.type} is a string, a Uint8Array, a Blob or a Readable`);
}

/** A header's value in the `simple` style, or as JSON. */
function headerText({ headers }: DeclaredResponse, name: string, value: unknown, broken: Broken): string | string[] {
  const declared = headers.find((header) => header.name === name.toLowerCase());
  const text = (item: unknown): string => {
    const written =
      declared?.json === true
        ? (stringifyJson(item) ?? '')
        : Array.isArray(item)
          ? item.map(String).join(',')
          : isObject(item)
            ? Object.entries(item)
                .map((pair) => pair.join(declared?.explode ? '=' : ','))
                .join(',')
            : String(item);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, written);
    } catch {
      throw broken(`the header ${name} holds a character that no header can`);
    }
    return written;
  };
  // The one header whose values cannot be joined (RFC 9110 §5.3).
  return name.toLowerCase() === 'set-cookie' && Array.isArray(value) ? value.map(text) : text(value);
}
