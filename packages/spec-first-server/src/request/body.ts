import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asObject, kindOf, type MediaType, mediaTypeFor, type Operation, parseJson } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { DECODERS, decompress, limitedStream, readBytes, tooLarge } from './bytes.ts';
import { multipart, urlencoded } from './forms.ts';
import { checkedItems } from './items.ts';

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
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (requestBody === undefined) return NONE;
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
      const decode = isStreamed ? undefined : DECODERS.get(coding);
      if (coding !== 'identity' && decode === undefined) throw unknownCoding(isStreamed);
      if (length > limit && items === undefined) throw tooLarge(limit);
      // An expectation from HTTP/1.0 is ignored (RFC 9110 §10.1.1).
      if (headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
      if (items !== undefined) return { media, body: checkedItems(request, response, media, limit, validator) };
      if (kind === 'stream') return { media, body: limitedStream(request, response, limit) };
      if (kind === 'multipart') return { media, body: await multipart(media, request, response, limit) };
      const read = await readBytes(request, limit);
      const bytes = decode === undefined || read.length === 0 ? read : await decompress(read, decode, limit);
      if (bytes.length > 0 || kind !== 'json') {
        if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
        return { media, body: parsed(media, bytes.toString()) };
      }
    }
    if (!requestBody.required) return NONE;
    throw HttpError.violations([{ path: '/body', message: required, keyword: 'required' }]);
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
    if (media.kind === 'form') return urlencoded(media, text);
    if (media.kind !== 'json') return media.coerce(text);
    try {
      return parseJson(text);
    } catch (error) {
      throw new HttpError(400, `the body must be ${error instanceof RangeError ? error.message : 'JSON'}`);
    }
  }
}

function unknownCoding(isStream: boolean): HttpError {
  const accepted = isStream ? ['identity'] : [...DECODERS.keys(), 'identity'];
  const headers = { 'Accept-Encoding': accepted.join(', ') };
  return new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, { headers });
}
