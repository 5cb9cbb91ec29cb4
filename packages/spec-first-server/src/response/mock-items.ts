import { setTimeout as delay } from 'node:timers/promises';
import { isObject, type MediaType, readEventData, readItems } from 'openapi-document';

/** Between two items of a stream. Milliseconds. */
const PACE = 300;

/** The items of an example. A text holds them as they are sent. */
export function listOf({ items }: MediaType, example: unknown): unknown {
  if (typeof example === 'string') return example;
  return [example].flat().map((item: unknown) => {
    if (!isObject(item) || typeof item.data !== 'string' || items === undefined) return item;
    try {
      return { ...item, data: readEventData(items.data, item.data) };
    } catch {
      return item;
    }
  });
}

/** Items with a pause between them. */
export async function* paced(media: MediaType, list: unknown): AsyncGenerator<unknown> {
  let pace = 0;
  const text = (async function* () {
    yield Buffer.from(String(list));
  })();
  for await (const item of Array.isArray(list) ? list : readItems(media, media.type, text, Infinity)) {
    await delay(pace);
    yield item;
    pace = PACE;
  }
}
