import { HttpError } from 'spec-first-server';

/** Returns the cursor of the page that begins after a key. */
const cursorOf = (key: string): string => Buffer.from(key).toString('base64url');

/** Returns the key in a cursor. @throws {HttpError} 400 */
export function keyIn(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  if (cursorOf(key) !== cursor) throw new HttpError(400, 'cursor must be the `next` of a page');
  return key;
}

/** Returns the first rows as a page. @param rows has `limit + 1` rows if there is a next page */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null;
  return { items, next };
}
