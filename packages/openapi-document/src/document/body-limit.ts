import type { MediaType } from './media.ts';

const UNITS = ['b', 'kb', 'mb'];

/** The maximum size of a body that is parsed as one string. V8 limits strings to 2²⁹ characters. */
const MAX_PARSED = 256 * 1024 ** 2;

/**
 * Parses a size in bytes, such as `500`, `100kb` or `10mb`.
 *
 * @throws {Error} whose message completes the sentence "… must be".
 */
export function parseSize(text: string, max = MAX_PARSED): number {
  const [, amount, unit = 'b'] = /^(\d{1,15})\s*(b|kb|mb)?$/i.exec(text) ?? [];
  const size = Number(amount) * 1024 ** UNITS.indexOf(unit.toLowerCase());
  if (size >= 1 && size <= max) return size;
  const range = max === MAX_PARSED ? 'from 1b to 256mb' : 'of at least 1b';
  throw new Error(`a size ${range}, such as 500, 100kb or 10mb`);
}

/**
 * Returns the maximum number of bytes of a body: `x-body-limit`, or the `maxLength` of a binary
 * body.
 *
 * @param defaultLimit the limit if the document has none.
 * @throws {Error} whose message completes the sentence "x-body-limit must be".
 */
export function bodyLimitOf(media: MediaType, defaultLimit: number): number {
  const { kind, items, source, outline } = media;
  const { 'x-body-limit': limit } = source;
  if (limit !== undefined) return parseLimit(media, limit);
  const isBytes = kind === 'stream' && items === undefined;
  return (isBytes ? outline.maxLength : undefined) ?? defaultLimit;
}

function parseLimit({ kind }: MediaType, limit: unknown): number {
  const isStreamed = kind === 'stream' || kind === 'multipart';
  const text = typeof limit === 'object' ? '' : String(limit);
  return parseSize(text, isStreamed ? Number.MAX_SAFE_INTEGER : MAX_PARSED);
}
