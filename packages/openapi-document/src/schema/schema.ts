import { entriesOf, type Json } from '../source/document.ts';
import { type Budget, BudgetExceeded, UNLIMITED } from './budget.ts';
import { baseTagName } from './discriminator.ts';
import { Facts } from './facts.ts';
import { type TypeName, typeNames } from './json-types.ts';
import { type CheckOptions, Run, type SchemaSet, type Violation } from './model.ts';
import { typedFormatsOf } from './scalar-rules.ts';
import { type Union, unionsOf } from './unions.ts';

/** The result of a check: the value as the view reads it, or its violations. */
export type CheckResult =
  | { readonly value: unknown; readonly violations?: undefined; readonly isComplete: true }
  | {
      readonly value?: undefined;
      /** At most `maxViolations`. */
      readonly violations: readonly Violation[];
      /** False if there are more violations. */
      readonly isComplete: boolean;
    };

/**
 * All schemas that apply to one value in one view, such as `request`. The members of this class
 * join what these schemas say.
 */
export class Schema extends Facts {
  readonly #set: SchemaSet;

  constructor(set: SchemaSet) {
    super([...set.schemas.keys()]);
    this.#set = set;
  }

  /** Validates a value. Returns it as the view reads it, or its violations. */
  check(value: unknown, options: CheckOptions = {}): CheckResult {
    const { budget } = options;
    const run = new Run(options);
    try {
      const result = this.#set.read(value, run);
      if (run.count === 0) return { value: result, isComplete: true };
      const violations = run.violations ?? [];
      return { violations, isComplete: run.count === violations.length };
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error;
      const violation = { path: '', keyword: 'budget', params: {}, message: error.message };
      return { violations: [violation], isComplete: true };
    } finally {
      if (budget !== undefined) budget.steps = run.steps;
    }
  }

  /** Returns true if a check finds no violation. */
  isValid(value: unknown, budget?: Budget): boolean {
    return this.check(value, { budget }).violations === undefined;
  }

  /** The types that are allowed without regard to unions: all types if none is named. */
  get types(): readonly TypeName[] {
    return typeNames(this.#set.types);
  }

  /** The values that `enum` and `const` allow, or `undefined` if they allow any. */
  get constants(): readonly unknown[] | undefined {
    const [first] = this.constantLists;
    return first?.filter((value: unknown) => this.isValid(value));
  }

  /** The TypeScript type of the texts, if their format has one. */
  get textType(): string | undefined {
    return typedFormatsOf(this.#set)[0]?.typed.type;
  }

  /** Returns the schema of an item, or `undefined` if any item is allowed. */
  item(index: number): Schema | undefined {
    return schemaOf(this.#set.arrayRules.item(index));
  }

  /** The number of first items that have schemas of their own. */
  get prefixLength(): number {
    return this.#set.arrayRules.prefixLength;
  }

  /** The schemas of items that an array must contain after those of the prefix. */
  get contained(): readonly Contained[] {
    const { context, arrayRules } = this.#set;
    const item = arrayRules.item(arrayRules.prefixLength)?.roots ?? [];
    return this.schemas.flatMap(({ contains, minContains }) => {
      if (contains === undefined) return [];
      const schema = new Schema(context.setOf([...item, context.tree.schemaOf(contains)]));
      return [{ schema, min: typeof minContains === 'number' ? minContains : 1 }];
    });
  }

  /** The default, unless it is invalid and therefore not filled in. */
  override get default(): { readonly value: unknown } | undefined {
    const preset = super.default;
    return preset && this.isValid(preset.value) ? preset : undefined;
  }

  override get required(): ReadonlySet<string> {
    return this.#set.objectRules.required;
  }

  /** The required members that `additionalProperties` rejects. */
  get impossibleNames(): readonly string[] {
    const { objectRules } = this.#set;
    const isRejected = (name: string) =>
      objectRules.member(name).rejectedBy === 'additionalProperties';
    return [...this.required].filter(isRejected);
  }

  /** The names in `properties`, except for members that are removed. */
  override get names(): ReadonlySet<string> {
    return super.names.difference(this.#set.hidden);
  }

  /** The schema of the names of members. */
  get name(): Schema | undefined {
    const { context } = this.#set;
    const schemas = this.schemas.flatMap(({ propertyNames }) =>
      propertyNames === undefined ? [] : [context.tree.schemaOf(propertyNames)],
    );
    return schemas.length === 0 ? undefined : new Schema(context.setOf(schemas));
  }

  /** Returns the schema of a member, or `undefined` if the member is removed or rejected. */
  member(name: string): Schema | undefined {
    return schemaOf(this.#set.objectRules.member(name).set);
  }

  get unions(): readonly Union[] {
    return unionsOf(this.#set);
  }

  /** Returns the schema with an alternative of one of its unions. */
  with({ owner, tag }: Union, alternative: Json): Schema {
    const isBase = baseTagName(alternative) === tag?.name;
    return new Schema(this.#set.select(owner, [alternative], UNLIMITED, isBase));
  }

  /** The branches of `if`, with all `dependentSchemas` of the same schema. */
  get conditions(): readonly Condition[] {
    const { tree } = this.#set.context;
    return this.schemas.flatMap((owner) => {
      const dependent = entriesOf(owner.dependentSchemas).map(([, schema]) => schema);
      if (owner.if === undefined && dependent.length === 0) return [];
      const lists =
        owner.if === undefined ? [[]] : [[owner.if, owner.then ?? true], [owner.else ?? true]];
      const branches = lists.map((schemas) => {
        const set = [...schemas, ...dependent].reduce<SchemaSet>(
          (selected, schema) => selected.select(owner, [tree.schemaOf(schema)], UNLIMITED),
          this.#set,
        );
        return new Schema(set);
      });
      return [{ owner, branches }];
    });
  }

  /** True if both consist of the same schemas. */
  isSame(other: Schema): boolean {
    return this.#set === other.#set;
  }
}

/** A schema of items of which an array must contain some. */
export interface Contained {
  readonly schema: Schema;
  readonly min: number;
}

/** A schema with each of the branches that it selects for a value. */
export interface Condition {
  readonly owner: Json;
  readonly branches: readonly Schema[];
}

const schemaOf = (set: SchemaSet | undefined): Schema | undefined =>
  set === undefined ? undefined : new Schema(set);
