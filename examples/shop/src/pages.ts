import { HttpError } from 'spec-first-server';
import type { Int64 } from '../generated/openapi.ts';

/** Returns the cursor of the page that begins after a key. */
function cursorOf(key: Int64): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(key));
  return bytes.toString('base64url');
}

/** @throws {HttpError} 400 if the cursor is malformed. */
export function keyIn(cursor: string): bigint {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== 8) throw new HttpError(400, 'cursor must be the `next` of a page');
  return bytes.readBigInt64BE();
}

/** @param rows has `limit + 1` rows if there is a next page. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => Int64) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null;
  return { items, next };
}
