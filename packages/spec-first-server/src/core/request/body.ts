import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  bodyLimitOf,
  type Coder,
  charsetOf,
  escapePointerToken,
  isRange,
  type MediaType,
  mediaTypeFor,
  type Operation,
  ParameterError,
  UnreadableBody,
} from 'openapi-document';
import type { Account } from '../account.ts';
import type { Bytes, Call } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';
import { estimatedSize, MAX_ESTIMATE } from './estimated-size.ts';
import { formStorage } from './form-storage.ts';
import { readBytes } from './read-bytes.ts';
import { checkedItems, cutOff, limitedStream, tooLarge } from './streams.ts';

/** A parsed and validated body. */
export interface ReceivedBody {
  /** The declared media type; `undefined` if there is no body. */
  readonly contentType: string | undefined;
  readonly body: unknown;
}

const NO_BODY: ReceivedBody = { contentType: undefined, body: undefined };

/**
 * Returns the function that reads and validates the bodies of an operation. The codec of the
 * declared media type reads a value, a form, an iterable of items, or leaves a stream of bytes.
 *
 * @param defaultLimit the maximum number of bytes of a body, also after decompression, if the
 *   document has no limit. Of a body with items, it limits each item instead (see `checkedItems`).
 *   In a multipart form, it also limits all texts together, even if the document has a limit.
 */
export function bodyReader(
  { requestBody }: Operation,
  defaultLimit: number,
  validator: OperationValidator,
) {
  const declared = requestBody?.media ?? [];
  const types = declared.map(({ type }) => type);
  const mediaByType = new Map(
    declared.flatMap((media) => (isRange(media.type) ? [] : [[media.type, media]])),
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
      if (error instanceof UnreadableBody) {
        const { status, message, reason } = error;
        throw new HttpError(status, message, { reason });
      }
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
    const coder = validator.codecs.of(media, contentType);
    checkCharset(coder, contentType);
    const message = { format: media, contentType };
    const facts = validator.codecs.factsOf(media, contentType);
    const limit = bodyLimitOf(media, facts, defaultLimit);
    const isStreamed = coder.unit !== 'value' && !isTextForm(coder);
    const isZipped = checkEncoding(headers['content-encoding'], isStreamed) === 'gzip';
    const length = Number(headers['content-length'] ?? 0);
    if (length > limit && coder.unit !== 'items') throw tooLarge(limit);
    const received = (body: unknown): ReceivedBody => ({ contentType: media.type, body });

    if (coder.unit === 'items') {
      const chunks = unread(limitedStream(source, Infinity), account);
      return received(checkedItems(chunks, coder, media, message, limit, validator, account));
    }
    if (coder.unit === 'bytes') return received(unread(limitedStream(source, limit), account));
    if (coder.unit === 'form' && !coder.isText) {
      const chunks = limitedStream(source, limit);
      const storage = formStorage(length || Infinity, defaultLimit, account);
      try {
        const form = await coder.read(storage.charged(chunks), message, storage);
        return await account.inTurn(() => received(validator.body(media, form, account)), true);
      } finally {
        chunks.destroy();
      }
    }

    const expectedSize = source instanceof Uint8Array ? source.length : length || limit;
    account.charge(expectedSize);
    const reading = readBytes(source, limit, length);
    const sent = reading instanceof Promise ? await reading : reading;
    const isDecompressed = isZipped && sent.length > 0;
    const bytes = isDecompressed ? await decompress(sent, limit, account) : sent;
    if (bytes.length === 0 && !(coder.isText && coder.canBeEmpty)) return withoutBody();
    if (coder.isText && !isUtf8(bytes)) throw new UnreadableBody('must be UTF-8');
    const chargedSize = expectedSize + (isDecompressed ? bytes.length : 0);
    return account.inTurn(() => {
      // The values replace the bytes.
      const size = coder.isText ? estimatedSize(bytes) : MAX_ESTIMATE * bytes.length;
      account.charge(size - chargedSize);
      const body = coder.isText ? coder.read(bytes.toString(), media) : coder.read(bytes, media);
      return received(validator.body(media, body, account));
    }, true);
  }

  function withoutBody(): ReceivedBody {
    if (!requestBody?.required) return NO_BODY;
    throw new Violations([{ path: '/body', message: missingBody, keyword: 'required' }]);
  }

  /** @throws {HttpError} 400 or 415 */
  function declaredType(contentType: string): MediaType {
    // The Fetch standard joins several headers with commas.
    if (contentType.replace(/"[^"]*"/g, '').includes(','))
      throw new HttpError(400, 'the header content-type must come once');
    const media = mediaTypeFor(declared, contentType);
    if (media !== undefined) return media;
    const message =
      typeNames === ''
        ? 'the document declares no media type for the body'
        : `the body must be ${typeNames}`;
    throw new HttpError(415, message, { headers: { Accept: types.join(', ') } });
  }
}

const isTextForm = (coder: Coder): boolean => coder.unit === 'form' && coder.isText === true;

/** @throws {HttpError} 415 */
function checkCharset(coder: Coder, contentType: string): void {
  const isBytes = coder.unit === 'bytes' || coder.unit === 'items';
  if (isBytes || (coder.unit === 'value' && !coder.isText)) return;
  const charset = charsetOf(contentType) ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new HttpError(415, 'the charset of the body must be utf-8');
}

/** Destroys a stream that is not read to its end when the call is settled. */
function unread(stream: Readable, account: Account): Readable {
  account.defer(() => void (stream.readableEnded || stream.destroy(cutOff())));
  return stream;
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
  if (header === undefined) return 'identity';
  const accepted = isStreamed ? ['identity'] : ['gzip', 'identity'];
  // `x-gzip` is another name of `gzip` (RFC 9110 §8.4.1.3).
  const encoding = header.toLowerCase().replace(/^x-gzip$/, 'gzip');
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
