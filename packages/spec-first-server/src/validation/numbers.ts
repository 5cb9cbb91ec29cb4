import type { ValidateFunction, Vocabulary } from 'ajv';
import { Inexact } from '../json/exact.ts';
import type { KeywordValidator } from './once.ts';

/** Numbers as `parseJson` returns them. JavaScript compares `number` and `bigint` exactly. */
type Exact = number | bigint;

/** Where a value stands, as Ajv tells a keyword. */
type Place = NonNullable<Parameters<ValidateFunction>[1]>;

/** The assertions of a schema about numbers (JSON Schema 2020-12, Validation §6.1.1, §6.2). */
export interface NumericSchema {
  readonly type?: readonly unknown[];
  readonly format?: 'int32' | 'int64';
  readonly [bound: string]: unknown;
}

interface Assertion {
  readonly message: string;
  readonly holds: (value: Exact) => boolean;
}

const INT64: Assertion = {
  message: 'must be an integer from -9223372036854775808 to 9223372036854775807',
  holds: (value) => value >= -(2 ** 63) && value < 2 ** 63,
};
const INT32: Assertion = {
  message: 'must be an integer from -2147483648 to 2147483647',
  holds: (value) => value >= -(2 ** 31) && value < 2 ** 31,
};

const BOUNDS: Readonly<Record<string, (bound: number) => Assertion>> = {
  minimum: (bound) => ({ message: `must be >= ${bound}`, holds: (value) => value >= bound }),
  maximum: (bound) => ({ message: `must be <= ${bound}`, holds: (value) => value <= bound }),
  exclusiveMinimum: (bound) => ({ message: `must be > ${bound}`, holds: (value) => value > bound }),
  exclusiveMaximum: (bound) => ({ message: `must be < ${bound}`, holds: (value) => value < bound }),
  multipleOf: (divisor) => ({
    message: `must be multiple of ${divisor}`,
    holds: (value) => isMultipleOf(value, divisor),
  }),
};

export const NUMERIC_KEYWORDS: ReadonlySet<string> = new Set(Object.keys(BOUNDS));

/**
 * The bigints that were validated as `number`. Handlers get them as doubles. A place that is also validated as `integer`
 * keeps its bigint.
 */
export class Doubles {
  readonly #places = new Map<Record<string, unknown>, Map<string | number, boolean>>();

  note({ parentData, parentDataProperty }: Place, isInteger: boolean): void {
    const places = this.#places.get(parentData) ?? new Map<string | number, boolean>();
    places.set(parentDataProperty, isInteger || places.get(parentDataProperty) === true);
    this.#places.set(parentData, places);
  }

  /** Converts the noted values where they stand, and forgets them. */
  apply(): void {
    for (const [holder, places] of this.#places) {
      for (const [key, isInteger] of places) if (!isInteger) holder[key] = Number(holder[key]);
    }
    this.forget();
  }

  forget(): void {
    this.#places.clear();
  }
}

/**
 * Keywords for Ajv that know `bigint` and decimal fractions. The rewriter puts them in place of the standard keywords.
 * - `numeric`: `type` if it names numbers, bounds, `multipleOf`, `int32`, `int64`;
 * - `constant` and `values`: `const` and `enum` if they hold numbers;
 * - `distinct`: `uniqueItems`, in linear time.
 *
 * @param doubles notes the values to convert; `undefined` for replies.
 */
export const numericKeywords = (doubles?: Doubles): Vocabulary => [
  {
    keyword: 'numeric',
    errors: true,
    compile(schema: NumericSchema) {
      const violationsOf = numericValidator(schema);
      const { type = [] } = schema;
      const [isInteger, isNumber] = [type.includes('integer'), type.includes('number')];
      return withMessages((value, place) => {
        if (typeof value === 'bigint' && place !== undefined && (isInteger || isNumber))
          doubles?.note(place, isInteger);
        return violationsOf(value);
      });
    },
  },
  {
    keyword: 'constant',
    errors: true,
    compile(value: unknown) {
      const key = keyOf(value);
      const wrong = ['must be equal to constant'];
      return withMessages((data) => (keyOf(data) === key ? NONE : wrong));
    },
  },
  {
    keyword: 'values',
    errors: true,
    compile(values: readonly unknown[]) {
      const keys = new Set(values.map(keyOf));
      const wrong = [`must be equal to one of the allowed values: ${values.join(', ')}`];
      return withMessages((data) => (keys.has(keyOf(data)) ? NONE : wrong));
    },
  },
  {
    keyword: 'distinct',
    type: 'array',
    errors: true,
    compile: () =>
      withMessages((items) => {
        const seen = new Map<string, number>();
        for (const [index, item] of (items as readonly unknown[]).entries()) {
          const key = keyOf(item);
          const first = seen.get(key);
          if (first !== undefined)
            return [`must NOT have duplicate items (items ## ${first} and ${index} are identical)`];
          seen.set(key, index);
        }
        return NONE;
      }),
  },
];

const NONE: readonly string[] = [];

type Messages = (value: unknown, place?: Place) => readonly string[];

function withMessages(messagesOf: Messages): KeywordValidator {
  const validate: KeywordValidator = (value, place) => {
    const messages = messagesOf(value, place);
    if (messages.length === 0) return true;
    validate.errors = messages.map((message) => ({ message, params: {} }));
    return false;
  };
  return validate;
}

function numericValidator({ type = [], format, ...bounds }: NumericSchema): (value: unknown) => readonly string[] {
  const isInteger = (type.includes('integer') && !type.includes('number')) || format !== undefined;
  const assertions = Object.entries(bounds).flatMap(([key, bound]) => BOUNDS[key]?.(Number(bound)) ?? []);
  const range = format === 'int32' ? INT32 : INT64;
  if (isInteger) assertions.unshift(range);
  const wrongType = [`must be ${type.join(',')}`];
  const notInteger = type.length === 0 ? ['must be integer'] : wrongType;

  return (value) => {
    if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof Inexact)) {
      return type.length === 0 || type.includes(typeOf(value)) ? NONE : wrongType;
    }
    if (value instanceof Inexact && isInteger) return [range.message];
    const exact = value instanceof Inexact ? value.double : value;
    if (typeof exact === 'number') {
      if (isInteger && !Number.isInteger(exact)) return notInteger;
      if (type.length > 0 && !Number.isFinite(exact)) return wrongType;
    }
    let found: string[] | undefined;
    for (const { holds, message } of assertions) {
      if (holds(exact)) continue;
      found ??= [];
      found.push(message);
    }
    return found ?? NONE;
  };
}

/** A value's type in JSON Schema, numbers aside. */
const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** A text that two JSON values share exactly if they are equal (JSON Schema 2020-12 §4.2.2). */
function keyOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Inexact) return value.text;
  if (Array.isArray(value)) return `[${value.map(keyOf)}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${keyOf(item)}`);
  return `{${members.sort()}}`;
}

/** A decimal number as an integer and a power of ten, as ECMAScript writes it (ECMA-262 §6.1.6.1.20). */
function decimal(value: Exact): { readonly digits: bigint; readonly exponent: number } {
  if (typeof value === 'bigint') return { digits: value, exponent: 0 };
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * Whether a number is a multiple of another one in decimals (JSON Schema 2020-12, Validation §6.2.1). Doubles cannot
 * tell: 19.99 / 0.01 is no integer.
 *
 * @param divisor above 0.
 */
function isMultipleOf(value: Exact, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return Number(value) % divisor === 0;
  if (typeof value === 'number' && !Number.isFinite(value)) return false;
  const [a, b] = [decimal(value), decimal(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent: own }: ReturnType<typeof decimal>) => digits * 10n ** BigInt(own - exponent);
  return scaled(a) % scaled(b) === 0n;
}
