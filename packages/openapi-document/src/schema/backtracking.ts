/**
 * Proofs that a backtracking engine, such as that of `RegExp`, takes few steps.
 *
 * The engine tries all ways through a text in turn. A step is an attempt to go on from a position.
 */
import type { Alphabet, Letter } from './alphabet.ts';
import { Automaton, isMatch, keyOf, reachableStates } from './automaton.ts';
import type { Atom, Expression, Position } from './expression.ts';

/** The maximum number of steps for a character. They take 0.2 µs. */
const MAX_STEPS = 256;

/** Limits a proof to some milliseconds. */
const MAX_WORK = 20_000;

/** The maximum length of a text in `stepsByLength`. */
const MAX_LENGTH = 4_096;

/**
 * Returns the maximum number of steps for each character of any text. Returns `undefined` if there
 * may be more than 256, so that the time may not be linear.
 */
export function stepsPerCharacter(expression: Expression, alphabet: Alphabet): number | undefined {
  const letters = [...alphabet.all()];
  const steps = stepsOfStates(expression, alphabet, letters);
  if (steps !== undefined) return steps;
  // Lists of many words have too many states.
  const stepsOfText = stepsOfAttempt(expression, letters);
  return stepsOfText <= MAX_STEPS ? stepsOfText : undefined;
}

/**
 * Returns the maximum number of steps of a match that begins at a certain character. Infinite if
 * there may be more than 256.
 */
function stepsOfAttempt({ start, atoms }: Expression, letters: readonly Letter[]): number {
  const lettersOf = new Map<Atom | undefined, readonly Letter[]>(
    atoms.map((atom) => [atom, letters.filter((letter) => letter.atoms.has(atom))]),
  );
  let work = 0;
  const stepsFrom = (position: Position, max: number): number => {
    const own = stepsAt(position);
    work += 1;
    if (own > max || work > MAX_WORK) return Infinity;
    const stepsByLetter = new Map<Letter, number>();
    for (const { to, ways } of position.edges) {
      const steps = ways * stepsFrom(to, max - own);
      if (steps > max) return Infinity;
      for (const letter of lettersOf.get(to.atom) ?? [])
        stepsByLetter.set(letter, (stepsByLetter.get(letter) ?? 0) + steps);
    }
    return own + Math.max(0, ...stepsByLetter.values());
  };
  return stepsFrom(start, MAX_STEPS);
}

/**
 * Follows all texts at once. A state has the number of ways to each position after the same
 * characters, so the steps at a character are those of the state. The time is linear if the states
 * are finite.
 */
function stepsOfStates(
  expression: Expression,
  alphabet: Alphabet,
  letters: readonly Letter[],
): number | undefined {
  const isExact = expression.isExact && alphabet.isExact;
  const states = reachableStates(
    new Automaton(expression),
    letters,
    (state) => `${keyOf(state)} ${state.ways}`,
    // The engine tries no later start after the first match.
    (state, { neighbour }) => isExact && isMatch(state, neighbour),
  );
  let max = 0;
  let work = 0;
  for (const { positions, ways } of states) {
    const steps = positions.map((position, index) => stepsAt(position) * (ways[index] ?? 0));
    max = Math.max(max, sumOf(steps));
    work += letters.length * (2 + positions.length);
    if (max > MAX_STEPS || work > MAX_WORK) return undefined;
  }
  return max;
}

/**
 * Returns an upper limit of the steps for each length of a text, up to the last length with at most
 * `max` steps. A way continues with the letter that takes the most steps.
 */
export function stepsByLength(expression: Expression, alphabet: Alphabet, max: number): number[] {
  const automaton = new Automaton(expression);
  const letters = [...alphabet.all()];
  const { positions, start } = expression;
  const result: number[] = [];
  let steps = positions.map(stepsAt);
  const stepsAfter = (position: Position, letter: Letter): number => {
    const edges = automaton
      .edges(position, letter)
      .map(({ to, ways }) => ways * (steps[to.index] ?? 0));
    const isRepeated = position === start && automaton.isSearch;
    return sumOf(edges) + (isRepeated ? (steps[start.index] ?? 0) : 0);
  };
  while (result.length <= MAX_LENGTH) {
    const total = steps[start.index] ?? 0;
    if (total > max) break;
    result.push(total);
    steps = positions.map((position) => {
      const following = letters.map((letter) => stepsAfter(position, letter));
      return stepsAt(position) + Math.max(...following);
    });
  }
  return result;
}

/** The position itself, and an attempt for each way that continues. */
const stepsAt = ({ edges, ends }: Position): number =>
  1 + sumOf([...edges, ...ends].map(({ ways }) => ways));

const sumOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0);
