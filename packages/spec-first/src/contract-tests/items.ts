import { declaredFor, type MediaType, mediaTypeFor, type Operation, readItems, UnreadableItem } from 'openapi-document';
import type { Answer } from './values.ts';

/** Reads the items of an answer whose media type has an `itemSchema`. */
export async function withItems(operation: Operation, answer: Answer): Promise<Answer> {
  const type = answer.headers['content-type'] ?? '';
  const media = mediaTypeFor(declaredFor(operation, answer.status)?.media ?? [], type);
  if (media?.items === undefined) return answer;
  const items: unknown[] = [];
  try {
    for await (const item of itemsOf(media, type, answer.body)) items.push(item);
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error;
    if (answer.isCut !== true) return { ...answer, items, unreadable: error.message };
  }
  return { ...answer, items };
}

const itemsOf = (media: MediaType, type: string, body: Buffer) => {
  const bytes = async function* () {
    yield body;
  };
  return readItems(media, type, bytes(), Infinity);
};
