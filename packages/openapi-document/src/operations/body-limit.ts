import type { CodecFacts } from '../codecs/codec.ts';
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
 * @param codec the facts about the codec that reads the body.
 * @param defaultLimit the limit if the document has none.
 * @throws {Error} whose message completes the sentence "x-body-limit must be".
 */
export function bodyLimitOf(
  { source, outline }: MediaType,
  { unit, isText = false }: CodecFacts,
  defaultLimit: number,
): number {
  const { 'x-body-limit': limit } = source;
  if (limit === undefined)
    return unit === 'bytes' && outline.maxLength < Infinity ? outline.maxLength : defaultLimit;
  const text = typeof limit === 'object' ? '' : String(limit);
  const isParsed = unit === 'value' || isText;
  return parseSize(text, isParsed ? MAX_PARSED : Number.MAX_SAFE_INTEGER);
}
