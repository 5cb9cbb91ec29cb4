import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { asObject, kindOf, type MediaType, mediaTypeFor, type Operation, parseJson } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';
import { checkedItems, cutOff, limitedStream, multipart, tooLarge } from './streams.ts';

const unzip = promisify(gunzip);

const NONE = { media: undefined, body: undefined };

/**
 * Prepares to read an operation's bodies, each with its declared media type. JSON becomes values with exact integers, text
 * a string (or the number or boolean that its schema asks for), a form an object, a sequence its items, and any other
 * media type a stream.
 *
 * @param usual the maximum number of bytes of a body, also after decompression, or of each item of a sequence, unless the
 *   document has one.
 */
export function bodyReader({ requestBody }: Operation, usual: number, validator: OperationValidator) {
  const declared = requestBody?.media ?? [];
  const types = declared.map(({ type }) => type);
  const exact = new Map(declared.flatMap((media) => (/[*;]/.test(media.type) ? [] : [[media.type, media]])));
  const required = `is required, as ${types.join(' or ') || 'declared'}`;

  /** @throws {HttpError} 400, 413 or 415 */
  return async (response: ServerResponse) => {
    if (requestBody === undefined) return NONE;
    const { req: request } = response;
    const { headers } = request;
    const length = Number(headers['content-length'] ?? 0);
    // A request has a body if it has a length or a transfer coding (RFC 9112 §6).
    if (length > 0 || headers['transfer-encoding'] !== undefined) {
      const contentType = headers['content-type'] ?? '';
      const media = exact.get(contentType) ?? declaredType(contentType);
      const { kind, items, source, schema } = media;
      // The document's own limit, or the `maxLength` of a body of bytes.
      const largest = kind === 'stream' && items === undefined ? asObject(schema).maxLength : undefined;
      const own = source['x-body-limit'] ?? largest;
      const limit = typeof own === 'number' ? own : usual;
      const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
      const isStreamed = kind === 'stream' || kind === 'multipart';
      const isZipped = coding === 'gzip' && !isStreamed;
      if (coding !== 'identity' && !isZipped) {
        const accepted = isStreamed ? ['identity'] : ['gzip', 'identity'];
        const headers = { 'Accept-Encoding': accepted.join(', ') };
        throw new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, { headers });
      }
      if (length > limit && items === undefined) throw tooLarge(limit);
      // An expectation from HTTP/1.0 is ignored (RFC 9110 §10.1.1).
      if (headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
      if (items !== undefined) return { media, body: checkedItems(request, response, media, limit, validator) };
      if (kind === 'stream') return { media, body: limitedStream(request, response, limit) };
      if (kind === 'multipart') return { media, body: await multipart(media, request, response, limit) };
      const read = await readBytes(request, limit);
      const bytes = isZipped && read.length > 0 ? await decompress(read, limit) : read;
      if (bytes.length > 0 || kind !== 'json') {
        if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
        return { media, body: parsed(media, bytes.toString()) };
      }
    }
    if (!requestBody.required) return NONE;
    throw new Violations([{ path: '/body', message: required, keyword: 'required' }]);
  };

  /** The declared media type for a `Content-Type`. @throws {HttpError} 415 */
  function declaredType(contentType: string): MediaType {
    const found = mediaTypeFor(declared, contentType);
    if (found === undefined) {
      const headers = { Accept: types.join(', ') };
      throw new HttpError(415, `the body must be ${types.join(' or ') || 'declared'}`, { headers });
    }
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase();
    if (charset !== undefined && found.kind !== 'stream' && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
      throw new HttpError(415, 'the charset of the body must be utf-8');
    }
    return found.asJson !== undefined && kindOf(contentType) === 'json' ? found.asJson : found;
  }

  function parsed(media: MediaType, text: string): unknown {
    if (media.kind !== 'json' && media.kind !== 'form') return media.coerce(text);
    try {
      return media.kind === 'form' ? media.formReader().urlencoded(text) : parseJson(text);
    } catch (error) {
      if (media.kind === 'json') {
        throw new HttpError(400, `the body must be ${error instanceof RangeError ? error.message : 'JSON'}`);
      }
      throw error instanceof URIError ? new HttpError(400, 'the body must be percent-encoded UTF-8') : error;
    }
  }
}

type Body = Readable & Pick<IncomingMessage, 'headers' | 'complete'>;

/**
 * Reads a body. Rejects it as soon as it is too large; the rest is discarded.
 *
 * @throws {HttpError} 400 or 413
 */
export function readBytes(request: Body, limit: number): Promise<Buffer> | Buffer {
  // The app's host may have read it.
  if (request.readableEnded) return Buffer.alloc(0);
  if (request.destroyed) throw cutOff();
  if (request.complete && request.readableLength <= limit) {
    const first: Buffer = request.read() ?? Buffer.alloc(0);
    // A stream that flows gives one chunk after the other.
    if (request.readableLength === 0) return first;
    request.unshift(first);
  }
  const expected = Number(request.headers['content-length'] ?? limit);
  // One buffer that grows: chunks of a byte each would take 400 times their size.
  let [buffer, size] = [Buffer.alloc(0), 0];
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      const end = size + chunk.length;
      if (end > limit) return reject(tooLarge(limit));
      if (end > buffer.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(end, Math.min(8 * end, expected)));
        buffer.copy(grown, 0, 0, size);
        buffer = grown;
      }
      chunk.copy(buffer, size);
      size = end;
    });
    request.on('error', () => reject(cutOff()));
    request.on('end', () => resolve(buffer.subarray(0, size)));
  });
}

/** @throws {HttpError} 400 or 413 */
async function decompress(bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    return await unzip(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new HttpError(400, 'the body does not have the declared Content-Encoding');
  }
}
