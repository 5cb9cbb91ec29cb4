import { hash } from 'node:crypto';
import { type Budget, spend } from './budget.ts';
import { exactNumber } from './numbers.ts';

/** The first character of the key of an array or an object. Its JSON text follows. */
const MARK = '\0';

/**
 * Longer keys are replaced by their digest: V8 hashes long strings by their length only, so a `Map`
 * of them would compare each pair.
 */
const MAX_KEY = 1_000;

/**
 * Returns a key for a `Set` or a `Map`. Equal values of JSON have equal keys (JSON Schema 2020-12
 * §4.2.2), such as two objects whose members are in different orders, or a number and the bigint of
 * the same value. Takes linear time.
 *
 * @throws {BudgetExceeded}
 */
export function equalityKey(value: unknown, budget: Budget): unknown {
  switch (typeof value) {
    case 'string': {
      const key = value.startsWith(MARK) ? MARK + value : value;
      return shortKey(key, budget);
    }
    case 'number':
    case 'bigint':
      return exactNumber(value);
    case 'object':
      if (value === null || isBytes(value)) return value;
      return shortKey(MARK + textOf(value, budget), budget);
    default:
      return value;
  }
}

function shortKey(key: string, budget: Budget): string {
  if (key.length <= MAX_KEY) return key;
  spend(budget, key.length / 4);
  // UTF-8 has no bytes for lone surrogates: all of them would have the same digest.
  return `${MARK}${MARK}${hash('sha256', Buffer.from(key, 'utf16le'))}`;
}

/** Returns a text that only equal values have, with the members of objects in order. */
function textOf(value: unknown, budget: Budget): string {
  spend(budget, 1);
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'bigint') {
    const text = String(exactNumber(value));
    spend(budget, text.length / 16);
    return text;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  let text = Array.isArray(value) ? '[' : '{';
  if (Array.isArray(value)) {
    for (const item of value) text += `${textOf(item, budget)},`;
    return `${text}]`;
  }
  const names = Object.keys(value);
  if (names.length > 1) names.sort();
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) text += `${quoted(name)}${textOf(member, budget)},`;
  }
  return `${text}}`;
}

/** The length tells where a text ends, so it needs no escapes. */
const quoted = (text: string): string => `${text.length}"${text}`;

/** True for a file of a form, or the bytes of a part. */
export const isBytes = (value: unknown): value is Blob | NodeJS.ArrayBufferView =>
  ArrayBuffer.isView(value) || value instanceof Blob;
