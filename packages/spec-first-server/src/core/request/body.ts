import { constants, isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  BudgetExceeded,
  bodyLimitOf,
  type Coder,
  charsetOf,
  escapePointerToken,
  type FormCoder,
  isRange,
  isReadAtOnce,
  type MediaType,
  mediaTypeFor,
  type Operation,
  ParameterError,
  readAtOnce,
  type TextCoder,
  UnreadableBody,
  type ValueCoder,
} from 'openapi-document';
import { type Account, estimatedSize, MAX_ESTIMATE } from '../account.ts';
import type { Bytes, Call } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { type Check, type OperationValidator, Violations } from '../validation/validator.ts';
import { asBuffer, checkedItems, cutOff, limitedStream, readBytes, tooLarge } from './streams.ts';

/** A parsed and validated body. */
export interface ReceivedBody {
  /** The declared media type; `undefined` if there is no body. */
  readonly contentType: string | undefined;
  readonly body: unknown;
}

const NO_BODY: ReceivedBody = { contentType: undefined, body: undefined };

const NO_BYTES = new Uint8Array();

/** The way to read the bodies of a media type. */
interface MediaPlan {
  readonly media: MediaType;
  readonly coder: Coder;
  /** The coder, if it reads bodies at once. */
  readonly whole: TextCoder | ValueCoder | undefined;
  /** The maximum number of bytes. */
  readonly limit: number;
  readonly check: Check;
}

/** The parts of a request from which its body is read. */
interface Source {
  readonly bytes: Bytes | AsyncIterable<Bytes>;
  readonly contentType: string;
  /** The declared length in bytes, or 0. */
  readonly length: number;
  readonly isZipped: boolean;
  readonly account: Account;
}

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
): (call: Call, account: Account) => ReceivedBody | Promise<ReceivedBody> {
  if (requestBody === undefined) return () => NO_BODY;
  const { media: declared, required } = requestBody;
  const types = declared.map(({ type }) => type);
  const typeNames = types.join(' or ');
  const acceptsUntyped = mediaTypeFor(declared, '') !== undefined;
  const planOf = (media: MediaType, contentType: string): MediaPlan => {
    const coder = validator.codecs.of(media, contentType);
    const whole = isReadAtOnce(coder) ? coder : undefined;
    const limit = bodyLimitOf(media, coder, defaultLimit);
    return { media, coder, whole, limit, check: validator.body(media) };
  };
  const plans = new Map(
    declared.filter(({ type }) => !isRange(type)).map((media) => [media.type, planOf(media, '')]),
  );

  /**
   * When the account is settled, its memory is released, its files are removed, and a stream that
   * was not read to its end is destroyed.
   *
   * @throws {HttpError | Violations} 400, 413, 415 or 503
   */
  return (call, account) => {
    const { headers } = call;
    const { 'content-type': contentType = '', 'content-length': lengthText } = headers;
    // With a `Content-Type`, a length of 0 means an empty body, otherwise no body: clients also
    // send it with a POST without a body.
    const empty = contentType === '' ? undefined : NO_BYTES;
    const bytes = Number(lengthText) === 0 ? empty : call.body;
    if (bytes === undefined) return withoutBody();
    if (contentType === '' && !acceptsUntyped) return readUntyped(bytes);
    const plan = plans.get(contentType) ?? planFor(contentType);
    const { media, coder, whole, limit } = plan;
    const encoding = headers['content-encoding'];
    const isZipped = encoding !== undefined && checkEncoding(encoding, whole !== undefined);
    if (contentType.includes(';') && (coder.isText || /parts|items/.test(coder.unit)))
      checkCharset(contentType);
    const length = bytes instanceof Uint8Array ? bytes.length : Number(lengthText ?? 0);
    const source = { bytes, contentType, length, isZipped, account };
    if (coder.unit === 'items') {
      const message = { format: media, contentType };
      const chunks = unread(limitedStream(bytes, Infinity), account);
      const items = checkedItems(chunks, coder, message, limit, plan.check, account);
      return { contentType: media.type, body: items };
    }
    if (length > limit) throw tooLarge(limit);
    if (whole !== undefined) {
      // Waits only if the body has not arrived, is compressed, or must take turns.
      if (isZipped || !(bytes instanceof Uint8Array)) return readArriving(plan, whole, source);
      account.charge(length);
      return parse(plan, whole, bytes, length, account);
    }
    if (coder.unit === 'parts') return readForm(plan, coder, source);
    return { contentType: media.type, body: unread(limitedStream(bytes, limit), account) };
  };

  /** Parameters such as `charset` do not change the plan. A range has a plan for each body. */
  function planFor(contentType: string): MediaPlan {
    const media = declaredType(contentType);
    return plans.get(media.type) ?? planOf(media, contentType);
  }

  /** Clients may send an empty chunked body without a media type. */
  async function readUntyped(bytes: Source['bytes']): Promise<ReceivedBody> {
    if (await isEmpty(bytes)) return withoutBody();
    throw unsupported();
  }

  async function readArriving(
    plan: MediaPlan,
    coder: TextCoder | ValueCoder,
    { bytes: source, length, isZipped, account }: Source,
  ): Promise<ReceivedBody> {
    const { limit } = plan;
    const chargedSize = isZipped ? limit + length : length || limit;
    account.charge(chargedSize);
    const bytes = source instanceof Uint8Array ? source : await readBytes(source, limit, length);
    const body = isZipped && bytes.length > 0 ? await decompress(bytes, limit) : bytes;
    return parse(plan, coder, body, chargedSize, account);
  }

  /** Parses and validates a body in a turn of its call. */
  function parse(
    { media, check }: MediaPlan,
    coder: TextCoder | ValueCoder,
    bytes: Bytes,
    chargedSize: number,
    account: Account,
  ): ReceivedBody | Promise<ReceivedBody> {
    return account.turns.run(
      account,
      () => {
        // The values replace the bytes.
        const size = coder.isText ? estimatedSize(bytes) : MAX_ESTIMATE * bytes.length;
        account.charge(size - chargedSize);
        try {
          const value = readAtOnce(coder, bytes, media, decode, account);
          if (value === undefined) return withoutBody();
          return { contentType: media.type, body: check(value, account) };
        } catch (error) {
          throw rejectionOf(error);
        }
      },
      true,
    );
  }

  async function readForm(
    { media, limit, check }: MediaPlan,
    coder: FormCoder,
    { bytes, contentType, length, account }: Source,
  ): Promise<ReceivedBody> {
    const chunks = limitedStream(bytes, limit);
    const { formStorage } = await import('./form-storage.ts');
    const storage = formStorage(length || Infinity, defaultLimit, account);
    try {
      const message = { format: media, contentType };
      const form = await coder.read(storage.charged(chunks), message, storage);
      const body = await account.turns.run(account, () => check(form, account), true);
      return { contentType: media.type, body };
    } catch (error) {
      throw rejectionOf(error);
    } finally {
      chunks.destroy();
    }
  }

  function withoutBody(): ReceivedBody {
    if (!required) return NO_BODY;
    const message = typeNames === '' ? 'is required' : `is required, as ${typeNames}`;
    throw new Violations([{ path: '/body', message, keyword: 'required' }]);
  }

  /** @throws {HttpError} 400 or 415 */
  function declaredType(contentType: string): MediaType {
    // The Fetch standard joins several headers with commas.
    if (contentType.replace(/"[^"]*"/g, '').includes(','))
      throw new HttpError(400, 'the header content-type must come once');
    const media = mediaTypeFor(declared, contentType);
    if (media === undefined) throw unsupported();
    return media;
  }

  function unsupported(): HttpError {
    const message =
      typeNames === ''
        ? 'the document declares no media type for the body'
        : `the body must be ${typeNames}`;
    return new HttpError(415, message, { headers: { Accept: types.join(', ') } });
  }
}

/** Converts an error of a codec to the failure of the request. */
function rejectionOf(error: unknown): unknown {
  if (error instanceof UnreadableBody)
    return new HttpError(error.status, error.message, { reason: error.reason });
  if (error instanceof BudgetExceeded)
    return new Violations([{ path: '/body', message: error.message, keyword: 'budget' }]);
  if (!(error instanceof ParameterError)) return error;
  const path = `/body/${escapePointerToken(error.parameter)}`;
  return new Violations([{ path, message: error.reason, keyword: 'format' }]);
}

/** @throws {UnreadableBody} */
function decode(bytes: Bytes): string {
  if (!isUtf8(bytes)) throw new UnreadableBody('must be UTF-8');
  return (Buffer.isBuffer(bytes) ? bytes : asBuffer(bytes)).toString();
}

/** @throws {HttpError} 415 */
function checkCharset(contentType: string): void {
  const charset = charsetOf(contentType) ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new HttpError(415, 'the charset of the body must be utf-8');
}

/** Destroys a stream that is not read to its end when the call is settled. */
function unread(stream: Readable, account: Account): Readable {
  account.defer(() => void (stream.readableEnded || stream.destroy(cutOff())));
  return stream;
}

async function isEmpty(body: Bytes | AsyncIterable<Bytes>): Promise<boolean> {
  if (body instanceof Uint8Array) return body.length === 0;
  for await (const { length } of body) if (length > 0) return false;
  return true;
}

/** @returns true for gzip. @throws {HttpError} 415 */
function checkEncoding(header: string, canBeZipped: boolean): boolean {
  const accepted = canBeZipped ? ['gzip', 'identity'] : ['identity'];
  // `x-gzip` is another name of `gzip` (RFC 9110 §8.4.1.3).
  const codings = header
    .toLowerCase()
    .replace(/\bx-gzip\b/, 'gzip')
    .split(/[\s,]+/);
  const [coding = 'identity', ...others] = codings.filter((each) => !/^(identity)?$/.test(each));
  if (others.length === 0 && accepted.includes(coding)) return coding === 'gzip';
  throw new HttpError(415, `the content encoding must be ${accepted.join(' or ')}`, {
    headers: { 'Accept-Encoding': accepted.join(', ') },
  });
}

/** @throws {HttpError} 400 or 413 */
async function decompress(bytes: Bytes, limit: number): Promise<Buffer> {
  const { gunzip } = await import('node:zlib');
  try {
    return await promisify(gunzip)(bytes, {
      maxOutputLength: Math.min(limit, constants.MAX_LENGTH),
    });
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new HttpError(400, 'the body does not have the declared Content-Encoding');
  }
}
