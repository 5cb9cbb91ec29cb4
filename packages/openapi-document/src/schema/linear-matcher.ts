import { Alphabet, type Letter } from './alphabet.ts';
import { Automaton, isMatch, keyOf, reachableStates, type State } from './automaton.ts';
import { type Budget, spend } from './budget.ts';
import type { Expression } from './expression.ts';

/** A state, with the nodes after the letters that have been seen. */
interface Node {
  readonly state: State;
  /** `null` if a match ends before the letter. */
  readonly next: (Node | null | undefined)[];
}

/** Limits the time to count the states. */
const MAX_WORK = 20_000;

/** The maximum number of characters, and of states, that are stored. */
const MAX_STORED = 4_096;

/**
 * Matches texts in linear time. An expression with few states stores them, and needs 10 ns for most
 * characters. The steps of a text do not depend on earlier texts.
 */
export class LinearMatcher {
  /** True if most characters take 10 ns. */
  readonly hasFewStates: boolean;
  readonly #automaton: Automaton;
  readonly #alphabet: Alphabet;
  readonly #isUnicode: boolean;
  /** The steps for a character beyond ASCII, which may not be stored. */
  readonly #letterSteps: number;
  readonly #letters = new Map<number, Letter>();
  readonly #nodes = new Map<string, Node>();

  constructor(expression: Expression) {
    this.#automaton = new Automaton(expression);
    this.#alphabet = new Alphabet(expression);
    this.#isUnicode = expression.flags.includes('u');
    this.hasFewStates = hasFewStates(this.#automaton, [...this.#alphabet.all()]);
    this.#letterSteps = 4 * expression.atoms.length;
  }

  test(text: string, budget: Budget): boolean {
    let node = this.#nodeOf(this.#automaton.first);
    let index = 0;
    while (index < text.length) {
      const code = (this.#isUnicode && text.codePointAt(index)) || text.charCodeAt(index);
      index += code > 0xffff ? 2 : 1;
      const { length } = node.state.positions;
      const steps = this.hasFewStates ? 2 : 64 + 16 * length;
      spend(budget, code < 0x80 ? steps : steps + this.#letterSteps);
      const letter = this.#letters.get(code) ?? this.#letterOf(code);
      const stored = node.next[letter.id];
      const next = stored === undefined ? this.#nextOf(node, letter) : stored;
      if (next === null) return true;
      if (next.state.positions.length === 0) return false;
      node = next;
    }
    return isMatch(node.state, 'end');
  }

  #letterOf(code: number): Letter {
    const letter = this.#alphabet.letterOf(code);
    if (this.#letters.size < MAX_STORED) this.#letters.set(code, letter);
    return letter;
  }

  #nextOf(node: Node, letter: Letter): Node | null {
    if (isMatch(node.state, letter.kind)) return null;
    const next = this.#nodeOf(this.#automaton.next(node.state, letter));
    if (this.hasFewStates) node.next[letter.id] = next;
    return next;
  }

  #nodeOf(state: State): Node {
    if (!this.hasFewStates) return { state, next: [] };
    const key = keyOf(state);
    const node = this.#nodes.get(key) ?? { state, next: [] };
    if (this.#nodes.size < MAX_STORED) this.#nodes.set(key, node);
    return node;
  }
}

function hasFewStates(automaton: Automaton, letters: readonly Letter[]): boolean {
  let work = 0;
  for (const { positions } of reachableStates(automaton, letters, keyOf, () => false)) {
    work += letters.length * (2 + positions.length);
    if (work > MAX_WORK) return false;
  }
  return true;
}
