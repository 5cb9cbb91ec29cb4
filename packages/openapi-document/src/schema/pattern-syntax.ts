/**
 * Uses the flag u, unless the pattern is invalid with it.
 *
 * @throws {SyntaxError}
 */
export function patternOf(pattern: string): RegExp {
  const { source, flags } = translate(pattern);
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    return new RegExp(source, flags);
  }
}

/** Syntax of other languages, with its equivalent in ECMAScript. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '\\A': '^',
  '\\Z': '$',
  '\\z': '$',
  '(?P<': '(?<',
};

/** Matches escapes, character classes, flags, and the start of named groups. */
const PATTERN_PARTS = /\\.|\[(?:\\.|[^\]])*\]|\(\?([ims]+)\)|\(\?P</gs;

/**
 * Translates syntax of other languages: named groups, `\A`, `\Z`, `\z`, and flags such as `(?i)`,
 * which apply to the whole pattern. A pattern that is valid with the flag u stays the same.
 */
export function translate(pattern: string): { readonly source: string; readonly flags: string } {
  const flags = new Set<string>();
  const source = pattern.replace(PATTERN_PARTS, (part, letters = '') => {
    for (const letter of letters) flags.add(letter);
    return letters === '' ? (SYNONYMS[part] ?? part) : '';
  });
  return { source, flags: [...flags].join('') };
}
