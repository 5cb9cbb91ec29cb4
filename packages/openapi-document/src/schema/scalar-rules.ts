/** The assertions about values without members: texts, numbers, files, and constants. */

import { stringifyJson } from '../json/exact.ts';
import { asArray, isObject, type Json } from '../source/document.ts';
import { spend } from './budget.ts';
import { equalityKey } from './equality.ts';
import type { TypedFormat } from './formats.ts';
import { TYPE_BITS, typeBits } from './json-types.ts';
import type { Assertion, Run, SchemaSet } from './model.ts';
import { type Exact, INTEGER_RANGES, isExact, multipleOf, SAFE_RANGE } from './numbers.ts';

/** The maximum number of values of an enum in a message. */
const MAX_VALUES = 50;

/** The steps that preparing an assertion may take: the document is trusted. */
const UNLIMITED = { steps: Number.POSITIVE_INFINITY };

/** Returns the assertions of `enum` and `const`, which apply to values of all types. */
export function constantRules({ schemas }: SchemaSet): Assertion<unknown>[] {
  return [...schemas.keys()].flatMap((schema) => {
    const lists = [schema.enum, Object.hasOwn(schema, 'const') ? [schema.const] : undefined];
    return lists.flatMap((values) => (Array.isArray(values) ? [oneOfValues(values)] : []));
  });
}

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
const BOUNDS: Readonly<
  Record<string, readonly [string, (limit: Exact) => (value: Exact) => boolean]>
> = {
  minimum: ['>=', (limit) => (value) => value >= limit],
  maximum: ['<=', (limit) => (value) => value <= limit],
  exclusiveMinimum: ['>', (limit) => (value) => value > limit],
  exclusiveMaximum: ['<', (limit) => (value) => value < limit],
  multipleOf: ['multiple of', multipleOf],
};

export function numberRules(set: SchemaSet): Assertion<Exact>[] {
  const rules: Assertion<Exact>[] = [];
  const range = integerRange(set);
  if (range !== undefined) rules.push(range);
  for (const schema of set.schemas.keys()) {
    for (const [keyword, [relation, testOf]] of Object.entries(BOUNDS)) {
      const limit = schema[keyword];
      if (!isExact(limit)) continue;
      const holds = testOf(limit);
      const message = `must be ${relation} ${limit}`;
      const params = { limit };
      rules.push((value, run) => {
        if (!holds(value)) run.report(keyword, message, params);
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
  const schemas = [...set.schemas.keys()];
  const has = (name: string) => schemas.some(({ format }) => format === name);
  if (has('int32')) return 'int32';
  return has('int64') || (isInteger(set) && schemas.some(hasWideValue)) ? 'int64' : undefined;
}

const VALUE_KEYWORDS = [
  ...['enum', 'const', 'default', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
];

const hasWideValue = (schema: Json): boolean =>
  VALUE_KEYWORDS.some((key) => [schema[key]].flat().some((value) => typeof value === 'bigint'));

/** True if a schema has `format: int64` or a value beyond ±(2^53−1). */
export const isWide = (schema: Json): boolean => schema.format === 'int64' || hasWideValue(schema);

/** True if a `bigint` of a request becomes a number: the schema has the type `number`. */
export function readsDoubles({ schemas, context }: SchemaSet): boolean {
  if (context.view !== 'request') return false;
  const names = [...schemas.keys()].flatMap(({ type }) => type ?? []);
  if (!names.includes('number') || names.includes('integer')) return false;
  return !schemas.keys().some(isWide);
}

/** The limits of the length of texts, and of files in bytes. */
export function lengthLimits({ schemas }: SchemaSet): {
  readonly min: number;
  readonly max: number;
} {
  let min = 0;
  let max = Number.POSITIVE_INFINITY;
  for (const { minLength, maxLength } of schemas.keys()) {
    if (typeof minLength === 'number') min = Math.max(min, minLength);
    if (typeof maxLength === 'number') max = Math.min(max, maxLength);
  }
  return { min, max };
}

export function textRules(set: SchemaSet): Assertion<string>[] {
  const { context, schemas } = set;
  const rules: Assertion<string>[] = [];
  const { min, max } = lengthLimits(set);
  if (min > 0 || max < Number.POSITIVE_INFINITY) rules.push(lengthRule(min, max));
  for (const { pattern, format } of schemas.keys()) {
    if (typeof pattern === 'string') {
      const matches = context.tree.patternTest(pattern);
      const message = `must match pattern "${pattern}"`;
      rules.push((text, run) => {
        if (!matches(text, run)) run.report('pattern', message, { pattern });
      });
    }
    const hasFormat = typeof format === 'string' ? context.formatTest(format) : undefined;
    if (hasFormat === undefined) continue;
    const message = `must match format "${format}"`;
    rules.push((text, run) => {
      if (!hasFormat(text, run)) run.report('format', message, { format });
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

/** Returns the assertion about files: strings of forms that are bytes. */
export function fileRule(set: SchemaSet): Assertion<Blob | NodeJS.ArrayBufferView> {
  const { min, max } = lengthLimits(set);
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

/** Returns the types that a schema allows by `type`, as bits. */
export function declaredTypes(schema: Json): number | undefined {
  return schema.type === undefined ? undefined : typeBits([schema.type].flat());
}

/** True if values of the set are dates without a time. */
export function isDay({ schemas, context }: SchemaSet): boolean {
  const possible = [...schemas.keys()].flatMap((schema) => context.tree.possible(schema));
  const formats = possible.map(({ format }) => format);
  return formats.includes('date') && !formats.includes('date-time');
}

/**
 * Returns the format whose type the values of a set have. The texts of an enum or a constant have
 * none. A reply is converted before alternatives are selected, so they count as well.
 */
export function typedFormatOf({ schemas, context }: SchemaSet): TypedFormat | undefined {
  const { typedFormat, tree, view } = context;
  if (typedFormat === undefined) return undefined;
  const parts = [...schemas.keys()];
  const possible = view === 'response' ? parts.flatMap((part) => tree.possible(part)) : parts;
  if (possible.some((part) => part.enum !== undefined || Object.hasOwn(part, 'const')))
    return undefined;
  return possible
    .values()
    .map(({ format }) => (typeof format === 'string' ? typedFormat(format) : undefined))
    .find((format) => format !== undefined);
}

export const asStrings = (list: unknown): string[] => asArray(list).map(String);

export const entriesOf = (value: unknown): [string, unknown][] =>
  isObject(value) ? Object.entries(value) : [];
