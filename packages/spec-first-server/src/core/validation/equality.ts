import { isBytes, toJson } from './rewrite.ts';

/** The first character of the key of an array or an object. Its JSON text follows. */
const MARK = '\0';

/**
 * Returns a key for a `Set` or a `Map`. Equal values of JSON have equal keys, such as two objects
 * whose members are in different orders, or a number and the bigint of the same value.
 */
export function keyOf(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return value.startsWith(MARK) ? MARK + value : value;
    case 'number':
    case 'bigint':
      return exactNumber(value);
    case 'object':
      return value === null || isBytes(value) ? value : MARK + textOf(value);
    default:
      return value;
  }
}

/** Returns a safe integer as a number, and any other integer as a bigint. */
function exactNumber(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** Returns the JSON text of a value, with the members of objects in the order of their names. */
function textOf(source: unknown): string {
  const value = typeof source === 'object' && source !== null ? toJson(source) : source;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(exactNumber(value));
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`).join()}}`;
}
