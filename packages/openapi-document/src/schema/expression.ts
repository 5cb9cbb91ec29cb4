/**
 * Regular expressions as position automata (Glushkov): one position for each character, class or
 * escape. The automaton keeps the choices of a backtracking engine: if the engine can go from one
 * position to another in several ways, the edge counts them.
 */

/** The conditions between two characters, as bits. */
export const GUARD = { start: 1, end: 2, lineStart: 4, lineEnd: 8, boundary: 16, noBoundary: 32 };

/** A way that continues under conditions. */
export interface Exit {
  /** The conditions before the next character, or before the end. */
  readonly guard: number;
  /** The number of such ways that a backtracking engine tries. */
  readonly ways: number;
}

export interface Edge extends Exit {
  readonly to: Position;
}

export interface Position {
  readonly index: number;
  /** The characters at this position. `undefined` at the start. */
  readonly atom: Atom | undefined;
  readonly edges: Edge[];
  /** Present if the expression can end after this position. */
  readonly ends: Exit[];
}

/** A character, class or escape, with its flags. */
export interface Atom {
  readonly id: number;
  readonly source: string;
  readonly flags: string;
}

export interface Expression {
  readonly flags: string;
  readonly start: Position;
  readonly positions: readonly Position[];
  readonly atoms: readonly Atom[];
  /** All conditions in the expression. */
  readonly guards: number;
  /** False if the automaton accepts more than the expression, such as for look-around. */
  readonly isExact: boolean;
}

/** Thrown for an expression with too many positions or edges. */
export class TooLarge extends Error {}

/** The part of an automaton for a part of an expression. */
interface Fragment {
  readonly first: Edge[];
  readonly last: Edge[];
  /** The number of ways to match the empty string, for each set of conditions. */
  readonly empty: ReadonlyMap<number, number>;
}

interface Context {
  readonly flags: string;
  readonly isLookBehind: boolean;
}

const MAX_POSITIONS = 20_000;
const MAX_EDGES = 50_000;

/** Longer alternatives are not merged with others that begin with the same characters. */
const MAX_WORD = 100;

const HEX = String.raw`[\dA-Fa-f]`;
const SURROGATES = String.raw`u[dD][89abAB]${HEX}{2}\\u[dD][c-fC-F]${HEX}{2}`;
const UNICODE_TOKENS = String.raw`\\(?:u\{${HEX}+\}|[pP]\{[^}]*\}|${SURROGATES})|`;
const TOKENS = [
  String.raw`\\(?:u${HEX}{4}|x${HEX}{2}|c[A-Za-z]|k<[^>]*>|\d+|.)`,
  String.raw`\[(?:\\.|[^\]\\])*\]`,
  String.raw`\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?`,
  String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??`,
  '.',
].join('|');

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/;

/** Matches any character. */
const ANY = '[^]';

const NOTHING: Fragment = { first: [], last: [], empty: new Map() };
const EMPTY: Fragment = { ...NOTHING, empty: new Map([[0, 1]]) };

/**
 * Parses an expression that `RegExp` accepts.
 *
 * @param maxCopies the maximum number of copies of a repeated part. More repetitions become a loop,
 *   which matches more.
 * @throws {TooLarge}
 */
export function parseExpression(expression: RegExp, maxCopies: number): Expression {
  return new Parser(expression, maxCopies).parse();
}

class Parser {
  readonly #tokens: readonly string[];
  readonly #flags: string;
  readonly #maxCopies: number;
  readonly #positions: Position[] = [];
  readonly #atoms = new Map<string, Atom>();
  #edgeCount = 0;
  #guards = 0;
  #isExact = true;
  #at = 0;

  constructor({ source, flags, unicode }: RegExp, maxCopies: number) {
    const token = unicode ? new RegExp(UNICODE_TOKENS + TOKENS, 'gsu') : new RegExp(TOKENS, 'gs');
    this.#tokens = source.match(token) ?? [];
    this.#flags = flags;
    this.#maxCopies = maxCopies;
  }

  parse(): Expression {
    const start = this.#position(undefined);
    const { first, last, empty } = this.#disjunction({ flags: this.#flags, isLookBehind: false });
    start.edges.push(...first);
    for (const { to, guard, ways } of last) to.ends.push({ guard, ways });
    for (const [guard, ways] of empty) start.ends.push({ guard, ways });
    return {
      flags: this.#flags,
      start,
      positions: this.#positions,
      atoms: [...this.#atoms.values()],
      guards: this.#guards,
      isExact: this.#isExact,
    };
  }

  #disjunction(context: Context): Fragment {
    const words: string[][] = [];
    let result = NOTHING;
    do {
      const word = context.isLookBehind ? undefined : this.#word();
      if (word === undefined) result = union(result, this.#alternative(context));
      else words.push(word);
    } while (this.#skip('|'));
    return union(result, this.#trie(words, context));
  }

  /** Reads an alternative of plain characters. Returns `undefined` for any other alternative. */
  #word(): string[] | undefined {
    let end = this.#at;
    while (end < this.#tokens.length && isPlain(this.#tokens[end] ?? '')) end += 1;
    const next = this.#tokens[end] ?? ')';
    if ((next !== '|' && next !== ')') || end - this.#at > MAX_WORD) return undefined;
    const word = this.#tokens.slice(this.#at, end);
    this.#at = end;
    return word;
  }

  /** Merges the common starts of words, as V8 does. */
  #trie(words: readonly string[][], context: Context): Fragment {
    const heads = Map.groupBy(words, ([head]) => head);
    let result = NOTHING;
    for (const [head, group] of heads) {
      if (head === undefined) {
        result = union(result, { ...NOTHING, empty: new Map([[0, group.length]]) });
      } else {
        const tails = group.map((word) => word.slice(1));
        result = union(
          result,
          this.#sequence(this.#atom(head, context), this.#trie(tails, context)),
        );
      }
    }
    return result;
  }

  #alternative(context: Context): Fragment {
    let result = EMPTY;
    while (this.#at < this.#tokens.length && !/^[|)]$/.test(this.#tokens[this.#at] ?? '')) {
      const term = this.#quantified(context);
      // Look-behind is matched backwards.
      result = context.isLookBehind ? this.#sequence(term, result) : this.#sequence(result, term);
    }
    return result;
  }

  #quantified(context: Context): Fragment {
    const start = this.#at;
    const term = this.#term(context);
    const quantifier = QUANTIFIER.exec(this.#tokens[this.#at] ?? '');
    if (quantifier === null) return term;
    const end = this.#at + 1;
    const [text, digits, comma, maxDigits] = quantifier;
    const min = Number(digits ?? (text === '+' ? 1 : 0));
    const isUnbounded = text === '*' || text === '+' || (comma === ',' && maxDigits === '');
    const max = isUnbounded ? Infinity : Number(maxDigits || digits || 1);
    let isFirst = true;
    const copy = () => {
      if (isFirst) {
        isFirst = false;
        return term;
      }
      this.#at = start;
      return this.#term(context);
    };
    const result = this.#repeated(copy, min, max);
    this.#at = end;
    return result;
  }

  #repeated(copy: () => Fragment, min: number, max: number): Fragment {
    if (min > this.#maxCopies || (max > this.#maxCopies && max !== Infinity)) {
      const term = copy();
      // The engine can choose which repetitions match the empty string.
      if (min > 0 && term.empty.size > 0) throw new TooLarge();
      this.#isExact = false;
      return this.#loop(term);
    }
    let result = EMPTY;
    for (let count = 1; count < min; count += 1) result = this.#sequence(result, copy());
    if (min > 0) {
      const last = copy();
      if (max === Infinity && last.empty.size === 0) {
        this.#connect(last.last, last.first);
        return this.#sequence(result, last);
      }
      result = this.#sequence(result, last);
    }
    if (max === Infinity) return this.#sequence(result, this.#loop(copy()));
    let rest = EMPTY;
    for (let count = min; count < max; count += 1) rest = optional(this.#sequence(copy(), rest));
    return this.#sequence(result, rest);
  }

  #term(context: Context): Fragment {
    const token = this.#tokens[this.#at] ?? '';
    this.#at += 1;
    const guard = guardOf(token, context.flags.includes('m'));
    this.#guards |= guard;
    if (guard !== 0) return { ...NOTHING, empty: new Map([[guard, 1]]) };
    if (token.startsWith('(')) return this.#group(token, context);
    if (!/^\\(?:[1-9]|k<|c$)/.test(token)) return this.#atom(token, context);
    // A back reference matches some string, and `\c` without a letter is two characters.
    this.#isExact = false;
    return this.#loop(this.#atom(ANY, context));
  }

  #group(token: string, context: Context): Fragment {
    const isLookBehind = context.isLookBehind || /^\(\?<[=!]/.test(token);
    const [, added = '', removed = ''] = /^\(\?([a-z]*)-?([a-z]*):/.exec(token) ?? [];
    const flags = new Set([...context.flags, ...added]);
    for (const flag of removed) flags.delete(flag);
    const inner = this.#disjunction({ flags: [...flags].join(''), isLookBehind });
    this.#skip(')');
    if (!/^\(\?<?[=!]/.test(token)) return inner;
    // The engine tries look-around, and then continues at the same character.
    this.#isExact = false;
    return optional({ ...inner, last: [] });
  }

  #atom(token: string, { flags, isLookBehind }: Context): Fragment {
    const source = isLookBehind ? ANY : token;
    const key = `${flags} ${source}`;
    const atom = this.#atoms.get(key) ?? { id: this.#atoms.size, source, flags };
    this.#atoms.set(key, atom);
    const ends = [{ to: this.#position(atom), guard: 0, ways: 1 }];
    return { first: ends, last: ends, empty: new Map() };
  }

  #sequence(left: Fragment, right: Fragment): Fragment {
    this.#connect(left.last, right.first);
    const empty = new Map<number, number>();
    for (const [guard, ways] of left.empty)
      for (const [other, otherWays] of right.empty)
        empty.set(guard | other, (empty.get(guard | other) ?? 0) + ways * otherWays);
    return {
      first: [...left.first, ...extended(right.first, left.empty)],
      last: [...right.last, ...extended(left.last, right.empty)],
      empty,
    };
  }

  #loop(body: Fragment): Fragment {
    this.#connect(body.last, body.first);
    return optional(body);
  }

  #connect(last: readonly Edge[], first: readonly Edge[]): void {
    this.#edgeCount += last.length * first.length;
    if (this.#edgeCount > MAX_EDGES) throw new TooLarge();
    for (const from of last)
      for (const { to, guard, ways } of first)
        from.to.edges.push({ to, guard: from.guard | guard, ways: from.ways * ways });
  }

  #position(atom: Atom | undefined): Position {
    const position = { index: this.#positions.length, atom, edges: [], ends: [] };
    if (this.#positions.push(position) > MAX_POSITIONS) throw new TooLarge();
    return position;
  }

  #skip(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }
}

export const isPlain = (token: string): boolean =>
  /^(?:[^\\^$.*+?()[\]{}|]|\\[^A-Za-z0-9])$/su.test(token);

function guardOf(token: string, isMultiline: boolean): number {
  if (token === '^') return isMultiline ? GUARD.lineStart : GUARD.start;
  if (token === '$') return isMultiline ? GUARD.lineEnd : GUARD.end;
  if (token === '\\b') return GUARD.boundary;
  return token === '\\B' ? GUARD.noBoundary : 0;
}

/** An iteration of a loop that matches the empty string fails. */
const optional = ({ first, last }: Fragment): Fragment => ({ first, last, empty: EMPTY.empty });

function union(left: Fragment, right: Fragment): Fragment {
  const empty = new Map(left.empty);
  for (const [guard, ways] of right.empty) empty.set(guard, (empty.get(guard) ?? 0) + ways);
  return {
    first: [...left.first, ...right.first],
    last: [...left.last, ...right.last],
    empty,
  };
}

/** Adds the ways through a part that matches the empty string. */
const extended = (endings: readonly Edge[], empty: Fragment['empty']): Edge[] =>
  [...empty].flatMap(([guard, ways]) =>
    endings.map((ending) => ({
      to: ending.to,
      guard: ending.guard | guard,
      ways: ending.ways * ways,
    })),
  );
