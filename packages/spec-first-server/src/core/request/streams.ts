import { Readable } from 'node:stream';
import { allBytes, type ItemsCoder, type Message, UnreadableBody } from 'openapi-document';
import { type Account, estimatedSize } from '../account.ts';
import type { Bytes } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { type Check, Violations } from '../validation/validator.ts';

/**
 * Reads a body. Rejects it as soon as it is too large.
 *
 * @param declaredLength the `Content-Length` in bytes, or 0.
 * @throws {HttpError} 400 or 413
 */
export const readBytes = (
  body: AsyncIterable<Bytes>,
  limit: number,
  declaredLength?: number,
): Promise<Bytes> =>
  allBytes(
    body,
    limit,
    () => tooLarge(limit),
    declaredLength,
    (error) => (isRejection(error) ? error : cutOff()),
  );

export const asBuffer = (bytes: Bytes): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Returns the body as a stream. It fails with 413 if the body exceeds the limit, and with 400 if
 * the client closes the connection before its end.
 */
export function limitedStream(body: Bytes | AsyncIterable<Bytes>, limit: number): Readable {
  const chunks = chunksOf(body);
  let size = 0;
  const stream = new Readable({
    async read() {
      try {
        const { done, value } = await chunks.next();
        if (done) return void this.push(null);
        size += value.length;
        if (size > limit) throw tooLarge(limit);
        this.push(value);
      } catch (error) {
        this.destroy(isRejection(error) ? error : cutOff());
      }
    },
    destroy(error, done) {
      Promise.try(() => chunks.return?.()).catch(() => undefined);
      done(error);
    },
  });
  // Handlers may ignore the stream. Without a listener, its error would end the process.
  stream.on('error', () => {});
  return stream;
}

const chunksOf = (body: Bytes | AsyncIterable<Bytes>): Iterator<Bytes> | AsyncIterator<Bytes> =>
  body instanceof Uint8Array ? [body].values() : body[Symbol.asyncIterator]();

/**
 * Yields the items of a body. Each item is read and validated when the handler requests it.
 *
 * @param limit the maximum size of an item: characters, or bytes of a part of a multipart body.
 * @throws {Violations | HttpError} in place of an invalid or too large item.
 */
export async function* checkedItems(
  bytes: AsyncIterable<Bytes>,
  coder: ItemsCoder,
  message: Message,
  limit: number,
  check: Check,
  account: Account,
): AsyncGenerator<unknown> {
  let index = 0;
  /** The number of items that have been read when the last chunk arrived. */
  let indexAtChunk = 0;
  let chunkSize = 0;
  let chargedSize = 0;

  /**
   * Charges the chunks that may contain parts of the next item: the last chunk in which an item
   * ended, and all after it.
   */
  async function* charged(): AsyncGenerator<Bytes> {
    for await (const chunk of bytes) {
      if (index > indexAtChunk) {
        account.charge(chunkSize - chargedSize);
        chargedSize = chunkSize;
        indexAtChunk = index;
      }
      chunkSize = estimatedSize(chunk);
      account.charge(chunkSize);
      chargedSize += chunkSize;
      yield chunk;
    }
  }

  try {
    for await (const item of coder.read(charged(), message, limit)) {
      yield await account.turns.run(account, () => check(item));
      index += 1;
    }
  } catch (error) {
    const path = `/body/${index}`;
    if (error instanceof Violations) {
      const located = error.violations.map((violation) => ({
        ...violation,
        path: violation.path.replace('/body', path),
      }));
      throw new Violations(located, error.isComplete);
    }
    if (!(error instanceof UnreadableBody)) throw error;
    const { status, requirement } = error;
    if (status === 413) throw new HttpError(status, `${path} ${requirement}`);
    throw new Violations([{ path, message: requirement, keyword: 'type' }]);
  }
}

/** Returns false for an error of the connection or the disk. */
export const isRejection = (error: unknown): error is HttpError | UnreadableBody =>
  error instanceof HttpError || error instanceof UnreadableBody;

export const tooLarge = (limit: number): HttpError =>
  new HttpError(413, `the body must be at most ${limit} bytes`, {
    reason: `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`,
  });

export const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
