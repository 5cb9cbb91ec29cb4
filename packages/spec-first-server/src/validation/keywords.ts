import { isDeepStrictEqual } from 'node:util';
import type { FuncKeywordDefinition, ValidateFunction, Vocabulary } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asArray, type Json } from 'openapi-document';

type KeywordValidator = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

/** What of a keyword a value breaks. */
type Test = (
  ...input: Parameters<ValidateFunction>
) => readonly { readonly keyword: string; readonly message: string }[];

const NONE: ReturnType<Test> = [];

/** An integer of any size, or a double. JavaScript compares the two types exactly. */
type Exact = number | bigint;

/** The keywords about numbers (JSON Schema 2020-12, Validation §6.2). */
export const ASSERTIONS: Readonly<Record<string, readonly [string, (value: Exact, bound: Exact) => boolean]>> = {
  minimum: ['>=', (value, bound) => value >= bound],
  maximum: ['<=', (value, bound) => value <= bound],
  exclusiveMinimum: ['>', (value, bound) => value > bound],
  exclusiveMaximum: ['<', (value, bound) => value < bound],
  multipleOf: ['multiple of', isMultipleOf],
};

export interface Pass {
  readonly isRequest: boolean;
  isFilling: boolean;
}

/**
 * Keywords of Ajv that the rewriter puts in place of standard ones: `numeric` for `type` and formats of numbers and for
 * `ASSERTIONS`, which knows `bigint` and decimal fractions; `enumValues` and `constValues`, which compare numbers exactly;
 * `x-json-schema` for schemas as values; `file` for texts that may be files; `completed` for members that are filled in or
 * removed.
 *
 * @param pass may change between validations.
 */
export const keywords = (pass: Pass): Vocabulary => [
  assertion('numeric', (schema: Json) => numeric(schema, pass.isRequest)),
  assertion('enumValues', oneOfValues),
  assertion('constValues', oneOfValues),
  assertion('x-json-schema', jsonSchema),
  assertion('file', file),
  {
    keyword: 'completed',
    type: 'object',
    before: 'properties',
    modifying: true,
    compile: (completed: Completed) => (object: Record<string, unknown>) => {
      for (const [name, value] of pass.isFilling ? completed : []) {
        if (value === undefined) delete object[name];
        else if (!Object.hasOwn(object, name) || object[name] === undefined) object[name] = structuredClone(value);
      }
      return true;
    },
  },
];

/** Members of an object with what they are by default. One without is removed. */
export type Completed = [name: string, value: unknown][];

const assertion = <T>(keyword: string, testFor: (schema: T) => Test): FuncKeywordDefinition => ({
  keyword,
  errors: true,
  compile(schema: T) {
    const test = testFor(schema);
    const validate: KeywordValidator = (value, location) => {
      const broken = test(value, location);
      if (broken.length > 0) validate.errors = broken.map((error) => ({ ...error, params: {} }));
      return broken.length === 0;
    };
    return validate;
  },
});

/** The integers of a format. Without a format, one of a request is exact as a `number`; a reply may hold any of int64. */
function rangeOf(format: unknown, isRequest: boolean): readonly [min: Exact, max: Exact] {
  if (format === 'int32') return [-(2 ** 31), 2 ** 31 - 1];
  if (format === undefined && isRequest) return [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  return [-(2n ** 63n), 2n ** 63n - 1n];
}

/** @param schema with `isExact`, the bigints of a request stay bigints where any number is allowed. */
function numeric({ type, format, isExact, ...bounds }: Json, isRequest: boolean): Test {
  const types = asArray(type);
  const isInteger = format !== undefined || (types.includes('integer') && !types.includes('number'));
  const isRounded = isRequest && !isInteger && !isExact && types.length > 0;
  const [min, max] = rangeOf(format, isRequest);
  const outside = [{ keyword: format ? 'format' : 'type', message: `must be an integer from ${min} to ${max}` }];
  const wrongType = [{ keyword: 'type', message: `must be ${types.length > 0 ? types.join(',') : 'integer'}` }];
  const assertions = Object.entries(bounds).flatMap(([key, bound]) => {
    const [relation, holds] = ASSERTIONS[key] ?? [];
    if (holds === undefined || (typeof bound !== 'number' && typeof bound !== 'bigint')) return [];
    const broken = { keyword: key, message: `must be ${relation} ${bound}` };
    return [(value: Exact) => (holds(value, bound) ? NONE : [broken])];
  });

  return (value, location) => {
    if (typeof value === 'number') {
      if (isInteger ? !Number.isInteger(value) : types.length > 0 && !Number.isFinite(value)) return wrongType;
      // An integer of a request beyond 2^53 is a bigint: such a double was another number, which no double holds.
      if (isInteger && isRequest && !Number.isSafeInteger(value)) return outside;
    } else if (typeof value !== 'bigint') {
      return types.length === 0 || types.includes(typeOf(value)) ? NONE : wrongType;
    }
    if (isInteger && (value < min || value > max)) return outside;
    const broken = assertions.flatMap((assertion) => assertion(value));
    if (isRounded && typeof value === 'bigint' && location !== undefined && broken.length === 0) {
      location.parentData[location.parentDataProperty] = Number(value);
    }
    return broken;
  };
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const isInteger = (value: Exact): boolean => typeof value === 'bigint' || Number.isInteger(value);

/** Whether a number is a multiple of another one in decimals: 19.99 is one of 0.01, although their doubles are not. */
function isMultipleOf(value: Exact, divisor: Exact): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return Number(value) % Number(divisor) === 0;
  if (isInteger(value) && isInteger(divisor)) return BigInt(value) % BigInt(divisor) === 0n;
  const quotient = Number(value) / Number(divisor);
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 2 ** -51;
}

/** A number equals the bigint of the same value. */
function oneOfValues(values: readonly unknown[]): Test {
  const allowed = `must be equal to one of the allowed values: ${values.join(', ')}`;
  const message = values.length === 0 ? 'must not be present: its enum is empty' : allowed;
  const broken = [{ keyword: 'enum', message }];
  const exact = (value: unknown) => (typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value);
  const known = values.map(exact);
  return (value) => {
    const isKnown =
      known.includes(exact(value)) ||
      (typeof value === 'object' && known.some((each) => isDeepStrictEqual(each, value)));
    return isKnown ? NONE : broken;
  };
}

/** A schema of JSON Schema 2020-12: what a reference to the schema of schemas asks for. */
function jsonSchema(): Test {
  const ajv = new Ajv2020({ strict: false, logger: false });
  const validate = ajv.getSchema('https://json-schema.org/draft/2020-12/schema');
  return (value) =>
    validate?.(value)
      ? NONE
      : [{ keyword: '$ref', message: `must be a JSON Schema: ${ajv.errorsText(validate?.errors, { dataVar: '' })}` }];
}

const isFile = (value: unknown): value is Blob | Uint8Array => value instanceof Blob || value instanceof Uint8Array;

/** A file of a length in bytes; or with `false`, anything but a file. */
function file(bounds: Json | false): Test {
  if (bounds === false) return (value) => (isFile(value) ? [{ keyword: 'type', message: 'must not be a file' }] : NONE);
  const { minLength, maxLength } = bounds;
  const few = { keyword: 'minLength', message: `must NOT have fewer than ${minLength} bytes` };
  const many = { keyword: 'maxLength', message: `must NOT have more than ${maxLength} bytes` };
  return (value) => {
    if (!isFile(value)) return [{ keyword: 'type', message: 'must be a file' }];
    const size = value instanceof Blob ? value.size : value.length;
    if (size < Number(minLength ?? 0)) return [few];
    return size > Number(maxLength ?? Infinity) ? [many] : NONE;
  };
}
