/** Functions that read the text of JSON, since `JSON.parse` does not return positions. */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Returns the offset after a string. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end + 1;
}

/** Returns true after an odd number of backslashes. */
function isEscaped(json: string, index: number): boolean {
  let start = index;
  while (json.charCodeAt(start - 1) === BACKSLASH) start -= 1;
  return (index - start) % 2 === 1;
}

/** Returns the offset of the next character that is not white space. */
function skipSpace(json: string, start: number): number {
  let index = start;
  while (json.charCodeAt(index) <= SPACE) index += 1;
  return index;
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

/** Matches parts of numbers of at least 15 characters or with an exponent, also in strings. */
const LONG_NUMBERS = /\d[\d.]{14}|\d[eE]/g;

const isInNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || '.-+eE'.includes(String.fromCharCode(code));

/** Yields the numbers of at least 15 characters or with an exponent in valid JSON. */
export function* longNumbers(json: string): Generator<{ text: string; index: number }> {
  let quote = json.indexOf('"');
  /** The end of the last string or number. */
  let end = 0;
  for (const match of json.matchAll(LONG_NUMBERS)) {
    while (quote !== -1 && quote < match.index) {
      end = endOfString(json, quote);
      quote = json.indexOf('"', end);
    }
    if (match.index < end) continue;
    let index = match.index;
    while (isInNumber(json.charCodeAt(index - 1))) index -= 1;
    end = match.index + match[0].length;
    while (isInNumber(json.charCodeAt(end))) end += 1;
    yield { text: json.slice(index, end), index };
  }
}

/** Returns true if the objects of valid JSON have more names than that. */
export function hasMoreNames(json: string, limit: number): boolean {
  let count = 0;
  let colon = json.indexOf(':');
  while (colon !== -1) {
    let before = colon - 1;
    while (json.charCodeAt(before) <= SPACE) before -= 1;
    if (json.charCodeAt(before) === QUOTE) count += 1;
    colon = json.indexOf(':', colon + 1);
  }
  // The colon may be in a string.
  return count > limit && countNames(json) > limit;
}

function countNames(json: string): number {
  let count = 0;
  for (const _name of namesIn(json)) count += 1;
  return count;
}

/** Yields the places of the names in valid JSON. */
export function* namesIn(json: string): Generator<{ start: number; end: number }> {
  let start = json.indexOf('"');
  while (start !== -1) {
    const end = endOfString(json, start);
    if (json.charCodeAt(skipSpace(json, end)) === COLON) yield { start, end };
    start = json.indexOf('"', end);
  }
}

/** Longer names are not compared, since V8 compares long strings slowly. */
const MAX_NAME_LENGTH = 1_000;

/** Returns the offset of the first name in valid JSON that its object already has, if any. */
export function duplicateOffset(json: string): number | undefined {
  const objects: Set<string>[] = [];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === OPENING_BRACE) objects.push(new Set());
    else if (code === CLOSING_BRACE) objects.pop();
    if (code !== QUOTE) continue;
    const start = index;
    const end = endOfString(json, start);
    index = end - 1;
    const isName = json.charCodeAt(skipSpace(json, end)) === COLON;
    if (!isName || end - start > MAX_NAME_LENGTH) continue;
    const name: string = JSON.parse(json.slice(start, end));
    const names = objects.at(-1);
    if (names?.has(name)) return start;
    names?.add(name);
  }
  return undefined;
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
