import { type JsonOptions, MAX_DEPTH, parseSlowly, tooDeep } from './parser.ts';

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

/**
 * Parses JSON with exact integers. Ignores a byte order mark (RFC 8259 §8.1). Rejects objects with
 * several members of the same name (RFC 7493 §2.3), and numbers beyond the range of doubles.
 *
 * @throws {InvalidJson} with the place of the first error, or for JSON that is nested too deep.
 */
export function parseJson(text: string, { isLenient = false }: JsonOptions = {}): unknown {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const value = isMostlyBrackets(json) ? undefined : parseFast(json);
  if (value === undefined) return parseSlowly(json, isLenient);
  const found = { names: 0, hasEscapes: json.includes('\\'), isInexact: false };
  survey([value], 0, found);
  const isExact = !found.isInexact && (isLenient || !hasMoreNames(json, found.names));
  return isExact ? value : parseSlowly(json, isLenient);
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

type Composite = Parsed[] | { [name: string]: Parsed };
type Parsed = null | boolean | string | number | Composite;

/** Returns `undefined` for invalid JSON. */
function parseFast(json: string): Parsed | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The facts about a value that `JSON.parse` returned. */
interface Findings {
  /** The number of members of all objects. */
  names: number;
  readonly hasEscapes: boolean;
  /**
   * True for a double that may stand for another number, and for a name that V8 may have misread:
   * `"\u00e9"` as `\`, if an object had a name that begins with the same characters
   * (nodejs/node#63785).
   */
  isInexact: boolean;
}

/**
 * Looks at all values. Takes a tenth of the time of `JSON.parse`.
 *
 * @throws {InvalidJson} for a value that is nested too deep.
 */
function survey(composite: Composite, depth: number, found: Findings): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(composite)) {
    for (let index = 0; index < composite.length; index += 1) {
      const item = composite[index];
      if (typeof item === 'number') surveyNumber(item, found);
      else if (typeof item === 'object' && item !== null) survey(item, depth + 1, found);
    }
  } else {
    for (const name in composite) {
      found.names += 1;
      if (found.hasEscapes && name.includes('\\')) found.isInexact = true;
      const member = composite[name];
      if (typeof member === 'number') surveyNumber(member, found);
      else if (typeof member === 'object' && member !== null) survey(member, depth + 1, found);
    }
  }
}

const MAX_SAFE = 2 ** 53;

function surveyNumber(value: number, found: Findings): void {
  if (value >= MAX_SAFE || value <= -MAX_SAFE) found.isInexact = true;
}

/** Returns true if valid JSON may have more names than that. */
function hasMoreNames(json: string, limit: number): boolean {
  let count = 0;
  let colon = json.indexOf(':');
  while (colon !== -1) {
    let before = colon - 1;
    while (json.charCodeAt(before) <= 0x20) before -= 1;
    // The colon may also be in a string.
    if (json.charAt(before) === '"') count += 1;
    colon = json.indexOf(':', colon + 1);
  }
  return count > limit;
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
