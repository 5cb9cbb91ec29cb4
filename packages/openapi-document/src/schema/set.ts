import { isDate } from 'node:util/types';
import { asObject, isObject, type Json } from '../source/document.ts';
import { arrayRules } from './array-rules.ts';
import { type Budget, spend } from './budget.ts';
import { isBytes } from './equality.ts';
import { Facts } from './facts.ts';
import { parsedBy, type TypedFormat } from './formats.ts';
import { ANY_TYPE, TYPE_BITS, typeBitOf, typeNames } from './json-types.ts';
import type {
  ArrayRules,
  Assertion,
  Context,
  Membership,
  ObjectRules,
  Run,
  SchemaSet,
  Selector,
} from './model.ts';
import { objectRules } from './object-rules.ts';
import {
  constantRules,
  fileRule,
  isDay,
  numberRules,
  readsDoubles,
  textIn,
  textRules,
  typedFormatsOf,
} from './scalar-rules.ts';
import { NOTHING, type SchemaTree } from './tree.ts';
import { selectorsOf } from './unions.ts';

/** Limits the memory: clients choose the combinations of alternatives. */
const MAX_SELECTED = 2_000;

/** The steps for a schema or a member of a new set. */
const STEPS_OF_SCHEMA = 16;

/** Counts the sets that values selected. When there are too many, all are forgotten. */
export class SelectionCounter {
  generation = 0;
  #count = 0;

  add(): void {
    this.#count += 1;
    if (this.#count < MAX_SELECTED) return;
    this.#count = 0;
    this.generation += 1;
  }
}

const NO_SELECTORS: readonly Selector[] = [];

const NO_NAMES: ReadonlySet<string> = new Set();

/** A {@link SchemaSet} whose rules are created when the first value of their type arrives. */
export class JoinedSchemas implements SchemaSet {
  readonly context: Context;
  readonly roots: readonly Json[];
  readonly schemas: ReadonlyMap<Json, Membership>;
  readonly facts: Facts;
  readonly types: number;
  readonly tracksEvaluated: boolean;
  readonly hidden: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
  free = 0;
  readonly #counter: SelectionCounter;
  readonly #outerHidden: ReadonlySet<string>;
  readonly #isReply: boolean;
  readonly #allowsAnything: boolean;
  readonly #typed: ReturnType<typeof typedFormatsOf>;
  readonly #hasNot: boolean;
  #selectors = NO_SELECTORS;
  #generation = 0;
  #isSelected = false;
  readonly #selected = new Map<number | string, JoinedSchemas>();
  #constants: readonly Assertion<unknown>[] | undefined;
  #texts: readonly Assertion<string>[] | undefined;
  #numbers: readonly Assertion<number | bigint>[] | undefined;
  #readsDoubles = false;
  #isFreeKnown = false;
  #object: ObjectRules | undefined;
  #array: ArrayRules | undefined;
  #file: Assertion<Blob | NodeJS.ArrayBufferView> | undefined;
  #isDay: boolean | undefined;

  static of(
    context: Context,
    counter: SelectionCounter,
    schemas: readonly Json[],
    hidden: ReadonlySet<string>,
  ): JoinedSchemas {
    const members = new Map<Json, Membership>();
    for (const schema of schemas) addSchema(context.tree, members, schema, false);
    const set = new JoinedSchemas(context, counter, schemas, members, hidden);
    set.#selectors = [...members].flatMap(([schema, { isBase }]) =>
      selectorsOf(set, schema, isBase),
    );
    return set;
  }

  private constructor(
    context: Context,
    counter: SelectionCounter,
    roots: readonly Json[],
    schemas: ReadonlyMap<Json, Membership>,
    outerHidden: ReadonlySet<string>,
  ) {
    this.context = context;
    this.roots = roots;
    this.#counter = counter;
    this.schemas = schemas;
    this.#outerHidden = outerHidden;
    this.#isReply = context.view === 'response';
    this.facts = new Facts([...schemas.keys()]);
    this.types = schemas.has(NOTHING) ? 0 : (this.facts.declaredTypes ?? ANY_TYPE);
    this.tracksEvaluated = schemas
      .keys()
      .some((schema) => (schema.unevaluatedProperties ?? schema.unevaluatedItems) !== undefined);
    this.#hasNot = schemas.keys().some(({ not }) => not !== undefined);
    this.optional = hiddenNames(context, schemas);
    this.hidden = outerHidden.size === 0 ? this.optional : outerHidden.union(this.optional);
    this.#typed = typedFormatsOf(this);
    this.#allowsAnything = schemas.keys().every((schema) => Object.keys(schema).length === 0);
    if (this.#allowsAnything && !this.#isReply) this.free = ANY_TYPE;
  }

  select(owner: Json, schemas: readonly Json[], budget: Budget, isBase = false): JoinedSchemas {
    const { context } = this;
    const { tree } = context;
    if (this.#generation !== this.#counter.generation) {
      this.#selected.clear();
      this.#generation = this.#counter.generation;
    }
    const [first = owner, ...others] = schemas;
    // A number is found faster than a string.
    const key =
      others.length === 0
        ? tree.idOf(owner) * 2 ** 24 + tree.idOf(first)
        : [owner, ...schemas].map((schema) => tree.idOf(schema)).join();
    const known = this.#selected.get(key);
    if (known !== undefined) return known;
    this.#counter.add();
    const members = new Map(this.schemas);
    const { adds = [], isBase: isOwnerBase = false } = members.get(owner) ?? {};
    members.set(owner, { adds: [...adds, ...schemas], isBase: isOwnerBase });
    for (const schema of schemas) addSchema(context.tree, members, schema, isBase);
    // The document limits the first selections, but not their combinations.
    if (this.#isSelected) spend(budget, stepsToPrepare(members));
    const counter = this.#counter;
    const set = new JoinedSchemas(context, counter, this.roots, members, this.#outerHidden);
    set.#isSelected = true;
    const added = [...members].slice(this.schemas.size);
    set.#selectors = [
      ...this.#selectors,
      ...added.flatMap(([inner, membership]) => selectorsOf(set, inner, membership.isBase)),
    ];
    this.#selected.set(key, set);
    return set;
  }

  read(source: unknown, run: Run): unknown {
    run.countValue();
    // Only a reply that is written has values to convert.
    if (this.#allowsAnything && (run.violations === undefined || !this.#isReply)) return source;
    if (typeof source !== 'object' || source === null) {
      return this.#selectors.length === 0
        ? this.#readScalar(source, run)
        : this.#selectFor(source, run).#readScalar(source, run);
    }
    if (run.files && isBytes(source)) return this.#selectFor(source, run).#readFile(source, run);
    const value = this.#isReply ? this.#converted(source) : source;
    if (typeof value !== 'object' || value === null) return this.read(value, run);
    run.enter();
    const countBefore = run.count;
    const set = this.#selectFor(value, run);
    const isRefuted = run.violations === undefined && run.count !== countBefore;
    const result = isRefuted ? value : set.#readStructure(value, run, this);
    // Unions and conditions saw the members that the reply loses, and `not` has seen nothing.
    const isUnseen = result !== value || (set.#hasNot && !run.isStrict);
    const isUntested = this.#isReply && this.#selectors.length > 0 && isUnseen;
    if (isUntested && run.violations !== undefined && run.count === countBefore) {
      for (const violation of run.test(this, result, true)
        ? []
        : run.violationsOf(this, result, true))
        run.report(violation.keyword, violation.message, violation.params, violation.path);
    }
    run.depth -= 1;
    return result;
  }

  /** Returns the set with everything that unions and conditions select for a value. */
  #selectFor(value: unknown, run: Run): JoinedSchemas {
    const countBefore = run.count;
    let set: JoinedSchemas = this;
    for (let index = 0; index < set.#selectors.length; index += 1) {
      set = set.#selectors[index]?.(set, value, run) as JoinedSchemas;
      if (run.violations === undefined && run.count !== countBefore) break;
    }
    return set;
  }

  #readScalar(value: unknown, run: Run): unknown {
    const type = typeBitOf(value);
    if ((this.types & type) === 0 && this.#isReply && this.#typed.length > 0) {
      const text = textIn(this.#typed, value);
      if (text !== undefined) return this.#readScalar(text, run);
    }
    if (!this.#allows(type, run)) return value;
    this.#checkConstants(value, run);
    switch (typeof value) {
      case 'string': {
        const countBefore = run.count;
        this.#texts ??= textRules(this);
        if (this.#texts.length > 0 && run.violations !== undefined) run.earn(2 * value.length);
        for (const rule of this.#texts) rule(value, run);
        if (run.parsesFormats && this.#typed[0] !== undefined && run.count === countBefore)
          return this.#parsed(value, this.#typed[0].typed, run);
        break;
      }
      case 'number':
      case 'bigint':
        if (this.#numbers === undefined) {
          this.#numbers = numberRules(this);
          this.#readsDoubles = readsDoubles(this);
        }
        for (const rule of this.#numbers) rule(value, run);
        if (this.#readsDoubles) return Number(value);
        break;
      case 'function':
      case 'symbol':
        return undefined;
    }
    if (!this.#isFreeKnown) {
      this.#isFreeKnown = true;
      if (this.#selectors.length === 0) this.free |= this.#freeTypes();
    }
    return value;
  }

  #parsed(text: string, format: TypedFormat, run: Run): unknown {
    const value = parsedBy(format, text);
    if (value === undefined) run.report('format', `must be a value of ${format.type}`);
    return value;
  }

  #freeTypes(): number {
    if (this.#constants !== undefined && this.#constants.length > 0) return 0;
    this.#texts ??= textRules(this);
    this.#numbers ??= numberRules(this);
    const texts = this.#texts.length === 0 ? TYPE_BITS.string : 0;
    // A request may have to convert bigints.
    const numbers = this.#numbers.length === 0 && !readsDoubles(this) ? TYPE_BITS.number : 0;
    return this.types & (TYPE_BITS.null | TYPE_BITS.boolean | texts | numbers);
  }

  #readStructure(value: object, run: Run, whole: SchemaSet): unknown {
    if (Array.isArray(value)) {
      if (!this.#allows(TYPE_BITS.array, run)) return value;
      return this.#checkConstants(this.arrayRules.read(value, run), run);
    }
    if (!this.#allows(TYPE_BITS.object, run)) return value;
    return this.#checkConstants(this.objectRules.read(value as Json, run, whole), run);
  }

  get objectRules(): ObjectRules {
    this.#object ??= objectRules(this);
    return this.#object;
  }

  get arrayRules(): ArrayRules {
    this.#array ??= arrayRules(this);
    return this.#array;
  }

  #readFile(file: Blob | NodeJS.ArrayBufferView, run: Run): unknown {
    this.#file ??= fileRule(this);
    this.#file(file, run);
    return file;
  }

  #checkConstants(value: unknown, run: Run): unknown {
    this.#constants ??= constantRules(this);
    for (const rule of this.#constants) rule(value, run);
    return value;
  }

  #allows(type: number, run: Run): boolean {
    if ((this.types & type) !== 0) return true;
    if (this.schemas.has(NOTHING)) {
      run.report('false schema', 'must not be present');
    } else {
      const names = typeNames(this.types);
      run.report('type', `must be ${names.join(' or ') || 'absent'}`, { type: names });
    }
    return false;
  }

  /** Converts a value of a reply as `JSON.stringify` does. */
  #converted(value: object): unknown {
    const isTyped = (this.types & TYPE_BITS.object) === 0 || 'toJSON' in value;
    const text = this.#typed.length > 0 && isTyped ? textIn(this.#typed, value) : undefined;
    if (text !== undefined) return text;
    if (!('toJSON' in value) || typeof value.toJSON !== 'function') return value;
    const result: unknown = value.toJSON('');
    // JSON.stringify would call `toJSON` of the array again.
    if (Array.isArray(result)) return [...result];
    if (typeof result !== 'string') return result;
    this.#isDay ??= isDay(this);
    if (!this.#isDay) return result;
    return isDate(value) ? dayOf(value) : result.replace(/T.*/, '');
  }
}

/** The steps that the preparation of a set takes: its schemas and their members. */
function stepsToPrepare(schemas: ReadonlyMap<Json, Membership>): number {
  let steps = 0;
  for (const { properties } of schemas.keys())
    steps += STEPS_OF_SCHEMA * (1 + Object.keys(asObject(properties)).length);
  return steps;
}

/** Adds a schema, and the schemas that it joins to the same value. */
function addSchema(
  tree: SchemaTree,
  members: Map<Json, Membership>,
  schema: Json,
  isBase: boolean,
): void {
  if (members.has(schema)) return;
  const adds = tree.joinedBy(schema);
  members.set(schema, { adds, isBase });
  for (const added of adds) addSchema(tree, members, added, isBase || tree.extends(schema, added));
}

function hiddenNames(
  { tree, view }: Context,
  schemas: ReadonlyMap<Json, Membership>,
): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const { properties } of schemas.keys()) {
    if (!isObject(properties)) continue;
    for (const [name, property] of Object.entries(properties)) {
      if (!isObject(property) || !tree.isOneWay(property, view)) continue;
      names ??= new Set();
      names.add(name);
    }
  }
  return names ?? NO_NAMES;
}

/**
 * Returns the day of a date. Some drivers, such as pg, read a day as its start in local time,
 * others as its start in UTC. If a date is the start of a day in both, the day is the same, since
 * time zones differ from UTC by less than a day.
 */
function dayOf(date: Date): string {
  const start = new Date(date);
  // The day starts later if summer time skips midnight.
  start.setHours(0, 0, 0, 0);
  const day = new Date(date);
  if (start.getTime() === date.getTime())
    day.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
  return day.toISOString().replace(/T.*/, '');
}
