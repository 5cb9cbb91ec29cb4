import { Alphabet, type Letter } from './alphabet.ts';
import { Automaton, isMatch, keyOf, reachableStates, type State } from './automaton.ts';
import { type Budget, spend } from './budget.ts';
import type { Expression } from './expression.ts';

/** A state, with the nodes after the letters that have been seen. */
interface Node {
  readonly state: State;
  /** `null` if a match ends before the letter. */
  readonly next: (Node | null | undefined)[];
  /** False if the memory for nodes is used up. */
  readonly isStored: boolean;
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
  readonly #ascii: Letter[];
  readonly #others = new Map<number, Letter>();
  readonly #nodes = new Map<string, Node>();
  readonly #first: Node;

  constructor(expression: Expression) {
    this.#automaton = new Automaton(expression);
    this.#alphabet = new Alphabet(expression);
    this.#isUnicode = expression.flags.includes('u');
    this.hasFewStates = hasFewStates(this.#automaton, [...this.#alphabet.all()]);
    this.#letterSteps = 4 * expression.atoms.length;
    this.#ascii = Array.from({ length: 0x80 }, (_, code) => this.#alphabet.letterOf(code));
    this.#first = this.#nodeOf(this.#automaton.first);
  }

  test(text: string, budget: Budget): boolean {
    spend(budget, 2 * text.length);
    let node = this.#first;
    let index = 0;
    while (index < text.length) {
      let code = text.charCodeAt(index);
      if (code >= 0xd800 && this.#isUnicode) code = text.codePointAt(index) ?? code;
      index += code > 0xffff ? 2 : 1;
      const letter = this.#ascii[code] ?? this.#otherLetter(code, budget);
      const stored = node.next[letter.id];
      const next = stored === undefined ? this.#nextOf(node, letter, budget) : stored;
      if (next === null) return true;
      if (next.state.positions.length === 0) return false;
      node = next;
    }
    return isMatch(node.state, 'end');
  }

  #otherLetter(code: number, budget: Budget): Letter {
    spend(budget, this.#letterSteps);
    const letter = this.#others.get(code) ?? this.#alphabet.letterOf(code);
    if (this.#others.size < MAX_STORED) this.#others.set(code, letter);
    return letter;
  }

  /** Returns `null` if a match ends before the letter. */
  #nextOf(node: Node, letter: Letter, budget: Budget): Node | null {
    if (!this.hasFewStates) spend(budget, 64 + 16 * node.state.positions.length);
    const next = isMatch(node.state, letter.neighbour)
      ? null
      : this.#nodeOf(this.#automaton.next(node.state, letter));
    if (next === null || next.isStored) node.next[letter.id] = next;
    return next;
  }

  #nodeOf(state: State): Node {
    if (!this.hasFewStates) return { state, next: [], isStored: false };
    const key = keyOf(state);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const isStored = this.#nodes.size < MAX_STORED;
    const node = { state, next: [], isStored };
    if (isStored) this.#nodes.set(key, node);
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
