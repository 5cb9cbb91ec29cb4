/** Functions that read the text of JSON, since `JSON.parse` does not return positions. */

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

const isInNumber = (code: number): boolean =>
  isDigit(code) ||
  code === LOWER_E ||
  code === UPPER_E ||
  code === PLUS ||
  code === MINUS ||
  code === POINT;

/** Returns the offset after a string. */
function endOfString(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) return index + 1;
    index += code === BACKSLASH ? 2 : 1;
  }
  return json.length;
}

/** Returns true if arrays and objects are nested deeper than that, also in invalid JSON. */
export function isDeeper(json: string, maxDepth: number): boolean {
  let depth = 0;
  for (let index = 0; index < json.length && depth <= maxDepth; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index) - 1;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) depth += 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return depth > maxDepth;
}

/** Replaces the numbers of at least 16 characters or with an exponent in valid JSON. */
export function replaceLongNumbers(json: string, replace: (number: string) => string): string {
  let result = '';
  let copied = 0;
  let index = 0;
  while (index < json.length) {
    let code = json.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(json, index);
    } else if (code === MINUS || isDigit(code)) {
      const start = index;
      let hasExponent = false;
      while (isInNumber(code)) {
        hasExponent ||= code === LOWER_E || code === UPPER_E;
        index += 1;
        code = index < json.length ? json.charCodeAt(index) : COMMA;
      }
      if (!hasExponent && index - start < 16) continue;
      result += json.slice(copied, start) + replace(json.slice(start, index));
      copied = index;
    } else {
      index += 1;
    }
  }
  return result + json.slice(copied);
}

/** Matches the start of a value. */
const VALUE = /["[{]|-?\d|true|false|null/y;

/**
 * Returns the offset of the first error in invalid JSON, if it is known.
 *
 * @param message of the error that `JSON.parse` has thrown. V8 names the position of most errors,
 *   but not of a wrong value.
 */
export function errorOffset(json: string, message: string): number | undefined {
  if (message.endsWith('Unexpected end of JSON input')) return json.length;
  const position = /at position (\d+) \(line \d+ column \d+\)$/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  // A value follows the start, each comma, each colon and, unless the array is empty, a bracket.
  let previous = COMMA;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code <= SPACE && /[ \t\r\n]/.test(json.charAt(index))) continue;
    const isEmptyArray = previous === OPENING_BRACKET && code === CLOSING_BRACKET;
    if ([COMMA, COLON, OPENING_BRACKET].includes(previous) && !isEmptyArray) {
      VALUE.lastIndex = index;
      if (!VALUE.test(json)) return index;
    }
    if (code === QUOTE) index = endOfString(json, index) - 1;
    previous = code;
  }
  return undefined;
}
