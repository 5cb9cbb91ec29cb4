import type { CodeKeywordDefinition, FuncKeywordDefinition, Vocabulary } from 'ajv';
import { asArray, asObject, type Json } from 'openapi-document';
import { keyOf } from './equality.ts';

type KeywordValidator = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

interface Mismatch {
  readonly keyword: string;
  readonly message: string;
  readonly params?: Json;
}

/** Returns the differences between a value and a keyword; none if the value is valid. */
type Test = (value: unknown) => readonly Mismatch[];

const NONE: readonly Mismatch[] = [];

/** An integer of any size, or a double. JavaScript compares the two types exactly. */
type Exact = number | bigint;

/** The keywords about numbers (JSON Schema 2020-12, Validation §6.2). */
export const NUMBER_ASSERTIONS: Readonly<
  Record<string, readonly [string, (value: Exact, bound: Exact) => boolean]>
> = {
  minimum: ['>=', (value, bound) => value >= bound],
  maximum: ['<=', (value, bound) => value <= bound],
  exclusiveMinimum: ['>', (value, bound) => value > bound],
  exclusiveMaximum: ['<', (value, bound) => value < bound],
  multipleOf: ['multiple of', isMultipleOf],
};

/**
 * Keywords of Ajv that replace standard ones. `numeric` checks the type, the format and the bounds
 * of numbers, with `bigint` and decimal fractions. `enumValues`, `constValues` and `distinctItems`
 * compare numbers exactly, in linear time. `file` validates files. `tracked` makes
 * `unevaluatedProperties` exact.
 */
export const keywords = (isRequest: boolean): Vocabulary => [
  assertion('numeric', (schema: Json) => numeric(schema, isRequest)),
  assertion('enumValues', oneOfValues),
  assertion('constValues', oneOfValues),
  assertion('distinctItems', distinctItems),
  assertion('file', file),
  tracked,
];

/**
 * Creates the variable for the evaluated members before the other keywords. Ajv itself creates it
 * in the branch of the first valid alternative: without this branch, it lacks the members evaluated
 * before, and in a loop it keeps those of the previous item.
 */
const tracked: CodeKeywordDefinition = {
  keyword: 'tracked',
  before: '$ref',
  code({ gen, it }) {
    // Without the prototype: a member `constructor` is not evaluated.
    it.props = gen.var('props', gen.object(['__proto__', null]));
  },
};

const assertion = <T>(keyword: string, testFor: (schema: T) => Test): FuncKeywordDefinition => ({
  keyword,
  errors: true,
  compile(schema: T) {
    const test = testFor(schema);
    const validate: KeywordValidator = (value) => {
      const mismatches = test(value);
      if (mismatches.length > 0)
        validate.errors = mismatches.map((mismatch) => ({ params: {}, ...mismatch }));
      return mismatches.length === 0;
    };
    return validate;
  },
});

/**
 * Returns the range of integers. Without a format, a request may contain only integers that a
 * `number` represents exactly, and a reply may contain any int64.
 */
function rangeOf(format: unknown, isRequest: boolean): readonly [min: Exact, max: Exact] {
  if (format === 'int32') return [-(2 ** 31), 2 ** 31 - 1];
  if (format === undefined && isRequest) return [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  return [-(2n ** 63n), 2n ** 63n - 1n];
}

function numeric({ type, format, ...bounds }: Json, isRequest: boolean): Test {
  const types = asArray(type);
  const requiresInteger =
    format !== undefined || (types.includes('integer') && !types.includes('number'));
  const [min, max] = rangeOf(format, isRequest);
  const outOfRange = [
    { keyword: format ? 'format' : 'type', message: `must be an integer from ${min} to ${max}` },
  ];
  const typeNames = types.length > 0 ? types.join(',') : 'integer';
  const wrongType = [{ keyword: 'type', message: `must be ${typeNames}` }];
  const assertions = Object.entries(bounds).flatMap(([keyword, bound]) => {
    const [relation, holds] = NUMBER_ASSERTIONS[keyword] ?? [];
    if (holds === undefined || (typeof bound !== 'number' && typeof bound !== 'bigint')) return [];
    const mismatch = { keyword, message: `must be ${relation} ${bound}` };
    return [(value: Exact) => (holds(value, bound) ? NONE : [mismatch])];
  });

  return (value) => {
    if (typeof value === 'number') {
      if (requiresInteger ? !Number.isInteger(value) : types.length > 0 && !Number.isFinite(value))
        return wrongType;
      // Unsafe int64 integers of requests are parsed as bigint, so this number is not an int64.
      if (requiresInteger && isRequest && !Number.isSafeInteger(value)) return outOfRange;
    } else if (typeof value !== 'bigint') {
      return types.length === 0 || types.includes(typeOf(value)) ? NONE : wrongType;
    }
    if (requiresInteger && (value < min || value > max)) return outOfRange;
    return assertions.flatMap((assertion) => assertion(value));
  };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const isInteger = (value: Exact): boolean => typeof value === 'bigint' || Number.isInteger(value);

/** Exact for an integer divisor. Otherwise ignores rounding errors: 19.99 is a multiple of 0.01. */
function isMultipleOf(value: Exact, divisor: Exact): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor))
    return Number(value) % Number(divisor) === 0;
  if (isInteger(divisor)) return isInteger(value) && BigInt(value) % BigInt(divisor) === 0n;
  const quotient = Number(value) / Number(divisor);
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 2 ** -51;
}

function oneOfValues(values: readonly unknown[]): Test {
  const mismatches = [
    {
      keyword: 'enum',
      message:
        values.length === 0
          ? 'must not be present: its enum is empty'
          : 'must be equal to one of the allowed values',
      params: { allowedValues: values },
    },
  ];
  const allowed = new Set(values.map(keyOf));
  return (value) => (allowed.has(keyOf(value)) ? NONE : mismatches);
}

/** Takes linear time, unlike `uniqueItems` of Ajv. */
function distinctItems(): Test {
  return (value) => {
    if (!Array.isArray(value)) return NONE;
    const positions = new Map<unknown, number>();
    for (const [index, item] of value.entries()) {
      const key = keyOf(item);
      const first = positions.get(key);
      if (first !== undefined) {
        const items = `items ## ${first} and ${index}`;
        const message = `must NOT have duplicate items (${items} are identical)`;
        return [{ keyword: 'uniqueItems', message }];
      }
      positions.set(key, index);
    }
    return NONE;
  };
}

/** Tests the length of a file in bytes; with `false`, rejects files. */
function file(bounds: Json | false): Test {
  const { minLength, maxLength } = asObject(bounds);
  return (value) => {
    const isFile = value instanceof Blob || value instanceof Uint8Array;
    if (bounds === false)
      return isFile ? [{ keyword: 'type', message: 'must not be a file' }] : NONE;
    if (!isFile) return [{ keyword: 'type', message: 'must be a file' }];
    const size = value instanceof Blob ? value.size : value.length;
    if (size < Number(minLength ?? 0))
      return [{ keyword: 'minLength', message: `must NOT have fewer than ${minLength} bytes` }];
    if (size > Number(maxLength ?? Infinity))
      return [{ keyword: 'maxLength', message: `must NOT have more than ${maxLength} bytes` }];
    return NONE;
  };
}
