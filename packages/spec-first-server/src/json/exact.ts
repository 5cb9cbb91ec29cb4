/**
 * Integers beyond what a `number` holds exactly, through JSON and past validators that know only `number`.
 *
 * An integer within ±(2⁵³−1) is a `number`, one beyond that and within int64 a `bigint`: each integer has one form, so
 * `===` compares. Everything else of JSON is as `JSON.parse` gives it.
 */
declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as this text (ECMA-262 §25.5.3), which TypeScript does not know yet. */
    rawJSON(text: string): unknown;
  }
}

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** What `format: int64` admits among the integers, told a `number`: −2⁶³ to 2⁶³−1. `type` says what is an integer. */
export const int64Format = {
  type: 'number' as const,
  validate: (value: number): boolean => !Number.isInteger(value) || (value >= -(2 ** 63) && value < 2 ** 63),
};

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number whose nearest double is an int64 though it is none itself: 9007199254740992.5, or −2⁶³−1. */
export class Inexact {
  readonly double: number;

  constructor(double: number) {
    this.double = double;
  }
}

/**
 * A number as JSON writes it (RFC 8259 §6), exactly if it is an integer of int64, else the nearest double; `undefined`
 * if the text is no JSON number. `1.0` and `1e2` are integers.
 */
export function parseNumber(text: string): number | bigint | Inexact | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const double = Number(text);
  if (!mayHoldLarge(text) || !Number.isInteger(double) || Math.abs(double) > 2 ** 63) return double;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const trailing = digits.length - endOfNonZeros(digits);
  const shift = Number(exponent) - fraction.length;
  if (digits === '0') return double;
  if (shift < -trailing) return new Inexact(double);
  const exact = BigInt(sign + (shift < 0 ? digits.slice(0, shift) : digits + '0'.repeat(shift)));
  if (exact >= MIN && exact <= MAX) return canonical(exact);
  return double < -(2 ** 63) || double >= 2 ** 63 ? double : new Inexact(double);
}

/** Where the zeros at the end begin. A regular expression would try each zero before them. */
function endOfNonZeros(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}

/** The one form of an integer. */
function canonical(value: bigint): number | bigint {
  const double = Number(value);
  return Number.isSafeInteger(double) ? double : value;
}

/** Whether a text may hold a number that a double does not hold; never wrong with `false`. */
const mayHoldLarge = (text: string): boolean => /\d[\d.]{15}|\d[eE]/.test(text);

const exactReviver = (_key: string, value: unknown, context: { source?: string }): unknown =>
  typeof value === 'number' && context.source !== undefined ? parseNumber(context.source) : value;

/** The deepest nesting of arrays and objects that is read: what walks a value must not run out of stack. */
export const MAX_DEPTH = 256;

/** Whether a JSON text nests deeper than `MAX_DEPTH`; of a text that is no JSON, either. */
export function nestsTooDeep(text: string): boolean {
  if (text.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      if (at < 0) return false;
    } else if (char === '[' || char === '{') {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (char === ']' || char === '}') depth -= 1;
  }
  return false;
}

/** The index of the quote that ends a string, -1 if none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return -1;
}

/** `JSON.parse` with every int64 exact. @throws {SyntaxError} as `JSON.parse` does, and for what `nestsTooDeep`. */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) throw new SyntaxError(`JSON nested deeper than ${MAX_DEPTH} levels`);
  return mayHoldLarge(text)
    ? JSON.parse(text, exactReviver as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

/**
 * `JSON.stringify` with every `bigint` as the number it is.
 *
 * @throws {TypeError} for what JSON cannot write, e.g. a circle; `undefined` gives `undefined`.
 */
export function stringifyJson(value: unknown): string | undefined {
  return holdsLarge(value)
    ? JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item))
    : JSON.stringify(value);
}

/** Whether a number that no double holds, as `parseJson` gives it, is anywhere in a JSON-like value. */
export function holdsLarge(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (value instanceof Inexact) return true;
  for (const key in value) if (holdsLarge((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** Calls `change` on each leaf of a JSON-like value and returns the value with what it gave back; objects are new. */
function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return change(value);
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, change)]));
}

/**
 * Doubles that stand for numbers no double holds, while a validator looks at them: of the same sign and size, one double
 * for each integer, so that types, bounds within ±2⁵³ and uniqueness are judged as for the integer itself. What only
 * rounds to an int64 gets a double that is none.
 */
export class StandIns {
  readonly #doubles = new Map<bigint, number>();
  readonly #originals = new Map<number, number | bigint>();
  /** Where to look for the next free double, so that a body full of neighbours costs no more than one of others. */
  readonly #next = new Map<number, number>();

  /** A copy of the value with each `bigint` and each `Inexact` replaced. */
  replace(value: unknown): unknown {
    return mapLeaves(value, (leaf) => {
      if (typeof leaf === 'bigint') return this.#integer(leaf);
      return leaf instanceof Inexact ? this.#fraction(leaf.double) : leaf;
    });
  }

  /** What a double stands for, or `undefined` if it stands for itself. */
  original(double: number): number | bigint | undefined {
    return this.#originals.get(double);
  }

  #integer(value: bigint): number {
    if (Number.isSafeInteger(Number(value))) return Number(value);
    if (value < MIN || value > MAX) return this.#fraction(Number(value));
    const known = this.#doubles.get(value);
    if (known !== undefined) return known;
    const nearest = Math.max(-(2 ** 63), Math.min(Number(value), 2 ** 63 - 1024));
    const double = this.#free(nearest, Math.abs(nearest) > 2 ** 62 ? 1 - Number.EPSILON / 2 : 1 + Number.EPSILON);
    this.#doubles.set(value, double);
    this.#originals.set(double, value);
    return double;
  }

  #fraction(nearest: number): number {
    const start = Math.abs(nearest) < 2 ** 52 ? nearest || Number.MIN_VALUE : Math.sign(nearest) * 2 ** 64;
    const double = this.#free(
      Number.isInteger(start) && start === nearest ? start * (1 + Number.EPSILON) : start,
      1 + Number.EPSILON,
    );
    this.#originals.set(double, nearest);
    return double;
  }

  #free(start: number, step: number): number {
    let double = this.#next.get(start) ?? start;
    while (this.#originals.has(double)) double = double * step === double ? double * 2 : double * step;
    this.#next.set(start, double);
    return double;
  }
}
