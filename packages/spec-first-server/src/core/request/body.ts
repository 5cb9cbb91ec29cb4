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
import type { Account } from '../account.ts';
import type { Bytes, Call } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';
import { estimatedSize } from './estimated-size.ts';
import { multipart } from './multipart.ts';
import { readBytes } from './read-bytes.ts';
import { checkedItems, cutOff, limitedStream, tooLarge } from './streams.ts';

/** A parsed body, before its validation. */
export interface ReceivedBody {
  readonly media: MediaType | undefined;
  readonly body: unknown;
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

  /**
   * When the account is settled, its memory is released, its files are removed, and a stream that
   * was not read to its end is destroyed.
   *
   * @throws {HttpError | Violations} 400, 413, 415 or 503
   */
  return async (call: Call, account: Account): Promise<ReceivedBody> => {
    try {
      return await read(call, account);
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error;
      const path = `/body/${escapePointerToken(error.parameter)}`;
      throw new Violations([{ path, message: error.reason, keyword: 'format' }]);
    }
  };

  async function read(call: Call, account: Account): Promise<ReceivedBody> {
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
      return { media, body: await multipart(media, headers, stream, defaultLimit, account) };
    }
    if (isStreamed) return streamedBody(media, contentType, source, limit, account);

    const expectedSize = source instanceof Uint8Array ? source.length : length || limit;
    account.charge(expectedSize);
    const received = await readBytes(source, limit, length);
    const isDecompressed = isZipped && received.length > 0;
    const bytes = isDecompressed ? await decompress(received, limit, account) : received;
    if (bytes.length === 0 && kind === 'json') return withoutBody();
    if (!isUtf8(bytes)) throw new HttpError(400, 'the body must be UTF-8');
    const textSize = expectedSize + (isDecompressed ? bytes.length : 0);
    const body = await account.inTurn(() => {
      // The values replace the text.
      account.charge(estimatedSize(bytes) - textSize);
      return parsed(media, bytes.toString());
    }, true);
    return { media, body };
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
    account: Account,
  ): ReceivedBody {
    const hasItems = media.items !== undefined;
    const stream = limitedStream(source, hasItems ? Infinity : limit);
    account.defer(() => void (stream.readableEnded || stream.destroy(cutOff())));
    const body = hasItems
      ? checkedItems(stream, contentType, media, limit, validator, account)
      : stream;
    return { media, body };
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
async function decompress(bytes: Buffer, limit: number, account: Account): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const gunzip = createGunzip();
  gunzip.end(bytes);
  try {
    for await (const chunk of gunzip) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      account.charge(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'the body does not have the declared Content-Encoding');
  }
  return Buffer.concat(chunks, size);
}
