/** Estimates the size of a value in characters and bytes, down to three levels. */
export function sizeOf(value: unknown, levels = 3): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || levels === 0) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;

  let size = 0;
  for (const member of Object.values(value)) size += sizeOf(member, levels - 1);
  return size;
}
