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

export const tooDeep = (): InvalidJson =>
  new InvalidJson(`must be JSON nested at most ${MAX_DEPTH} levels deep`);

/** Sets a member. The assignment of `__proto__` would change the prototype. */
export function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** Matches a number, or the start of an invalid one such as `01`. */
const NUMBER_TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Matches the escapes of a string. A match of one character is invalid. */
const ESCAPES = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|[^ -[\]-\uffff]/g;

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Parses JSON as `parseJson` does, but several times slower than `JSON.parse`. */
export function parseSlowly(json: string, isLenient: boolean): unknown {
  let at = 0;
  const value = readValue(1);
  if (next() !== '') throw invalid();
  return value;

  /** Skips white space. Returns the next character, or an empty string at the end. */
  function next(): string {
    while (isSpace(json.charCodeAt(at))) at += 1;
    return json.charAt(at);
  }

  function accepts(character: string): boolean {
    if (next() !== character) return false;
    at += 1;
    return true;
  }

  function readValue(depth: number): unknown {
    switch (next()) {
      case '"':
        return readString();
      case '{':
        return readObject(depth);
      case '[':
        return readArray(depth);
      case 't':
        return readLiteral('true', true);
      case 'f':
        return readLiteral('false', false);
      case 'n':
        return readLiteral('null', null);
      default:
        return readNumber();
    }
  }

  function readLiteral<Value>(text: string, literal: Value): Value {
    if (!json.startsWith(text, at)) throw invalid();
    at += text.length;
    return literal;
  }

  function readArray(depth: number): unknown[] {
    if (depth > MAX_DEPTH) throw tooDeep();
    at += 1;
    const items: unknown[] = [];
    if (accepts(']')) return items;
    do items.push(readValue(depth + 1));
    while (accepts(','));
    if (!accepts(']')) throw invalid();
    return items;
  }

  function readObject(depth: number): object {
    if (depth > MAX_DEPTH) throw tooDeep();
    at += 1;
    const members: Record<string, unknown> = {};
    if (accepts('}')) return members;
    do {
      if (next() !== '"') throw invalid();
      const start = at;
      const name = readString();
      if (!isLenient && Object.hasOwn(members, name))
        throw invalid('must be JSON without duplicate names', start);
      if (!accepts(':')) throw invalid();
      put(members, name, readValue(depth + 1));
    } while (accepts(','));
    if (!accepts('}')) throw invalid();
    return members;
  }

  function readString(): string {
    const start = at + 1;
    let end = json.indexOf('"', start);
    while (end !== -1 && isEscaped(end)) end = json.indexOf('"', end + 1);
    const text = json.slice(start, end === -1 ? json.length : end);
    const isPlain = !/[^ -[\]-\uffff]/.test(text);
    for (const { 0: match, index } of isPlain ? [] : text.matchAll(ESCAPES)) {
      const offset = start + index + (match === '\\' ? 1 : 0);
      if (match.length === 1) throw invalid('must be JSON', offset);
    }
    at = end === -1 ? json.length : end + 1;
    if (end === -1) throw invalid();
    return isPlain ? text : JSON.parse(`"${text}"`);
  }

  /** Returns true after an odd number of backslashes. */
  function isEscaped(index: number): boolean {
    let start = index;
    while (json.charAt(start - 1) === '\\') start -= 1;
    return (index - start) % 2 === 1;
  }

  function readNumber(): number | bigint {
    NUMBER_TOKEN.lastIndex = at;
    if (!NUMBER_TOKEN.test(json)) throw invalid();
    const text = json.slice(at, NUMBER_TOKEN.lastIndex);
    const double = Number(text);
    if (!isLenient && Math.abs(double) === Number.POSITIVE_INFINITY)
      throw invalid('must be JSON with numbers up to 1.8e308');
    at += text.length;
    const isInexact = double >= 2 ** 53 || double <= -(2 ** 53);
    return isInexact ? (parseNumber(text) ?? double) : double;
  }

  function invalid(reason = 'must be JSON', offset = at): InvalidJson {
    const lines = json.slice(0, offset).split('\n');
    const column = (lines.at(-1) ?? '').length + 1;
    return new InvalidJson(`${reason} (invalid at line ${lines.length}, column ${column})`);
  }
}
