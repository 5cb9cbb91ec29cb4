import { escapePointerToken, type Json } from '../source/document.ts';
import { type Budget, BudgetExceeded, spend } from './budget.ts';
import type { Facts } from './facts.ts';
import type { SchemaTree, View } from './tree.ts';

/** A difference between a value and its schema. */
export interface Violation {
  /** A JSON pointer (RFC 6901) to the value. Ends with the name of a member that is missing. */
  readonly path: string;
  /** The keyword of JSON Schema that the value breaks. `budget` if the check takes too long. */
  readonly keyword: string;
  /** Values of the schema or the value that the message contains, for messages in other words. */
  readonly params?: Json;
  /** A predicate of the value at the path, such as `must be integer`. */
  readonly message: string;
}

/** The values that all schema sets of one view of a document share. */
export interface Context {
  readonly tree: SchemaTree;
  readonly view: View;
  /**
   * Returns the set of schemas that apply to one value.
   *
   * @param hidden the members that other schemas of the same value remove.
   */
  setOf(schemas: readonly Json[], hidden?: ReadonlySet<string>): SchemaSet;
}

/** The meaning of one name in an object. */
export interface Member {
  /** Undefined for a member that is removed or rejected. */
  readonly set: SchemaSet | undefined;
  /** The keyword that rejects the member. Without one, a member without a set is removed. */
  readonly rejectedBy: string | undefined;
  readonly isRequired: boolean;
  /** The alternatives whose values are removed or rejected, since the other direction has them. */
  readonly oneWay: readonly SchemaSet[];
  /** The alternatives whose values a request keeps, also if they match others of `oneWay`. */
  readonly twoWay: readonly SchemaSet[];
}

/** Validates the members of objects. */
export interface ObjectRules {
  /**
   * Returns a changed copy, or the same object.
   *
   * @param whole the set that selected this one.
   */
  read(object: Json, run: Run, whole: SchemaSet): unknown;
  member(name: string): Member;
  readonly required: ReadonlySet<string>;
  /** True if a request gets the default of a member that it lacks. */
  isFilled(name: string): boolean;
}

/** Validates the items of arrays. */
export interface ArrayRules {
  /** Returns a changed copy, or the same array. */
  read(items: readonly unknown[], run: Run): unknown;
  /** Returns the set of an item, or `undefined` if any item is allowed. */
  item(index: number): SchemaSet | undefined;
  /** The number of first items that have schemas of their own. */
  readonly prefixLength: number;
}

/** The place of a schema in a set. */
export interface Membership {
  /** The schemas that this one adds to the set. */
  readonly adds: readonly Json[];
  /** True if another schema extends this one: its discriminator selects nothing. */
  readonly isBase: boolean;
}

/**
 * All schemas that apply to one value at the same time. What they declare, remove, require and fill
 * in are facts of the set, so nothing is marked on values.
 */
export interface SchemaSet {
  readonly context: Context;
  /** The schemas that the set was created for. They add all others. */
  readonly roots: readonly Json[];
  readonly schemas: ReadonlyMap<Json, Membership>;
  /** The facts that the schemas state. */
  readonly facts: Facts;
  /** The types that all schemas allow, as bits. */
  readonly types: number;
  /** The types whose values are valid as they are. Known after the first value of a type. */
  readonly free: number;
  /** True if a schema depends on the members or items that other schemas evaluate. */
  readonly tracksEvaluated: boolean;
  /** The members that are removed, since only the other direction has them. */
  readonly hidden: ReadonlySet<string>;
  /** Those that a schema of the set declares so, and therefore does not require. */
  readonly optional: ReadonlySet<string>;
  readonly objectRules: ObjectRules;
  readonly arrayRules: ArrayRules;
  /** Validates a value. Reports violations, and returns the changed value. */
  read(value: unknown, run: Run): unknown;
  /**
   * Returns the set that also contains some schemas.
   *
   * @param owner the schema of this set that selects them.
   * @param budget pays for a new combination of alternatives, since clients choose them.
   */
  select(owner: Json, schemas: readonly Json[], budget: Budget, isBase?: boolean): SchemaSet;
}

/** Selects further schemas for a value: returns the set with them. */
export type Selector = (set: SchemaSet, value: unknown, run: Run) => SchemaSet;

/** Reports the violations of a value. */
export type Assertion<Value> = (value: Value, run: Run) => void;

/** The default maximum number of violations. A hostile value can have thousands. */
export const MAX_VIOLATIONS = 20;

/**
 * The maximum nesting of values and tests. Deeper ones could overflow the stack. JSON of 256 levels
 * takes up to four for each level.
 */
const MAX_READ_DEPTH = 1_100;

/**
 * The steps of a check, besides those that a large value adds. They take about 20 milliseconds, so
 * that no other request waits longer.
 */
export const DEFAULT_STEPS = 150_000;

/** The steps that each member and item adds, since reading them is inevitable. */
const EARNED_STEPS = 5;

export interface CheckOptions {
  /** The steps that the check may take, see {@link Run}. It keeps those that are left. */
  readonly budget?: Budget | undefined;
  /** True if strings may be files: `Blob` or bytes. */
  readonly files?: boolean | undefined;
  /** True if texts of typed formats become their values. By default false. */
  readonly parsesFormats?: boolean | undefined;
  /** Called with the name of each member that is removed from a reply. */
  readonly onDrop?: ((name: string) => void) | undefined;
  /** The maximum number of violations: 20 by default. */
  readonly maxViolations?: number | undefined;
}

/** Results by value and set, apart for strict tests. */
class Results<Result> {
  readonly #byValue = [new Map<unknown, Map<SchemaSet, Result>>(), new Map()] as const;

  get(value: unknown, set: SchemaSet, isStrict: boolean): Result | undefined {
    return this.#byValue[isStrict ? 1 : 0].get(value)?.get(set);
  }

  add(value: unknown, set: SchemaSet, isStrict: boolean, result: Result): void {
    const byValue = this.#byValue[isStrict ? 1 : 0];
    const results = byValue.get(value);
    if (results === undefined) byValue.set(value, new Map([[set, result]]));
    else results.set(set, result);
  }
}

/**
 * The state of one check.
 *
 * Reading a value once costs no steps, and adds some: the larger a value, the more steps its check
 * may take. Testing alternatives and matching texts costs steps.
 */
export class Run implements Budget {
  /** Undefined while a value is only tested. */
  violations: Violation[] | undefined = [];
  /** The number of violations, which may be higher than the number of those that are kept. */
  count = 0;
  steps: number;
  /** The number of members that were removed. */
  dropped = 0;
  depth = 0;
  /** True while undeclared members of a reply are rejected instead of ignored. */
  isStrict = false;
  readonly files: boolean;
  readonly parsesFormats: boolean;
  readonly onDrop: ((name: string) => void) | undefined;
  readonly #maxViolations: number;
  #testDepth = 0;
  /** The results of tests inside tests. Without them, nested unions take exponential time. */
  #results: Results<boolean> | undefined;
  /** The results of `violationsOf`, for the same reason. */
  #explanations: Results<readonly Violation[]> | undefined;

  constructor({
    budget,
    files = false,
    parsesFormats = false,
    onDrop,
    maxViolations = MAX_VIOLATIONS,
  }: CheckOptions) {
    this.steps = budget?.steps ?? DEFAULT_STEPS;
    this.files = files;
    this.parsesFormats = parsesFormats;
    this.onDrop = onDrop;
    this.#maxViolations = maxViolations;
  }

  report(keyword: string, message: string, params: Json = {}, path = ''): void {
    this.count += 1;
    if (this.violations !== undefined && this.count <= this.#maxViolations)
      this.violations.push({ path, keyword, params, message });
  }

  /** Reports a violation of the member with a name. */
  reportMember(name: string, keyword: string, message: string, params: Json): void {
    const path = this.violations === undefined ? '' : `/${escapePointerToken(name)}`;
    this.report(keyword, message, params, path);
  }

  /** Adds a name to the paths of the latest violations. Valid values need no paths. */
  locate(countBefore: number, name: string | number): void {
    if (this.violations === undefined) return;
    const token = `/${escapePointerToken(name)}`;
    for (let index = countBefore; index < this.violations.length; index += 1) {
      const violation = this.violations[index];
      if (violation !== undefined)
        this.violations[index] = { ...violation, path: token + violation.path };
    }
  }

  /** True if nothing more has to be found. */
  get isDone(): boolean {
    return this.violations === undefined || this.count > this.#maxViolations;
  }

  enter(levels = 1): void {
    this.depth += levels;
    if (this.depth > MAX_READ_DEPTH) throw new BudgetExceeded();
  }

  /** Returns true if a value is valid. Reports nothing. */
  test(set: SchemaSet, value: unknown, isStrict: boolean): boolean {
    const isStructure = typeof value === 'object' && value !== null;
    const known = isStructure ? this.#results?.get(value, set, isStrict) : undefined;
    if (known !== undefined) return known;
    const isNested = this.#testDepth > 0;
    const isValid = this.#countIn(set, value, undefined, isStrict) === 0;
    if (isStructure && isNested) {
      this.#results ??= new Results();
      this.#results.add(value, set, isStrict, isValid);
    }
    return isValid;
  }

  /** Returns the number of members that a set removes from a valid value. */
  droppedBy(set: SchemaSet, value: unknown): number {
    const { dropped } = this;
    this.#countIn(set, value, undefined, false);
    const result = this.dropped - dropped;
    this.dropped = dropped;
    return result;
  }

  /** Returns the violations of a value, without reporting them. */
  violationsOf(set: SchemaSet, value: unknown, isStrict = this.isStrict): readonly Violation[] {
    this.#explanations ??= new Results();
    const known = this.#explanations.get(value, set, isStrict);
    if (known !== undefined) return known;
    const violations: Violation[] = [];
    this.#countIn(set, value, violations, isStrict);
    this.#explanations.add(value, set, isStrict, violations);
    return violations;
  }

  /**
   * Returns the number of violations of a value, without reporting them.
   *
   * @param violations the list that gets them.
   */
  #countIn(
    set: SchemaSet,
    value: unknown,
    violations: Violation[] | undefined,
    isStrict: boolean,
  ): number {
    const { violations: outerViolations, count: outerCount, isStrict: wasStrict } = this;
    this.violations = violations;
    this.count = 0;
    this.isStrict = isStrict;
    this.#testDepth += 1;
    // A test takes more of the stack than a member.
    this.enter(2);
    set.read(value, this);
    this.depth -= 2;
    this.#testDepth -= 1;
    const { count } = this;
    this.violations = outerViolations;
    this.count = outerCount;
    this.isStrict = wasStrict;
    return count;
  }

  /** Counts the reading of a value: a step if it is only tested. @throws {BudgetExceeded} */
  countValue(): void {
    if (this.violations === undefined) spend(this, 1);
    else this.earn(EARNED_STEPS);
  }

  /** Counts the reading of members or items that need no rules. @throws {BudgetExceeded} */
  countMembers(count: number): void {
    if (this.violations === undefined) spend(this, count);
    else this.earn(count);
  }

  earn(steps: number): void {
    if (this.#testDepth === 0 && this.steps < DEFAULT_STEPS) this.steps += steps;
  }
}
