import {
  duplicateOffset,
  errorOffset,
  hasMoreNames,
  isDeeper,
  longNumbers,
  namesIn,
} from './scan.ts';

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

export interface JsonOptions {
  /**
   * Accepts what `JSON.parse` accepts: of several members with the same name, the last one is used,
   * and a number beyond the range of doubles is infinite. False by default.
   */
  readonly isLenient?: boolean;
}

/**
 * Parses JSON with exact integers. Ignores a byte order mark (RFC 8259 §8.1). Rejects objects with
 * several members of the same name (RFC 7493 §2.3), and numbers beyond the range of doubles.
 *
 * @throws {InvalidJson} with the place of the first error, or for JSON that is nested too deep.
 */
export function parseJson(text: string, { isLenient = false }: JsonOptions = {}): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (isMostlyBrackets(json) && isDeeper(json, MAX_DEPTH)) throw new InvalidJson(TOO_DEEP);
  const { value, found } = surveyed(parseDoubles(json), json);
  if (!isLenient && found.isInfinite) {
    const infinite = longNumbers(json).find((number) => !Number.isFinite(Number(number.text)));
    throw invalid(json, 'must be JSON with numbers up to 1.8e308', infinite?.index);
  }
  if (!isLenient && hasMoreNames(json, found.names))
    throw invalid(json, 'must be JSON without duplicate names', duplicateOffset(json));
  return found.hasLarge ? withExactIntegers(json, value, found) : value;
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
    throw invalid(json, 'must be JSON', errorOffset(json, String(error)));
  }
}

/** @param offset the place of the error, if it is known. */
function invalid(json: string, reason: string, offset: number | undefined): InvalidJson {
  if (offset === undefined) return new InvalidJson(reason);
  const lines = json.slice(0, offset).split('\n');
  const column = (lines.at(-1) ?? '').length + 1;
  return new InvalidJson(`${reason} (invalid at line ${lines.length}, column ${column})`);
}

type Composite = Parsed[] | { [name: string]: Parsed };
type Parsed = null | boolean | string | number | bigint | undefined | Composite;

const MAX_SAFE = 2 ** 53;

/** Returns true for a double that may stand for another integer of int64. */
const isLarge = (value: number): boolean =>
  value >= MAX_SAFE ? value <= 2 ** 63 : value <= -MAX_SAFE && value >= -(2 ** 63);

const mayBeLarge = (value: Parsed): value is number | Composite =>
  typeof value === 'number' ? isLarge(value) : typeof value === 'object' && value !== null;

interface Findings {
  /** The number of members of all objects. */
  names: number;
  /** True if the text has an escape, so that V8 may have misread a name. */
  readonly hasEscapes: boolean;
  /** True if a name has a backslash, as each misread name has. */
  mayBeMisread: boolean;
  /** True for a double that may stand for another integer of int64. */
  hasLarge: boolean;
  isInfinite: boolean;
}

/** Returns the facts about a value that `JSON.parse` returned, and the value with exact names. */
function surveyed(
  value: Parsed,
  json: string,
): { readonly value: Parsed; readonly found: Findings } {
  const hasEscapes = json.includes('\\');
  const found: Findings = {
    names: 0,
    hasEscapes,
    mayBeMisread: false,
    hasLarge: false,
    isInfinite: false,
  };
  survey([value], 0, found);
  if (!found.mayBeMisread) return { value, found };
  const exactValue = withExactNames(json);
  found.names = 0;
  survey([exactValue], 0, found);
  return { value: exactValue, found };
}

/**
 * Parses JSON with other names in place of those with escapes. V8 misreads such a name if an object
 * had a name that begins with the same characters: `"\u00e9"` as `\` (nodejs/node#63785).
 */
function withExactNames(json: string): Parsed {
  const mark = `${Math.random()}:`;
  const names: string[] = [];
  let text = '';
  let copied = 0;
  for (const { start, end } of namesIn(json)) {
    const name = json.slice(start, end);
    if (!name.includes('\\')) continue;
    text += `${json.slice(copied, start)}"${mark}${names.length}"`;
    names.push(JSON.parse(name));
    copied = end;
  }
  return named(JSON.parse(text + json.slice(copied)));

  function named(value: Parsed): Parsed {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(named);
    const members = Object.entries(value).map(([name, member]): [string, Parsed] => [
      name.startsWith(mark) ? (names[Number(name.slice(mark.length))] ?? name) : name,
      named(member),
    ]);
    return Object.fromEntries(members);
  }
}

/**
 * Looks at all values. Takes a tenth of the time of `JSON.parse`.
 *
 * @throws {InvalidJson} for a value that is nested too deep.
 */
function survey(composite: Composite, depth: number, found: Findings): void {
  if (depth > MAX_DEPTH) throw new InvalidJson(TOO_DEEP);
  if (Array.isArray(composite)) {
    for (let index = 0; index < composite.length; index += 1) {
      const item = composite[index];
      if (typeof item === 'number') surveyNumber(item, found);
      else if (typeof item === 'object' && item !== null) survey(item, depth + 1, found);
    }
  } else {
    for (const name in composite) {
      found.names += 1;
      if (found.hasEscapes && name.includes('\\')) found.mayBeMisread = true;
      const member = composite[name];
      if (typeof member === 'number') surveyNumber(member, found);
      else if (typeof member === 'object' && member !== null) survey(member, depth + 1, found);
    }
  }
}

function surveyNumber(value: number, found: Findings): void {
  if (value < MAX_SAFE && value > -MAX_SAFE) return;
  if (isLarge(value)) found.hasLarge = true;
  else if (!Number.isFinite(value)) found.isInfinite = true;
}

/** Replaces the large doubles in the result of `JSON.parse` by exact integers. */
function withExactIntegers(json: string, value: Parsed, { mayBeMisread }: Findings): unknown {
  /** Each large double, and the integer that it stands for. */
  const integers = new Map<number, number | bigint | undefined>();
  let unused = MAX_SAFE;
  let text = '';
  let copied = 0;
  for (const number of longNumbers(json)) {
    const double = Number(number.text);
    if (!isLarge(double)) continue;
    const integer = parseNumber(number.text);
    if (!integers.has(double)) integers.set(double, integer);
    if (integers.get(double) === integer) continue;
    // If one double stands for two integers, the second one is written as another double.
    while (integers.has(unused)) unused += 2;
    integers.set(unused, integer);
    text += json.slice(copied, number.index) + unused;
    copied = number.index + number.text.length;
  }
  const parse = mayBeMisread ? withExactNames : JSON.parse;
  const parsed: Parsed = copied === 0 ? value : parse(text + json.slice(copied));
  return mayBeLarge(parsed) ? exact(parsed) : parsed;

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
