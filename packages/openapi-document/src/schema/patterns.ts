import { Alphabet } from './alphabet.ts';
import { stepsByLength, stepsPerCharacter } from './backtracking.ts';
import { type Budget, BudgetExceeded, spend } from './budget.ts';
import { type Expression, parseExpression, TooLarge } from './expression.ts';
import { LinearMatcher } from './linear-matcher.ts';
import { patternOf } from './pattern-syntax.ts';

export interface Pattern {
  /** The maximum length of a text, and its reason. Almost all patterns have no limit. */
  readonly notice: string | undefined;
  /** @throws {BudgetExceeded} */
  test(text: string, budget: Budget): boolean;
}

/** Repetitions beyond that number count as unlimited in a proof, which is faster. */
const MAX_COPIES = 16;

/** The maximum number of backtracking steps for one text. They take at most 15 ms. */
const MAX_STEPS = 1_000_000;

/**
 * The native engine stores a choice for each repetition. That takes more time for long texts, and
 * overflows the stack for texts of about 10 MB.
 */
const MAX_NATIVE_LENGTH = 65_536;

/** The steps for each character of a long text in the native engine. */
const LONG_STEPS = 16;

/** The number of backtracking steps in the time of one step of a budget. */
const STEPS_PER_STEP = 8;

/**
 * Compiles a regular expression. The native engine runs it if that provably takes linear time.
 * Otherwise `LinearMatcher` does. It has neither look-around nor back references: a pattern with
 * these that may take more time can test short texts only. With an unlimited budget, which the
 * texts of a document have, nothing is proved.
 *
 * @throws {SyntaxError}
 */
export function compilePattern(source: string): Pattern {
  const native = patternOf(source);
  let prepared: Pattern | undefined;
  const pattern = (): Pattern => {
    prepared ??= prepare(native);
    return prepared;
  };
  return {
    get notice() {
      return pattern().notice;
    },
    test: (text, budget) =>
      budget.steps === Number.POSITIVE_INFINITY ? native.test(text) : pattern().test(text, budget),
  };
}

function prepare(native: RegExp): Pattern {
  const expression = parsed(native, MAX_COPIES);
  const alphabet = expression && new Alphabet(expression);
  const steps = expression && alphabet && stepsPerCharacter(expression, alphabet);
  if (expression !== undefined && steps !== undefined)
    return nativePattern(native, steps, expression);

  const exact = expression?.isExact ? expression : parsed(native, Number.POSITIVE_INFINITY);
  if (exact?.isExact) {
    const matcher = new LinearMatcher(exact);
    return { notice: undefined, test: (text, budget) => matcher.test(text, budget) };
  }
  const limits = expression && alphabet ? stepsByLength(expression, alphabet, MAX_STEPS) : [];
  return shortPattern(native, limits);
}

function nativePattern(native: RegExp, maxSteps: number, expression: Expression): Pattern {
  const steps = Math.ceil(maxSteps / STEPS_PER_STEP);
  let matcher: LinearMatcher | undefined;
  return {
    notice: undefined,
    test(text, budget) {
      const isLong = text.length > MAX_NATIVE_LENGTH;
      if (isLong && expression.isExact) matcher ??= new LinearMatcher(expression);
      if (isLong && matcher?.hasFewStates) return matcher.test(text, budget);
      spend(budget, text.length * Math.max(steps, isLong ? LONG_STEPS : 1));
      return native.test(text);
    },
  };
}

function shortPattern(native: RegExp, stepsByLength: readonly number[]): Pattern {
  const maxLength = stepsByLength.length - 1;
  return {
    notice:
      `texts of more than ${maxLength} characters are rejected, since the pattern may take too ` +
      'much time: simplify its repetitions, or remove its look-around and back references',
    test(text, budget) {
      const steps = stepsByLength[text.length];
      if (steps === undefined) throw new BudgetExceeded();
      spend(budget, Math.ceil(steps / STEPS_PER_STEP));
      return native.test(text);
    },
  };
}

/**
 * Parses a pattern to generate texts. Returns `undefined` for an expression that is too large.
 *
 * @throws {SyntaxError}
 */
export function parsePattern(source: string): Expression | undefined {
  const native = patternOf(source);
  return parsed(native, Number.POSITIVE_INFINITY) ?? parsed(native, MAX_COPIES);
}

/** Returns `undefined` for an expression that is too large. */
function parsed(native: RegExp, maxCopies: number): Expression | undefined {
  try {
    return parseExpression(native, maxCopies);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}
