/** The assertions about values without members: texts, numbers, files, and constants. */

import { stringifyJson } from '../json/exact.ts';
import type { LimitKeyword } from '../source/keywords.ts';
import { type Budget, spend, UNLIMITED } from './budget.ts';
import { equalityKey } from './equality.ts';
import { Facts } from './facts.ts';
import type { Format, TypedFormat } from './formats.ts';
import { TYPE_BITS } from './json-types.ts';
import type { Assertion, Run, SchemaSet } from './model.ts';
import { type Exact, INTEGER_RANGES, multipleOf, SAFE_RANGE } from './numbers.ts';

/** The maximum number of values of an enum in a message. */
const MAX_VALUES = 50;

/** Returns the assertions of `enum` and `const`, which apply to values of all types. */
export const constantRules = ({ facts }: SchemaSet): Assertion<unknown>[] =>
  facts.constantLists.map(oneOfValues);

function oneOfValues(values: readonly unknown[]): Assertion<unknown> {
  const keys = new Set(values.map((value) => equalityKey(value, UNLIMITED)));
  const message =
    values.length === 0
      ? 'must not be present: its enum is empty'
      : `must be equal to one of the allowed values: ${listOf(values)}`;
  const params = { allowedValues: values };
  return (value, run) => {
    if (!keys.has(equalityKey(value, run))) run.report('enum', message, params);
  };
}

/** Lists values in a message. */
export function listOf(values: readonly unknown[]): string {
  const texts = values
    .slice(0, MAX_VALUES)
    .map((value) => (typeof value === 'string' ? value : stringifyJson(value)));
  return texts.join(', ') + (values.length > MAX_VALUES ? ', …' : '');
}

/** The keywords about numbers (JSON Schema 2020-12, Validation §6.2). */
const BOUNDS: readonly (readonly [
  keyword: LimitKeyword,
  relation: string,
  testOf: (limit: Exact) => (value: Exact, budget: Budget) => boolean,
])[] = [
  ['minimum', '>=', (limit) => (value) => value >= limit],
  ['maximum', '<=', (limit) => (value) => value <= limit],
  ['exclusiveMinimum', '>', (limit) => (value) => value > limit],
  ['exclusiveMaximum', '<', (limit) => (value) => value < limit],
  ['multipleOf', 'multiple of', multipleOf],
];

export function numberRules(set: SchemaSet): Assertion<Exact>[] {
  const rules: Assertion<Exact>[] = [];
  const range = integerRange(set);
  if (range !== undefined) rules.push(range);
  for (const [keyword, relation, testOf] of BOUNDS) {
    for (const limit of set.facts.limits(keyword)) {
      const holds = testOf(limit);
      const message = `must be ${relation} ${limit}`;
      const params = { limit };
      rules.push((value, run) => {
        if (!holds(value, run)) run.report(keyword, message, params);
      });
    }
  }
  return rules;
}

/**
 * Returns the assertion of the integer formats. Without a format, a request may contain only
 * integers that a JavaScript number represents exactly, and other values any int64.
 */
function integerRange(set: SchemaSet): Assertion<Exact> | undefined {
  const format = integerFormat(set);
  if (format === undefined && !isInteger(set)) return undefined;
  const { context } = set;
  const isRequest = context.view === 'request';
  const safeRange = isRequest ? SAFE_RANGE : INTEGER_RANGES.int64;
  const [min, max] = (format === undefined ? safeRange : INTEGER_RANGES[format]) ?? SAFE_RANGE;
  const keyword = format === undefined ? 'type' : 'format';
  const message = `must be an integer from ${min} to ${max}`;
  const params = { format, minimum: min, maximum: max };
  return (value, run) => {
    if (typeof value === 'number' && !Number.isInteger(value)) {
      run.report('type', 'must be integer', { type: ['integer'] });
      return;
    }
    // An unsafe int64 in a request is parsed as a bigint, so this number is not an int64.
    const isInexact = isRequest && typeof value === 'number' && !Number.isSafeInteger(value);
    if (isInexact || value < min || value > max) run.report(keyword, message, params);
  };
}

const isInteger = ({ types }: SchemaSet): boolean =>
  (types & TYPE_BITS.number) === TYPE_BITS.integer;

/** Returns the integer format of a value: also int64 if a schema has values beyond ±(2^53−1). */
function integerFormat(set: SchemaSet): 'int32' | 'int64' | undefined {
  const { formats, isWide } = set.facts;
  if (formats.includes('int32')) return 'int32';
  return formats.includes('int64') || (isInteger(set) && isWide) ? 'int64' : undefined;
}

/** True if a `bigint` of a request becomes a number: the schema has the type `number`. */
export const readsDoubles = ({ facts, context }: SchemaSet): boolean =>
  context.view === 'request' &&
  ((facts.declaredTypes ?? 0) & TYPE_BITS.number) === TYPE_BITS.number &&
  !facts.isWide;

export function textRules({ facts, context }: SchemaSet): Assertion<string>[] {
  const rules = facts.patterns.map((pattern): Assertion<string> => {
    const matches = context.tree.patternTest(pattern);
    const message = `must match pattern "${pattern}"`;
    return (text, run) => {
      if (!matches(text, run)) run.report('pattern', message, { pattern });
    };
  });
  const { min, max } = facts.sizes('Length');
  if (min > 0 || max < Number.POSITIVE_INFINITY) rules.unshift(lengthRule(min, max));
  for (const name of facts.formats) {
    const format = context.tree.formatOf(name);
    if (format?.type !== 'string') continue;
    const message = `must match format "${name}"`;
    rules.push((text, run) => {
      if (!format.test(text, run)) run.report('format', message, { format: name });
    });
  }
  return rules;
}

function lengthRule(min: number, max: number): Assertion<string> {
  return (text, run) => {
    // The number of code points is between half the number of code units and this number.
    const isShort = text.length < min || (text.length < 2 * min && codePoints(text, run) < min);
    if (isShort) {
      run.report('minLength', `must NOT have fewer than ${min} characters`, { limit: min });
    } else if (text.length > max && (text.length > 2 * max || codePoints(text, run) > max)) {
      run.report('maxLength', `must NOT have more than ${max} characters`, { limit: max });
    }
  };
}

function codePoints(text: string, run: Run): number {
  spend(run, text.length / 4);
  let length = text.length;
  for (let index = 1; index < text.length; index += 1) {
    const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) {
      length -= 1;
      index += 1;
    }
  }
  return length;
}

/** Returns the assertions about the number of items or properties. */
export function countRules<Value>(
  { facts }: SchemaSet,
  of: 'Items' | 'Properties',
  countOf: (value: Value) => number,
): Assertion<Value>[] {
  const { min, max } = facts.sizes(of);
  if (min === 0 && max === Number.POSITIVE_INFINITY) return [];
  const noun = of.toLowerCase();
  return [
    (value, run) => {
      const count = countOf(value);
      if (count < min)
        run.report(`min${of}`, `must NOT have fewer than ${min} ${noun}`, { limit: min });
      if (count > max)
        run.report(`max${of}`, `must NOT have more than ${max} ${noun}`, { limit: max });
    },
  ];
}

/** Returns the assertion about files: strings of forms that are bytes. */
export function fileRule(set: SchemaSet): Assertion<Blob | NodeJS.ArrayBufferView> {
  const { min, max } = set.facts.sizes('Length');
  const allowsText = (set.types & TYPE_BITS.string) !== 0;
  return (file, run) => {
    const size = file instanceof Blob ? file.size : file.byteLength;
    if (!allowsText) run.report('type', 'must not be a file', { type: [] });
    else if (size < min)
      run.report('minLength', `must NOT have fewer than ${min} bytes`, { limit: min });
    else if (size > max)
      run.report('maxLength', `must NOT have more than ${max} bytes`, { limit: max });
  };
}

/** The facts of all schemas that may describe a value of the set. */
const possibleFacts = ({ schemas, context }: SchemaSet): Facts =>
  new Facts([...schemas.keys()].flatMap((schema) => context.tree.possible(schema)));

/** True if values of the set are dates without a time. */
export function isDay(set: SchemaSet): boolean {
  const { formats } = possibleFacts(set);
  return formats.includes('date') && !formats.includes('date-time');
}

/**
 * Lists the formats whose types the values of a set have. The texts of an enum or a constant have
 * none. A reply is converted before alternatives are selected, so they count as well.
 */
export function typedFormatsOf(set: SchemaSet): readonly Typed[] {
  const { tree, view } = set.context;
  if (!tree.hasTypedFormats) return NONE;
  const { constantLists, formats } = view === 'response' ? possibleFacts(set) : set.facts;
  if (constantLists.length > 0) return NONE;
  return formats.flatMap((name) => {
    const { typed, test } = tree.formatOf(name) ?? {};
    return typed && test ? [{ typed, test }] : [];
  });
}

/** A format whose values have a type, and the test of their texts. */
interface Typed {
  readonly typed: TypedFormat;
  readonly test: Format['test'];
}

const NONE: readonly Typed[] = [];

/** Returns the text of a value that is not one, in the first format that the text has. */
export function textIn(formats: readonly Typed[], value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return undefined;
  for (const { typed, test } of formats) {
    try {
      const text = String(typed.stringify(value));
      if (formats.length === 1 || test(text, UNLIMITED)) return text;
    } catch {
      // The value has another format.
    }
  }
  return undefined;
}
