import { errorOffset, isDeeper, replaceLongNumbers } from './scan.ts';

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

/** The maximum nesting of arrays and objects. Prevents stack overflows. */
export const MAX_DEPTH = 256;

const TOO_DEEP = `must be JSON nested at most ${MAX_DEPTH} levels deep`;

/** The message is a predicate, such as "must be JSON". It contains nothing of the text. */
export class InvalidJson extends SyntaxError {
  override readonly name = 'InvalidJson';
}

/**
 * Parses JSON with exact integers. Ignores a byte order mark (RFC 8259 §8.1).
 *
 * @throws {InvalidJson} with the place of the first error, or for JSON that is nested too deep.
 */
export function parseJson(text: string): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (isMostlyBrackets(json) && isDeeper(json, MAX_DEPTH)) throw new InvalidJson(TOO_DEEP);
  const value = parseDoubles(json);
  return mayBeLarge(value) && hasLarge(value, 1) ? withExactIntegers(json, value) : value;
}

/**
 * Returns true if every 16th character is an opening bracket. `JSON.parse` needs 50 ns and 50 bytes
 * for each level of nesting, so 10 MB of brackets would take half a second.
 */
function isMostlyBrackets(json: string): boolean {
  let remaining = Math.max(MAX_DEPTH, json.length / 16);
  for (const bracket of ['[', '{']) {
    let index = json.indexOf(bracket);
    while (index !== -1 && remaining > 0) {
      remaining -= 1;
      index = json.indexOf(bracket, index + 1);
    }
  }
  return remaining <= 0;
}

function parseDoubles(json: string): Parsed {
  try {
    return JSON.parse(json);
  } catch (error) {
    const offset = errorOffset(json, String(error));
    throw new InvalidJson(`must be JSON${offset === undefined ? '' : placeOf(json, offset)}`);
  }
}

function placeOf(json: string, offset: number): string {
  const lines = json.slice(0, offset).split('\n');
  return ` (invalid at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}

type Composite = Parsed[] | { [name: string]: Parsed };
type Parsed = null | boolean | string | number | bigint | undefined | Composite;

/** Returns true for a double that may stand for another integer of int64. */
const isLarge = (value: number): boolean =>
  value >= 2 ** 53 ? value <= 2 ** 63 : value <= -(2 ** 53) && value >= -(2 ** 63);

const mayBeLarge = (value: Parsed): value is number | Composite =>
  typeof value === 'number' ? isLarge(value) : typeof value === 'object' && value !== null;

/**
 * Takes a tenth of the time of `JSON.parse`.
 *
 * @throws {InvalidJson} for a value that is nested too deep.
 */
function hasLarge(value: number | Composite, depth: number): boolean {
  if (typeof value === 'number') return true;
  if (depth > MAX_DEPTH) throw new InvalidJson(TOO_DEEP);
  let result = false;
  // Does not stop at the first large integer, since it checks the depth of all members.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (mayBeLarge(item) && hasLarge(item, depth + 1)) result = true;
    }
  } else {
    for (const name in value) {
      const member = value[name];
      if (mayBeLarge(member) && hasLarge(member, depth + 1)) result = true;
    }
  }
  return result;
}

/** Replaces the large doubles in the result of `JSON.parse` by exact integers. */
function withExactIntegers(json: string, value: number | Composite): unknown {
  /** Each large double, and the integer that it stands for. */
  const integers = new Map<number, number | bigint | undefined>();
  let unused = 2 ** 53;
  // If one double stands for two integers, the second one is written as another double.
  const text = replaceLongNumbers(json, (number) => {
    const double = Number(number);
    if (!isLarge(double)) return number;
    const integer = parseNumber(number);
    if (!integers.has(double)) integers.set(double, integer);
    if (integers.get(double) === integer) return number;
    while (integers.has(unused)) unused += 2;
    integers.set(unused, integer);
    return String(unused);
  });
  return exact(text === json ? value : JSON.parse(text));

  function exact(part: number | Composite): Parsed {
    if (typeof part === 'number') return integers.get(part);
    if (Array.isArray(part)) {
      for (let index = 0; index < part.length; index += 1) {
        const item = part[index];
        if (mayBeLarge(item)) part[index] = exact(item);
      }
    } else {
      for (const name of Object.keys(part)) {
        const member = part[name];
        if (mayBeLarge(member)) part[name] = exact(member);
      }
    }
    return part;
  }
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
