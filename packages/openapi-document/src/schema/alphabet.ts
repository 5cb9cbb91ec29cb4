import { type Atom, type Expression, GUARD, isPlain } from './expression.ts';

/** The neighbours of a gap between characters that conditions such as `\b` and `$` distinguish. */
export type Neighbour = 'start' | 'end' | 'word' | 'lineBreak' | 'other';

/** Characters that match the same atoms. */
export interface Letter {
  readonly id: number;
  readonly neighbour: Neighbour;
  readonly atoms: ReadonlySet<Atom | undefined>;
}

/** The built-in classes begin and end at these code points, also if case is ignored. */
const BOUNDARIES = [
  0x80, 0xa0, 0xa1, 0x17f, 0x180, 0x1680, 0x1681, 0x2000, 0x200b, 0x2028, 0x202a, 0x202f, 0x2030,
  0x205f, 0x2060, 0x212a, 0x212b, 0x3000, 0x3001, 0xd800, 0xe000, 0xfeff, 0xff00, 0x10000,
];

/** The letters of an expression. The native engine decides which atoms match a character. */
export class Alphabet {
  /** False if the letters of `all` may have more atoms than their characters match. */
  readonly isExact: boolean;
  readonly #isUnicode: boolean;
  readonly #tests: readonly (readonly [Atom, (character: string) => boolean])[];
  readonly #isWord: RegExp;
  readonly #hasNeighbours: boolean;
  readonly #letters = new Map<string, Letter>();

  constructor({ atoms, flags, guards }: Expression) {
    this.isExact = !atoms.some(isOpaque);
    this.#isUnicode = flags.includes('u');
    this.#tests = [...atoms].map((atom) => [atom, testOf(atom)]);
    this.#isWord = new RegExp('\\w', flags);
    this.#hasNeighbours = (guards & ~(GUARD.start | GUARD.end)) !== 0;
  }

  letterOf(code: number): Letter {
    return this.#letter(code, () => false);
  }

  /** Returns letters for all characters. Beyond ASCII, they may have more atoms. */
  all(): ReadonlySet<Letter> {
    const codes = new Set(BOUNDARIES);
    for (let code = 0; code < 0x80; code += 1) codes.add(code);
    for (const [{ source }] of this.#tests)
      for (const code of mentionedCodes(source)) codes.add(code).add(code + 1);
    const max = this.#isUnicode ? 0x10ffff : 0xffff;
    return new Set(
      [...codes]
        .filter((code) => code <= max)
        .map((code) => this.#letter(code, (atom) => code >= 0x80 && isOpaque(atom))),
    );
  }

  #letter(code: number, mayMatch: (atom: Atom) => boolean): Letter {
    const character = String.fromCodePoint(code);
    const atoms = this.#tests
      .filter(([atom, test]) => test(character) || mayMatch(atom))
      .map(([atom]) => atom);
    const neighbour = this.#neighbourOf(character);
    const key = `${neighbour} ${atoms.map(({ id }) => id)}`;
    const letter = this.#letters.get(key) ?? {
      id: this.#letters.size,
      neighbour,
      atoms: new Set(atoms),
    };
    this.#letters.set(key, letter);
    return letter;
  }

  #neighbourOf(character: string): Neighbour {
    if (!this.#hasNeighbours) return 'other';
    if (this.#isWord.test(character)) return 'word';
    return /[\n\r\u2028\u2029]/.test(character) ? 'lineBreak' : 'other';
  }
}

function testOf({ source, flags }: Atom): (character: string) => boolean {
  if (isPlain(source) && !flags.includes('i')) {
    const plain = source.replace(/^\\/, '');
    return (character) => character === plain;
  }
  const expression = new RegExp(`^${source}`, flags);
  return (character) => expression.test(character);
}

/** Returns the characters in the source of an atom, also as the code units of surrogate pairs. */
export function mentionedCodes(source: string): number[] {
  const codeOf = (hex: string) => Math.min(Number.parseInt(hex, 16), 0x10ffff);
  const text = source
    .replaceAll('\\x', '\\u00')
    .replace(/\\u\{([\dA-Fa-f]+)\}/g, (_escape, hex) => String.fromCodePoint(codeOf(hex)))
    .replace(/\\u([\dA-Fa-f]{4})/g, (_escape, hex) => String.fromCharCode(codeOf(hex)));
  return [...text, ...text.split('')].map((character) => character.codePointAt(0) ?? 0);
}

/** Returns true if the atom may begin or end anywhere beyond ASCII. */
const isOpaque = ({ source, flags }: Atom): boolean =>
  /\\[pP0-9]/.test(source) || (flags.includes('i') && /[^\0-\x7f]|\\[ux]/.test(source));
