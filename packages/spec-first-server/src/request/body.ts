import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json, Operation } from 'openapi-document';
import { asObject, coerce, kindOf, type MediaType, mediaTypeFor, parseJson } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { codingOf, DECODERS, limitedStream, readBytes, tooLarge } from './bytes.ts';
import { multipart, urlencoded } from './forms.ts';
import { checkedItems } from './items.ts';

/**
 * Prepares to read an operation's bodies, each with its declared media type. JSON becomes values with exact integers, text a string (or the number or boolean
 * that its schema asks for), a form an object, a sequence its items, and any other media type a stream.
 *
 * @param usual the maximum number of bytes of a body, also after decompression, or of each item of a sequence, unless the
 *   document has one.
 */
export function bodyReader(root: Json, { requestBody }: Operation, usual: number, validator: OperationValidator) {
  const declared = requestBody?.media ?? [];
  const none = { media: undefined, body: undefined };

  /** @throws {HttpError} 400, 413 or 415 */
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (requestBody === undefined) return none;
    const isAbsent = !hasBody(request);
    const media = isAbsent ? undefined : declaredType(request.headers['content-type'], declared);
    if (media !== undefined) {
      const limit = limitOf(media) ?? usual;
      checkHeaders(request, media, limit);
      // An expectation from HTTP/1.0 is ignored (RFC 9110 §10.1.1).
      if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
      if (media.items !== undefined) return { media, body: checkedItems(request, response, media, limit, validator) };
      if (media.kind === 'stream') return { media, body: limitedStream(request, response, limit) };
      const bytes = await readBytes(request, limit);
      if (media.kind === 'multipart') {
        return { media, body: await multipart(root, media, request.headers['content-type'] ?? '', bytes) };
      }
      if (bytes.length > 0 || media.kind !== 'json') return { media, body: parsed(root, media, bytes) };
    }
    if (!requestBody.required) return none;
    throw HttpError.violations([
      { path: '/body', message: `is required, as ${orList(declared)}`, keyword: 'required' },
    ]);
  };
}

/** The limit of a media type in the document: its own, or the `maxLength` of a body of bytes. */
function limitOf({ kind, items, source, schema }: MediaType): number | undefined {
  const { 'x-body-limit': own } = source;
  const { maxLength } = asObject(kind === 'stream' && items === undefined ? schema : undefined);
  return [own, maxLength].find((bytes) => typeof bytes === 'number');
}

function parsed(root: Json, media: MediaType, bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
  const text = bytes.toString();
  if (media.kind === 'form') return urlencoded(root, media, text);
  return media.kind === 'json' ? json(text) : coerce(root, [media.schema], text);
}

/** A request has a body if it has a length or a transfer coding (RFC 9112 §6). */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Checks the headers of a body before it is read. @throws {HttpError} 413 or 415 */
function checkHeaders(request: IncomingMessage, { kind, items }: MediaType, limit: number): void {
  const coding = codingOf(request);
  if (coding !== 'identity' && (kind === 'stream' || !DECODERS.has(coding))) {
    const accepted = kind === 'stream' ? ['identity'] : [...DECODERS.keys(), 'identity'];
    throw new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, {
      headers: { 'Accept-Encoding': accepted.join(', ') },
    });
  }
  if (items === undefined && Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const orList = (media: readonly MediaType[]): string => media.map(({ type }) => type).join(' or ') || 'declared';

/** The declared media type for a `Content-Type`. @throws {HttpError} 415 */
function declaredType(contentType = '', media: readonly MediaType[]): MediaType {
  const found = mediaTypeFor(media, contentType);
  if (found === undefined) {
    const headers = { Accept: media.map(({ type }) => type).join(', ') };
    throw new HttpError(415, `the body must be ${orList(media)}`, { headers });
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (charset !== undefined && found.kind !== 'stream' && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw new HttpError(415, 'the charset of the body must be utf-8');
  }
  return found.asJson !== undefined && kindOf(contentType) === 'json' ? found.asJson : found;
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new HttpError(400, `the body must be ${error instanceof RangeError ? error.message : 'JSON'}`);
  }
}
