import { Alphabet, mentionedCodes } from '../schema/alphabet.ts';
import {
  type Atom,
  type Edge,
  type Expression,
  GUARD,
  type Position,
} from '../schema/expression.ts';
import { parsePattern } from '../schema/patterns.ts';

/** The lengths of texts. */
interface Lengths {
  readonly min: number;
  readonly max: number;
}

/** The number of texts of one pattern. Look-ahead may reject most of them. */
const MAX_TEXTS = 60;

/** The length of a text if nothing limits it: texts of `.*` would not end. */
const USUAL_LENGTH = 12;

/** The characters of a text, in the order of preference. */
const CHARACTERS = [
  ...'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  ...' -_.,:;/@!#$%&*+=?()[]{}<>|~^\'"\\`\n\t',
];

/**
 * Yields texts that a regular expression probably matches. Its conditions, such as `\b` and
 * look-ahead, are not considered, so callers must test the texts.
 *
 * @param first selects the first text: 0 the shortest, others any.
 */
export function* patternTexts(pattern: string, lengths: Lengths, first = 0): Generator<string> {
  const expression = parsePattern(pattern);
  if (expression === undefined) return;
  const walk = new Walk(expression);
  for (let seed = first; seed < first + MAX_TEXTS; seed += 1) {
    const text = walk.text(seed, lengths);
    if (text !== undefined) yield text;
  }
}

/** Walks through the positions of an expression. */
class Walk {
  readonly #start: Position;
  readonly #characters: ReadonlyMap<Atom, readonly string[]>;
  /** The number of characters from a position to the nearest end. */
  readonly #distances = new Map<Position, number>();

  constructor(expression: Expression) {
    const { start, positions } = expression;
    this.#start = start;
    this.#characters = charactersOf(expression);
    this.#measure(positions);
  }

  /** @param seed selects the text: 0 the shortest, others any. */
  text(seed: number, { min, max }: Lengths): string | undefined {
    const random = randomNumbers(seed);
    const length = seed === 0 ? min : Math.min(max, min + random(USUAL_LENGTH));
    let text = '';
    let position = this.#start;
    for (let count = 0; count <= max; count += 1) {
      const edges = this.#edgesOf(position);
      const isEnd = position.ends.length > 0 && (count >= length || edges.length === 0);
      const isShortest = count + this.#distanceOf(position) >= length;
      const edge = isShortest ? this.#nearest(edges) : edges[random(edges.length)];
      if (isEnd || edge === undefined) return isEnd ? text : undefined;
      position = edge.to;
      const characters = this.#charactersAt(position);
      // Some characters that differ, such as letters, digits and capitals.
      text += characters[seed === 0 ? 0 : random(characters.length)];
    }
    return undefined;
  }

  #measure(positions: readonly Position[]): void {
    const sources = new Map<Position, Position[]>();
    for (const position of positions) {
      for (const { to } of this.#passable(position)) {
        const list = sources.get(to);
        if (list === undefined) sources.set(to, [position]);
        else list.push(position);
      }
    }
    const ends = positions.filter((position) => position.ends.length > 0);
    for (const position of ends) this.#distances.set(position, 0);
    for (const [position, distance] of this.#distances)
      for (const source of sources.get(position) ?? [])
        if (!this.#distances.has(source)) this.#distances.set(source, distance + 1);
  }

  #edgesOf(position: Position): readonly Edge[] {
    return this.#passable(position).filter(({ to }) => this.#distances.has(to));
  }

  #passable(position: Position): readonly Edge[] {
    const impossible = position === this.#start ? GUARD.end : GUARD.start | GUARD.end;
    return position.edges.filter(
      ({ to, guard }) => (guard & impossible) === 0 && this.#charactersAt(to).length > 0,
    );
  }

  #nearest(edges: readonly Edge[]): Edge | undefined {
    const [first, ...others] = edges;
    return others.reduce(
      (nearest, edge) =>
        nearest !== undefined && this.#distanceOf(edge.to) < this.#distanceOf(nearest.to)
          ? edge
          : nearest,
      first,
    );
  }

  #distanceOf(position: Position): number {
    return this.#distances.get(position) ?? Number.POSITIVE_INFINITY;
  }

  #charactersAt({ atom }: Position): readonly string[] {
    return (atom && this.#characters.get(atom)) ?? [];
  }
}

/** Lists characters for each class, character or escape of an expression. */
function charactersOf(expression: Expression): ReadonlyMap<Atom, readonly string[]> {
  const alphabet = new Alphabet(expression);
  const mentioned = expression.atoms
    .flatMap(({ source }) => mentionedCodes(source))
    .map((code) => String.fromCodePoint(code));
  const lists = new Map<Atom, string[]>(expression.atoms.map((atom) => [atom, []]));
  for (const character of new Set([...CHARACTERS, ...mentioned]))
    for (const atom of alphabet.letterOf(character.codePointAt(0) ?? 0).atoms)
      if (atom !== undefined) lists.get(atom)?.push(character);
  for (const [atom, list] of lists) {
    // Alphanumeric characters are readable, and pass through URLs and headers.
    const readable = list.filter((character) => /^[a-z\d]$/i.test(character));
    if (readable.length > 0) lists.set(atom, readable);
  }
  return lists;
}

/** Returns a function for integers below a limit. The same seed gives the same integers. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = (seed * 2_654_435_761) % 2 ** 32;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
