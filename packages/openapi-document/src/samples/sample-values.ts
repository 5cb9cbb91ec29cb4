import { isDeepStrictEqual } from 'node:util';
import type { Codecs } from '../codecs/codecs.ts';
import { lines } from '../codecs/lines.ts';
import { records } from '../codecs/records.ts';
import type { MediaType } from '../operations/media.ts';
import type { TypeName } from '../schema/json-types.ts';
import type { Schema } from '../schema/schema.ts';
import type { Schemas } from '../schema/schemas.ts';
import type { Union } from '../schema/unions.ts';
import { isObject, type Json } from '../source/document.ts';
import { essenceOf, isJsonLines, isJsonSequence } from '../source/media-types.ts';
import { patternTexts } from './pattern-texts.ts';
import { numbersFor, rotated, textsFor } from './scalars.ts';

/** The maximum number of values for one schema. */
const MAX_VALUES = 20;

/** The number of parts of all values of one schema: strings, numbers, arrays and objects. */
const MAX_PARTS = 20_000;

/** A value with more parts has no further optional members. */
const MAX_COMPLETE_PARTS = 500;

/** The nesting of objects and arrays beyond which optional members are omitted. */
const MAX_COMPLETE_DEPTH = 6;

/** A value that must be nested deeper is not generated: it could overflow the stack. */
const MAX_SAMPLE_DEPTH = 100;

/** The number of values that are tried for one schema. */
const MAX_TRIES = 200;

/** The number of items that are equal to others, and are replaced in a list of distinct items. */
const MAX_EQUAL_ITEMS = 30;

/** Longer lists are unrealistic samples. */
const MAX_ITEMS = 2_000;

/**
 * Yields different valid values of a schema: first one with all members, then one with the required
 * members only, then others. Each call yields the same values. Yields nothing if none is found.
 */
export function* valuesOf(
  schemas: Schemas,
  place: unknown,
  direction: 'request' | 'response',
): Generator<unknown> {
  const schema = schemas.at(place, direction);
  const values: unknown[] = [];
  const budget = { parts: MAX_PARTS };
  for (let index = 0; index < MAX_VALUES; index += 1) {
    const isComplete = index % 2 === 0;
    const variation = index < 2 ? 0 : index - 1;
    const value = new Sampler(budget, isComplete).value(schema, variation);
    if (value === undefined || values.some((other) => isDeepStrictEqual(other, value))) continue;
    values.push(value);
    yield value;
  }
}

/**
 * Returns one valid value of a schema by choice, or `undefined` if none is found. Zeros lead to the
 * simplest value, with the first example or the required members only.
 *
 * @param choose returns integers of at least 0.
 */
export function chosenValue(
  schemas: Schemas,
  place: unknown,
  direction: 'request' | 'response',
  choose: () => number,
): unknown {
  const sampler = new Sampler({ parts: MAX_PARTS }, true, choose);
  return sampler.value(schemas.at(place, direction), 0);
}

/** The schemas around a value. */
type Path = readonly Schema[];

/** The unions and conditions that are decided for one value. */
interface Decisions {
  readonly unions: readonly Decided[];
  readonly conditions: readonly Json[];
  /** The values of members that select an alternative, such as that of a discriminator. */
  readonly members: ReadonlyMap<string, unknown>;
}

type Decided = Pick<Union, 'owner' | 'keyword' | 'isOfBase'>;

const UNDECIDED: Decisions = { unions: [], conditions: [], members: new Map() };

/** Values that violate most schemas of a member. */
const UNUSUAL_VALUES = [null, 'text', 0, true, [], {}];

/** Generates one value. Its parts are `undefined` if none is found. */
class Sampler {
  readonly #budget: { parts: number };
  readonly #isComplete: boolean;
  readonly #lastCompletePart: number;
  readonly #choose: (() => number) | undefined;

  /**
   * @param isComplete true to generate optional members and items, too.
   * @param choose selects the variation and the optional members of each value.
   */
  constructor(budget: { parts: number }, isComplete: boolean, choose?: () => number) {
    this.#choose = choose;
    this.#budget = budget;
    this.#isComplete = isComplete;
    this.#lastCompletePart = budget.parts - MAX_COMPLETE_PARTS;
  }

  /** @param preferred selects one of several values, unless there are choices: 0 the first. */
  value(schema: Schema, preferred: number, path: Path = []): unknown {
    const variation = this.#choose?.() ?? preferred;
    const repetitions = path.filter((outer) => outer.isSame(schema)).length;
    if (repetitions > (this.#isComplete ? 1 : 0) || path.length > MAX_SAMPLE_DEPTH)
      return undefined;
    let tries = 0;
    for (const candidate of this.#valuesOf(schema, variation, path)) {
      this.#budget.parts -= 1;
      if (this.#budget.parts < 0) return undefined;
      if (schema.isValid(candidate)) return candidate;
      tries += 1;
      if (tries === MAX_TRIES) return undefined;
    }
    return undefined;
  }

  *#valuesOf(schema: Schema, variation: number, path: Path): Generator<unknown> {
    // The view may remove members of an example.
    const examples = schema.examples.map((example) => schema.check(example).value);
    const isFirst = variation === 0;
    const known = this.#isComplete
      ? examples
      : examples.filter((value) => typeof value !== 'object' || value === null);
    if (isFirst) yield* known.filter((value) => value !== undefined);
    const preset = schema.default?.value;
    if (isFirst && preset !== undefined && typeof preset !== 'object') yield preset;
    yield* this.#selected(schema, UNDECIDED, variation, [...path, schema]);
    yield* rotated(examples, variation).filter((value) => value !== undefined);
  }

  /** Yields values for each alternative of the unions and for each branch of the conditions. */
  *#selected(
    schema: Schema,
    decisions: Decisions,
    variation: number,
    path: Path,
  ): Generator<unknown> {
    const { constants } = schema;
    if (constants !== undefined) {
      yield* rotated(constants, variation);
      return;
    }
    const { unions, conditions } = decisions;
    const union = schema.unions.find((one) => !unions.some((other) => isSameUnion(one, other)));
    if (union !== undefined) {
      const decided = { ...decisions, unions: [...unions, union] };
      yield* this.#alternatives(schema, union, decided, variation, path);
      return;
    }
    const condition = schema.conditions.find(({ owner }) => !conditions.includes(owner));
    if (condition !== undefined) {
      const decided = { ...decisions, conditions: [...conditions, condition.owner] };
      for (const branch of rotated(condition.branches, variation))
        yield* this.#selected(branch, decided, variation, path);
      return;
    }
    for (const type of typesInOrder(schema, variation))
      yield* this.#valuesOfType(schema, type, decisions, variation, path);
  }

  *#alternatives(
    schema: Schema,
    union: Union,
    decisions: Decisions,
    variation: number,
    path: Path,
  ): Generator<unknown> {
    const { tag, keyword } = union;
    // Most values are more than `null`.
    const isNull = ({ type }: Json) => Number(type === 'null');
    const nullLast = union.alternatives.toSorted((one, other) => isNull(one) - isNull(other));
    const alternatives = rotated(nullLast, variation);
    const selections = alternatives.map((alternative) => schema.with(union, alternative));
    const withMembers = (members: Iterable<[string, unknown]>): Decisions => ({
      ...decisions,
      members: new Map([...decisions.members, ...members]),
    });
    for (const [index, selected] of selections.entries()) {
      const [tagValue] = [...(tag?.values ?? [])].find(
        ([, target]) => target === alternatives[index],
      ) ?? [undefined];
      const isSelecting = tag !== undefined && tagValue !== undefined;
      const decided = isSelecting ? withMembers([[tag.name, tagValue]]) : decisions;
      yield* this.#selected(selected, decided, variation, path);
    }
    if (keyword !== 'oneOf' || tag !== undefined) return;
    for (const selected of selections) {
      const others = selections.filter((other) => other !== selected);
      const members = this.#distinctiveMembers(selected, others, variation, path);
      if (members !== undefined)
        yield* this.#selected(selected, withMembers(members), variation, path);
    }
  }

  /**
   * Returns members for a value of one alternative of a `oneOf`. Each of the other alternatives is
   * violated by one of them: else the value could match it, too.
   */
  #distinctiveMembers(
    selected: Schema,
    others: readonly Schema[],
    variation: number,
    path: Path,
  ): ReadonlyMap<string, unknown> | undefined {
    const members = new Map<string, unknown>();
    const isViolated = (other: Schema, name: string, value: unknown) =>
      other.member(name)?.isValid(value) === false;
    for (const other of others) {
      if ([...members].some(([name, value]) => isViolated(other, name, value))) continue;
      const violation = [...other.names]
        .filter((name) => !members.has(name))
        .flatMap((name) => this.#valuesOfMember(selected, name, variation, path))
        .find(([name, value]) => isViolated(other, name, value));
      if (violation === undefined) return undefined;
      members.set(...violation);
    }
    return members;
  }

  /** Returns some values of a member. If the schema does not declare it, they are unusual. */
  #valuesOfMember(
    schema: Schema,
    name: string,
    variation: number,
    path: Path,
  ): [string, unknown][] {
    const member = schema.member(name);
    const isDeclared = member !== undefined && schema.names.has(name);
    const values = isDeclared
      ? [0, 1, 2].map((count) => this.value(member, variation + count, path))
      : UNUSUAL_VALUES.filter((value) => member === undefined || member.isValid(value));
    return values.filter((value) => value !== undefined).map((value) => [name, value]);
  }

  *#valuesOfType(
    schema: Schema,
    type: TypeName,
    { members }: Decisions,
    variation: number,
    path: Path,
  ): Generator<unknown> {
    switch (type) {
      case 'null':
        yield null;
        break;
      case 'boolean':
        yield* rotated([true, false], variation);
        break;
      case 'string':
        yield* textsFor(schema, variation);
        break;
      case 'array':
        yield* this.#arrays(schema, variation, path);
        break;
      case 'object':
        yield* this.#objects(schema, members, variation, path);
        break;
      default:
        // Half of the chosen numbers are small.
        yield* numbersFor(
          schema,
          type,
          this.#choose !== undefined && variation % 2 === 0 ? (variation / 2) % 16 : variation,
        );
    }
  }

  *#arrays(schema: Schema, variation: number, path: Path): Generator<unknown> {
    const { prefixLength, hasDistinctItems } = schema;
    const contained = schema.contained.flatMap(({ schema: item, min }) =>
      Array.from({ length: Math.min(min, MAX_ITEMS) }, () => item),
    );
    const minContaining = contained.length === 0 ? 0 : prefixLength + contained.length;
    const { min: minItems, max } = schema.sizes('Items');
    const min = Math.max(minItems, minContaining);
    if (min > MAX_ITEMS) return;
    const usual = this.#addsOptional(path) ? this.#usualLength(prefixLength, variation) : 0;
    const count = Math.min(max, Math.max(min, usual));
    const items: unknown[] = [];
    for (let tries = 0; items.length < count && tries < count + MAX_EQUAL_ITEMS; tries += 1) {
      const itemSchema = contained[items.length - prefixLength] ?? schema.item(items.length);
      const item =
        itemSchema === undefined
          ? `item ${tries + 1}`
          : this.value(itemSchema, variation + tries, path);
      if (item === undefined) break;
      const isEqual = (other: unknown) => isDeepStrictEqual(other, item);
      if (!hasDistinctItems || !items.some(isEqual)) items.push(item);
    }
    if (items.length >= min) yield items;
    if (items.length > min) yield items.slice(0, min);
  }

  #usualLength(prefixLength: number, variation: number): number {
    return this.#choose === undefined
      ? Math.max(prefixLength, 1 + (variation % 3))
      : variation % (prefixLength + 4);
  }

  *#objects(
    schema: Schema,
    decided: Decisions['members'],
    variation: number,
    path: Path,
  ): Generator<unknown> {
    const isNeeded = (name: string) => schema.required.has(name) || decided.has(name);
    const create = (addsOptional: boolean) =>
      this.#members(schema, decided, addsOptional, variation, path);
    const addsOptional = this.#addsOptional(path);
    const members = create(addsOptional);
    if (members === undefined) return;
    yield Object.fromEntries(members);
    if (!addsOptional) {
      const more = create(true);
      if (more !== undefined) yield Object.fromEntries(more);
      return;
    }
    // Some members may exclude each other.
    for (const [name] of members)
      if (!isNeeded(name)) yield Object.fromEntries(members.filter(([other]) => other !== name));
    yield Object.fromEntries(members.filter(([name]) => isNeeded(name)));
  }

  /** Returns `undefined` if a member that the object needs has no value. */
  #members(
    schema: Schema,
    decided: Decisions['members'],
    addsOptional: boolean,
    variation: number,
    path: Path,
  ): [string, unknown][] | undefined {
    const { required } = schema;
    const { min, max } = schema.sizes('Properties');
    const needed = new Set([...decided.keys(), ...required]);
    const members = new Map<string, unknown>();
    const add = (name: string) => {
      const member = schema.member(name);
      const value =
        member === undefined || decided.has(name)
          ? decided.get(name)
          : this.value(member, variation, path);
      if (value !== undefined) members.set(name, value);
    };
    for (const name of needed) {
      add(name);
      if (!members.has(name)) return undefined;
    }
    const isOpen = schema.otherMembers.some(isObject);
    const isFull = (usual: number) => members.size >= Math.min(max, Math.max(min, usual));
    for (const name of schema.names)
      if (!needed.has(name) && !isFull(addsOptional ? Infinity : 0) && this.#wants()) add(name);
    const usual = members.size + (addsOptional && isOpen && this.#wants() ? 1 : 0);
    for (const name of this.#otherNames(schema, variation)) {
      if (isFull(usual)) break;
      if (!members.has(name)) add(name);
    }
    const declared = [...schema.names].filter((name) => members.has(name));
    return [...new Set([...declared, ...members.keys()])].map((name) => [name, members.get(name)]);
  }

  /** Decides about an optional member. */
  #wants(): boolean {
    return this.#choose === undefined || this.#choose() % 3 > 0;
  }

  /** Yields names of members that the schema does not list. */
  *#otherNames(schema: Schema, variation: number): Generator<string> {
    const { name } = schema;
    for (const pattern of schema.namePatterns) yield* patternTexts(pattern, ANY_LENGTH);
    for (let count = 0; count < MAX_TRIES; count += 1) {
      const text =
        name === undefined ? `key${count + variation || ''}` : this.value(name, count + variation);
      if (typeof text === 'string') yield text;
    }
  }

  #addsOptional(path: Path): boolean {
    const isSmall = this.#budget.parts > this.#lastCompletePart;
    return this.#isComplete && isSmall && path.length <= MAX_COMPLETE_DEPTH;
  }
}

const ANY_LENGTH = { min: 0, max: Number.POSITIVE_INFINITY };

const isSameUnion = (one: Decided, other: Decided): boolean =>
  one.owner === other.owner && one.keyword === other.keyword && one.isOfBase === other.isOfBase;

/** The types of a schema. If it names none, those that other keywords restrict. */
function typesInOrder(schema: Schema, variation: number): TypeName[] {
  const { types, restrictedTypes } = schema;
  const isAny = types.length === ALL_TYPES.length;
  const anyTypes = restrictedTypes.length > 0 ? restrictedTypes : ALL_TYPES;
  const isNull = (type: TypeName) => Number(type === 'null');
  return rotated(
    isAny ? anyTypes : types.toSorted((one, other) => isNull(one) - isNull(other)),
    variation,
  );
}

const ALL_TYPES = ['object', 'string', 'number', 'boolean', 'array', 'null'] as const;

/**
 * Generates bodies of a response from the schema of its media type: JSON, text, JSON Lines and JSON
 * Text Sequences. For any other media type, generates one short text.
 */
export function* bodiesOf(
  schemas: Schemas,
  codecs: Codecs,
  type: string,
  media: MediaType,
): Generator<unknown> {
  const values = valuesOf(schemas, media.schema, 'response');
  const message = { format: media, contentType: type };
  const coder = isJsonLines(type) ? lines : isJsonSequence(type) ? records : undefined;
  if (coder !== undefined) {
    const write = (item: unknown) => coder.write(item, message);
    for (const value of values) yield [value].flat().map(write).join('');
  } else if (codecs.factsOf(media, type).unit === 'value') yield* values;
  else yield `a mock of ${essenceOf(type)}`;
}
