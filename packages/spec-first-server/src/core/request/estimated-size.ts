/** The maximum memory in bytes that a byte takes when it is parsed: an empty object. */
export const MAX_ESTIMATE = 64;

/**
 * The bytes of memory that a parsed value takes, by the characters of its text: an object or array,
 * an item, a member, a field of a form, and 1 for every other byte.
 */
const SIZES = new Uint8Array(256).fill(1);
for (const [characters, size] of [
  ['{[&', MAX_ESTIMATE],
  [':', 32],
  [',', 16],
] as const) {
  for (const character of characters) SIZES[character.charCodeAt(0)] = size;
}

/**
 * Estimates the memory in bytes that a text will take when it is parsed as JSON or as a form. For
 * `[{},{},…]`, this is 27 times its length.
 */
export function estimatedSize(text: Uint8Array): number {
  let size = 0;
  // An iterator would take eight times as long.
  for (let index = 0; index < text.length; index += 1) size += SIZES[text[index] ?? 0] ?? 0;
  return size;
}
