import type { Letter, Neighbour } from './alphabet.ts';
import { type Edge, type Expression, GUARD, type Position } from './expression.ts';

/** The positions after the same characters, in order, with the number of ways to each. */
export interface State {
  readonly positions: readonly Position[];
  readonly ways: readonly number[];
  readonly before: Neighbour;
}

/** Follows all ways of an expression through a text at once. */
export class Automaton {
  readonly first: State;
  /** True if a match may begin after the start of the text. */
  readonly isSearch: boolean;
  readonly #expression: Expression;
  /** The edges of each position that a letter can take. */
  readonly #edges: Edge[][][];
  /** The ways to each position. All are 0 between calls. */
  readonly #ways: number[];

  constructor(expression: Expression) {
    const { start, positions } = expression;
    this.first = { positions: [start], ways: [1], before: 'start' };
    const exits = [...start.edges, ...start.ends];
    this.isSearch = exits.some(({ guard }) => (guard & GUARD.start) === 0);
    this.#expression = expression;
    this.#edges = positions.map(() => []);
    this.#ways = positions.map(() => 0);
  }

  edges({ index, edges }: Position, { id, atoms }: Letter): readonly Edge[] {
    const cache = this.#edges[index] ?? [];
    cache[id] ??= edges.filter(({ to }) => atoms.has(to.atom));
    return cache[id];
  }

  /** @param isLast if no further match is searched, since one is found. */
  next(state: State, letter: Letter, isLast = false): State {
    const { start, positions } = this.#expression;
    const ways = this.#ways;
    const reached: number[] = [];
    if (this.isSearch && !isLast && state.positions[0] === start) {
      ways[start.index] = 1;
      reached.push(start.index);
    }
    for (let index = 0; index < state.positions.length; index += 1) {
      const count = state.ways[index] ?? 0;
      for (const edge of this.edges(state.positions[index] ?? start, letter)) {
        if (!holds(edge.guard, state.before, letter.neighbour)) continue;
        const sum = ways[edge.to.index] ?? 0;
        if (sum === 0) reached.push(edge.to.index);
        ways[edge.to.index] = sum + count * edge.ways;
      }
    }
    reached.sort((left, right) => left - right);
    const next = {
      positions: reached.map((index) => positions[index] ?? start),
      ways: reached.map((index) => ways[index] ?? 0),
      before: letter.neighbour,
    };
    for (const index of reached) ways[index] = 0;
    return next;
  }
}

/** Returns all states that texts can reach. */
export function* reachableStates(
  automaton: Automaton,
  letters: readonly Letter[],
  keyOf: (state: State) => string,
  isLast: (state: State, letter: Letter) => boolean,
): Generator<State> {
  const pending = [automaton.first];
  const known = new Set(pending.map(keyOf));
  for (const state of pending) {
    yield state;
    for (const letter of letters) {
      const next = automaton.next(state, letter, isLast(state, letter));
      const key = keyOf(next);
      if (!known.has(key)) pending.push(next);
      known.add(key);
    }
  }
}

/** A string that is the same for equal states, apart from the number of ways. */
export const keyOf = ({ positions, before }: State): string =>
  before + String.fromCharCode(...positions.map(({ index }) => index));

/** Returns true if the expression matches before a letter or the end. */
export const isMatch = ({ positions, before }: State, after: Neighbour): boolean =>
  positions.some(({ ends }) => ends.some(({ guard }) => holds(guard, before, after)));

function holds(guard: number, before: Neighbour, after: Neighbour): boolean {
  if (guard === 0) return true;
  if ((guard & GUARD.start) !== 0 && before !== 'start') return false;
  if ((guard & GUARD.end) !== 0 && after !== 'end') return false;
  if ((guard & GUARD.lineStart) !== 0 && before !== 'start' && before !== 'lineBreak') return false;
  if ((guard & GUARD.lineEnd) !== 0 && after !== 'end' && after !== 'lineBreak') return false;
  const isBoundary = (before === 'word') !== (after === 'word');
  return (guard & (isBoundary ? GUARD.noBoundary : GUARD.boundary)) === 0;
}
