import { isUtf8 } from 'node:buffer';
import { createGunzip } from 'node:zlib';
import {
  bodyLimitOf,
  escapePointerToken,
  InvalidJson,
  kindOf,
  type MediaType,
  mediaTypeFor,
  type Operation,
  ParameterError,
  parseJson,
} from 'openapi-document';
import type { Bytes, Call } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { inTurn } from '../turns.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';
import { multipart } from './multipart.ts';
import { readBytes } from './read-bytes.ts';
import { createReservation, type Reservation } from './reservation.ts';
import { checkedItems, cutOff, limitedStream, tooLarge } from './streams.ts';

/** A parsed body, before its validation. */
export interface ReceivedBody {
  readonly media: MediaType | undefined;
  readonly body: unknown;
  /**
   * Called at the end of the call. Releases memory, removes files, and destroys a stream that was
   * not read to its end.
   */
  readonly release?: (() => void) | undefined;
}

const NO_BODY: ReceivedBody = { media: undefined, body: undefined };

/**
 * Returns the function that reads the bodies of an operation. The declared media type selects the
 * format. JSON is parsed with exact integers. A text becomes a string, or a number or boolean if
 * its schema has that type. A form becomes an object. A sequence becomes an iterable of its items.
 * Other media types are streams.
 *
 * @param defaultLimit the maximum number of bytes of a body, also after decompression, if the
 *   document has no limit. In a sequence, it limits each item instead (see `checkedItems`). In a
 *   multipart form, it also limits all texts together, even if the document has a limit.
 */
export function bodyReader(
  { requestBody }: Operation,
  defaultLimit: number,
  validator: OperationValidator,
) {
  const declared = requestBody?.media ?? [];
  const types = declared.map(({ type }) => type);
  const mediaByType = new Map(
    declared.flatMap((media) => (/[*;]/.test(media.type) ? [] : [[media.type, media]])),
  );
  const typeNames = types.join(' or ');
  const acceptsUntyped = mediaTypeFor(declared, '') !== undefined;
  const missingBody = typeNames === '' ? 'is required' : `is required, as ${typeNames}`;

  /** @throws {HttpError | Violations} 400, 413, 415 or 503 */
  return async (call: Call): Promise<ReceivedBody> => {
    try {
      return await read(call);
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      const path = `/body/${escapePointerToken(error.parameter)}`;
      throw new Violations([{ path, message: error.reason, keyword: 'format' }]);
    }
  };

  async function read(call: Call): Promise<ReceivedBody> {
    if (requestBody === undefined) return NO_BODY;
    const { headers } = call;
    const source = bodyOf(call);
    if (source === undefined) return withoutBody();
    const contentType = headers['content-type'] ?? '';
    // A chunked body may be empty.
    if (contentType === '' && !acceptsUntyped && (await isEmpty(source))) return withoutBody();
    const media = mediaByType.get(contentType) ?? declaredType(contentType);
    const { kind, items } = media;
    const limit = bodyLimitOf(media, defaultLimit);
    const isStreamed = kind === 'stream' || kind === 'multipart';
    const isZipped = checkEncoding(headers['content-encoding'], isStreamed) === 'gzip';
    const length = Number(headers['content-length'] ?? 0);
    if (length > limit && items === undefined) throw tooLarge(limit);

    if (kind === 'multipart') {
      const stream = limitedStream(source, limit);
      return { media, ...(await multipart(media, headers, stream, defaultLimit)) };
    }
    if (isStreamed) return streamedBody(media, contentType, source, limit);

    const hasArrived = source instanceof Uint8Array;
    const memory = hasArrived && !isZipped ? undefined : createReservation();
    try {
      if (!hasArrived) memory?.resize(length || limit);
      const received = await readBytes(source, limit, length);
      const bytes =
        memory && isZipped && received.length > 0
          ? await decompress(received, limit, memory)
          : received;
      if (bytes.length === 0 && kind === 'json') {
        memory?.release();
        return withoutBody();
      }
      if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
      const body = await inTurn(() => parsed(media, bytes.toString()));
      return { media, body, release: memory?.release };
    } catch (error) {
      memory?.release();
      throw error;
    }
  }

  function withoutBody(): ReceivedBody {
    if (!requestBody?.required) return NO_BODY;
    throw new Violations([{ path: '/body', message: missingBody, keyword: 'required' }]);
  }

  function streamedBody(
    media: MediaType,
    contentType: string,
    source: Bytes | AsyncIterable<Bytes>,
    limit: number,
  ): ReceivedBody {
    const hasItems = media.items !== undefined;
    const stream = limitedStream(source, hasItems ? Infinity : limit);
    const body = hasItems ? checkedItems(stream, contentType, media, limit, validator) : stream;
    return {
      media,
      body,
      release: () => void (stream.readableEnded || stream.destroy(cutOff())),
    };
  }

  /** @throws {HttpError} 400 or 415 */
  function declaredType(contentType: string): MediaType {
    // The Fetch standard joins several headers with commas.
    if (contentType.replace(/"[^"]*"/g, '').includes(','))
      throw new HttpError(400, 'the header content-type must come once');
    const media = mediaTypeFor(declared, contentType);
    if (media === undefined) {
      const headers = { Accept: types.join(', ') };
      const message =
        typeNames === ''
          ? 'the document declares no media type for the body'
          : `the body must be ${typeNames}`;
      throw new HttpError(415, message, { headers });
    }
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase();
    if (
      charset !== undefined &&
      media.kind !== 'stream' &&
      !['utf-8', 'utf8', 'us-ascii'].includes(charset)
    ) {
      throw new HttpError(415, 'the charset of the body must be utf-8');
    }
    return media.asJson !== undefined && kindOf(contentType) === 'json' ? media.asJson : media;
  }

  function parsed(media: MediaType, text: string): unknown {
    if (media.kind !== 'json' && media.kind !== 'form') return media.coerce(text);
    try {
      return media.kind === 'form' ? media.formReader().urlencoded(text) : parseJson(text);
    } catch (error) {
      if (error instanceof InvalidJson) throw new HttpError(400, `the body ${error.message}`);
      if (error instanceof URIError) {
        throw new HttpError(400, 'the body must be percent-encoded UTF-8');
      }
      throw error;
    }
  }
}

/**
 * `Content-Length: 0` means an empty body if there is a `Content-Type`. Otherwise it means no body:
 * clients also send it with a POST without a body.
 */
function bodyOf({ headers, body }: Call): Call['body'] {
  if (headers['content-length'] !== '0') return body;
  return headers['content-type'] === undefined ? undefined : new Uint8Array();
}

async function isEmpty(body: Bytes | AsyncIterable<Bytes>): Promise<boolean> {
  if (body instanceof Uint8Array) return body.length === 0;
  for await (const { length } of body) if (length > 0) return false;
  return true;
}

/** @throws {HttpError} 415 */
function checkEncoding(header: string | undefined, isStreamed: boolean): string {
  const accepted = isStreamed ? ['identity'] : ['gzip', 'identity'];
  // `x-gzip` is another name of `gzip` (RFC 9110 §8.4.1.3).
  const encoding = header?.toLowerCase().replace(/^x-gzip$/, 'gzip') ?? 'identity';
  if (accepted.includes(encoding)) return encoding;
  throw new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, {
    headers: { 'Accept-Encoding': accepted.join(', ') },
  });
}

/** @throws {HttpError} 400, 413 or 503 */
async function decompress(bytes: Buffer, limit: number, memory: Reservation): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const gunzip = createGunzip();
  gunzip.end(bytes);
  try {
    for await (const chunk of gunzip) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      memory.resize(bytes.length + size);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'the body does not have the declared Content-Encoding');
  }
  return Buffer.concat(chunks, size);
}
