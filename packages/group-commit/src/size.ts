/** Adds up the characters of strings and the bytes of buffers, on three levels of a value. */
export function sizeOf(value: unknown, levels = 3): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || levels === 0) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;

  let size = 0;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const member of members) size += sizeOf(member, levels - 1);
  return size;
}
