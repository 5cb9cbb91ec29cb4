import { Readable } from 'node:stream';
import { type MediaType, UnreadableItem } from 'openapi-document';
import type { Bytes } from '../call.ts';
import { HttpError } from '../response/http-error.ts';
import { inTurn } from '../turns.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';

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
        this.destroy(error instanceof HttpError ? error : cutOff());
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
  bytes: Readable,
  contentType: string,
  media: MediaType,
  limit: number,
  validator: OperationValidator,
): AsyncGenerator<unknown> {
  let index = 0;
  try {
    for await (const item of media.readItems(contentType, bytes, limit)) {
      yield await inTurn(() => validator.item(media, item));
      index += 1;
    }
  } catch (error) {
    const path = `/body/${index}`;
    if (error instanceof Violations) {
      const located = error.violations.map((violation) => ({
        ...violation,
        path: violation.path.replace('/body', path),
      }));
      throw new Violations(located);
    }
    if (!(error instanceof UnreadableItem)) throw error;
    if (error.isTooLarge) throw new HttpError(413, `${path} ${error.message}`);
    throw new Violations([{ path, message: error.message, keyword: 'type' }]);
  }
}

export const tooLarge = (limit: number): HttpError =>
  new HttpError(
    413,
    `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`,
  );

export const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
