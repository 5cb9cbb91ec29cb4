/**
 * JSON with exact 64-bit integers.
 *
 * An integer within ±(2⁵³−1) is a `number`. Any other integer of int64 is a `bigint`. Each integer has one form, so `===`
 * compares. All other values are as `JSON.parse` returns them.
 */
declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as this text (ECMA-262 §25.5.3). TypeScript does not declare it. */
    rawJSON(text: string): unknown;
  }
}

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses a JSON number (RFC 8259 §6). Returns an integer of int64 exactly, any other number as the nearest double, and
 * `undefined` for a text that is not a JSON number. `1.0` and `1e2` are integers.
 */
export function parseNumber(text: string): number | bigint | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const double = Number(text);
  if (!mayHoldLarge(text) || !Number.isInteger(double) || Math.abs(double) > 2 ** 63) return double;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const shift = Number(exponent) - fraction.length;
  if (digits === '0') return double;
  if (-shift > trailingZeros(digits)) return double;
  const exact = BigInt(sign + (shift < 0 ? digits.slice(0, shift) : digits + '0'.repeat(shift)));
  return Number.isSafeInteger(double) || exact !== BigInt.asIntN(64, exact) ? double : exact;
}

/** Counts from the end. A regular expression would start at each zero again. */
function trailingZeros(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}

/** Whether a text may hold a number that no double holds. `false` is always right. */
const mayHoldLarge = (text: string): boolean => /\d[\d.]{15}|\d[eE]/.test(text);

const exactReviver = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && context?.source !== undefined ? parseNumber(context.source) : value;

/** The deepest nesting of arrays and objects that is read. Recursive functions stay within the stack. */
export const MAX_DEPTH = 256;

/** Whether a JSON text nests deeper than `MAX_DEPTH`. The answer for a text that is not JSON has no meaning. */
function nestsTooDeep(text: string): boolean {
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

/** The index of the quote that ends a string, or -1. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
  }
  return -1;
}

/**
 * `JSON.parse` with exact integers.
 *
 * @throws {SyntaxError} for invalid JSON.
 * @throws {RangeError} for JSON that nests too deep.
 */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) throw new RangeError(`JSON nested at most ${MAX_DEPTH} levels deep`);
  return mayHoldLarge(text) ? JSON.parse(text, exactReviver) : JSON.parse(text);
}

/**
 * `JSON.stringify` that writes a `bigint` as a number. Returns `undefined` for `undefined`.
 *
 * @throws {TypeError} for a value that JSON cannot hold, such as a circular object.
 */
export function stringifyJson(value: unknown): string | undefined {
  try {
    // JSON.stringify is several times faster without a replacer. It throws at the first bigint.
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item));
  }
}
