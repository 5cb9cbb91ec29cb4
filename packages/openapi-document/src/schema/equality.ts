import { hash } from 'node:crypto';
import { type Budget, spend } from './budget.ts';

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
  return `${MARK}${MARK}${hash('sha256', key)}`;
}

/** Returns a safe integer as a number, and any other integer as a bigint. */
function exactNumber(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** Returns the JSON text of a value, with the members of objects in the order of their names. */
function textOf(value: unknown, budget: Budget): string {
  spend(budget, 1);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(exactNumber(value));
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item, budget)).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${textOf(member, budget)}`);
  return `{${members.join()}}`;
}

/** True for a file of a form, or the bytes of a part. */
export const isBytes = (value: unknown): value is Blob | NodeJS.ArrayBufferView =>
  ArrayBuffer.isView(value) || value instanceof Blob;
