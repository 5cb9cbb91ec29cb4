import type { IncomingMessage, ServerResponse } from 'node:http';
import { type MediaType, UnreadableItem } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';
import { limitedStream } from './bytes.ts';

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
      throw HttpError.violations(located);
    }
    if (!(error instanceof UnreadableItem)) throw error;
    if (error.isTooLarge) throw new HttpError(413, `${path} ${error.message}`);
    throw HttpError.violations([{ path, message: error.message, keyword: 'type' }]);
  }
}
