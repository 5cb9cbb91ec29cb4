/**
 * JSON with exact 64-bit integers.
 *
 * An integer within ±(2⁵³−1) is a `number`. Any other integer of int64 is a `bigint`. Equal
 * integers have the same type, so `===` compares them. All other values are those of `JSON.parse`.
 */
declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as `text`. Missing in TypeScript's types. */
    rawJSON(text: string): unknown;
  }
}

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses a JSON number (RFC 8259 §6). Returns an integer of int64 exactly, any other number as the
 * nearest double, and `undefined` for a string that is not a JSON number. `1.0` and `1e2` are
 * integers.
 */
export function parseNumber(text: string): number | bigint | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const double = Number(text);
  if (!Number.isInteger(double) || Number.isSafeInteger(double)) return double;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const shift = Number(exponent) - fraction.length;
  if (shift < 0 && /[1-9]/.test(digits.slice(shift))) return double;
  const exact = BigInt(sign + (shift < 0 ? digits.slice(0, shift) : digits + '0'.repeat(shift)));
  return exact === BigInt.asIntN(64, exact) ? exact : double;
}

const exactReviver = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? parseNumber(context.source) : value;

/** The maximum nesting of arrays and objects. Prevents stack overflows. */
export const MAX_DEPTH = 256;

/** Runs before `JSON.parse`, which takes tens of milliseconds for 100,000 nested arrays. */
function isTooDeep(text: string): boolean {
  // Cheap check first, since most texts have few brackets.
  const bracketCounts = ['[', '{'].map((bracket) => text.split(bracket, MAX_DEPTH).length - 1);
  if (bracketCounts.every((count) => count <= MAX_DEPTH / 2)) return false;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isInString = !isInString;
    else if (character === '\\') index += 1;
    else if (isInString) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * `JSON.parse` with exact integers.
 *
 * @throws {SyntaxError} for invalid JSON.
 * @throws {RangeError} for JSON that is nested too deep. Callers prepend "must be" to the message:
 *   `JSON nested at most 256 levels deep`.
 */
export function parseJson(text: string): unknown {
  if (text.length > MAX_DEPTH && isTooDeep(text))
    throw new RangeError(`JSON nested at most ${MAX_DEPTH} levels deep`);
  // Only numbers of 16 or more digits or with an exponent can be integers beyond 2^53.
  return /\d[\d.]{15}|\d[eE][+-]?\d/.test(text) ? JSON.parse(text, exactReviver) : JSON.parse(text);
}

type WithoutText = symbol | ((...parameters: never) => unknown) | { toJSON(): unknown };

/** Includes `undefined` only if JSON may be unable to represent a value of the type. */
type JsonText<Value> =
  | string
  | Extract<undefined, Value>
  | (Value extends WithoutText ? undefined : never);

/**
 * `JSON.stringify` that writes a `bigint` as a number, also if `BigInt.prototype.toJSON` exists.
 * Returns `undefined` if JSON cannot represent the value.
 *
 * @throws {TypeError} for a circular object.
 */
export function stringifyJson<Value>(value: Value, space?: number): JsonText<Value>;
export function stringifyJson(value: unknown, space?: number): string | undefined {
  // JSON.stringify is several times faster without a replacer. It throws at the first bigint, but
  // not if a library has defined a global toJSON.
  if (!('toJSON' in BigInt.prototype)) {
    try {
      return JSON.stringify(value, undefined, space);
    } catch {
      // Contains a bigint. Other errors are thrown again below.
    }
  }
  return JSON.stringify(value, replaceBigint, space);
}

/** @param item the result of `toJSON`, which runs before the replacer. */
function replaceBigint(
  this: Readonly<Record<string, unknown>>,
  key: string,
  item: unknown,
): unknown {
  const exact = typeof item === 'bigint' ? item : this[key];
  return typeof exact === 'bigint' ? JSON.rawJSON(exact.toString()) : item;
}
