import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { type MediaType, UnreadableItem } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';

/** The body as a stream, which ends with 413 if it grows beyond the limit. */
export function limitedStream(request: IncomingMessage, response: ServerResponse, limit: number): Readable {
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > limit ? tooLarge(limit) : null, chunk);
    },
  });
  // A handler may destroy the stream or never read it. The connection stays usable.
  stream.on('error', () => {});
  response.once('finish', () => {
    request.unpipe(stream);
    request.resume();
  });
  request.on('aborted', () => stream.destroy(cutOff()));
  if (request.destroyed) stream.destroy(cutOff());
  return request.pipe(stream);
}

/**
 * The items of a body, each read and checked when the handler asks for it.
 *
 * @param limit the maximum size of an item.
 * @throws {HttpError} 400 or 413, when the item that is wrong is asked for.
 */
export async function* checkedItems(
  request: IncomingMessage,
  response: ServerResponse,
  media: MediaType,
  limit: number,
  validator: OperationValidator,
): AsyncGenerator<unknown> {
  const bytes = limitedStream(request, response, Infinity);
  let index = 0;
  try {
    for await (const item of media.readItems(request.headers['content-type'] ?? '', bytes, limit)) {
      yield validator.item(media, item);
      index += 1;
    }
  } catch (error) {
    const path = `/body/${index}`;
    if (error instanceof Violations) {
      const located = error.violations.map((each) => ({ ...each, path: each.path.replace('/body', path) }));
      throw new Violations(located);
    }
    if (!(error instanceof UnreadableItem)) throw error;
    if (error.isTooLarge) throw new HttpError(413, `${path} ${error.message}`);
    throw new Violations([{ path, message: error.message, keyword: 'type' }]);
  }
}

export const tooLarge = (limit: number): HttpError =>
  new HttpError(413, `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`);

export const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
