import type { Vocabulary } from 'ajv';
import { asArray, Inexact, type Json } from 'openapi-document';
import type { KeywordInput, KeywordValidator } from './once.ts';

/** An integer of any size, or a double. JavaScript compares the two types exactly. */
type Exact = number | bigint;
type Assertion = readonly [relation: string, holds: (value: Exact, bound: Exact) => boolean];

/** The keywords about numbers (JSON Schema 2020-12, Validation §6.2). */
export const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map<string, Assertion>([
  ['minimum', ['>=', (value, bound) => value >= bound]],
  ['maximum', ['<=', (value, bound) => value <= bound]],
  ['exclusiveMinimum', ['>', (value, bound) => value > bound]],
  ['exclusiveMaximum', ['<', (value, bound) => value < bound]],
  ['multipleOf', ['multiple of', isMultipleOf]],
]);

/** The bigints of a request that were validated as `number`. */
export class LargeNumbers {
  readonly #found = new Map<string, { readonly location: Location; readonly isInteger: boolean }>();

  note(location: Location, isInteger: boolean): void {
    const known = this.#found.get(location.instancePath)?.isInteger === true;
    this.#found.set(location.instancePath, { location, isInteger: isInteger || known });
  }

  forget(): void {
    // Clearing an empty map would allocate a new table.
    if (this.#found.size > 0) this.#found.clear();
  }

  /** Rounds them to doubles, in place, where no schema asks for an integer. */
  round(): void {
    for (const { location, isInteger } of this.#found.values()) {
      const { parentData, parentDataProperty: key } = location;
      if (!isInteger) parentData[key] = Number(parentData[key]);
    }
  }
}

type Location = NonNullable<KeywordInput[1]>;

/**
 * Keywords of Ajv that know `bigint` and decimal fractions. The rewriter puts them in place of the standard ones:
 * `numeric` for `type` and formats of numbers and for `ASSERTIONS`, `enumValues` and `constValues` for lists of numbers, and
 * `distinct` for `uniqueItems`, in linear time.
 *
 * @param large collects bigints that are valid as `number`; only for requests.
 */
export const numericKeywords = (large?: LargeNumbers): Vocabulary => [
  { keyword: 'numeric', errors: true, compile: (schema: Json) => keyword(numeric(schema, large)) },
  { keyword: 'enumValues', errors: true, compile: oneOfValues },
  { keyword: 'constValues', errors: true, compile: oneOfValues },
  { keyword: 'distinct', type: 'array', errors: true, compile: () => keyword((items) => duplicates(asArray(items))) },
];

/** What a value breaks: a keyword of JSON Schema, and how. */
interface Broken {
  readonly keyword: string;
  readonly message: string;
}
const NONE: readonly Broken[] = [];

function keyword(brokenBy: (...input: KeywordInput) => readonly Broken[]): KeywordValidator {
  const validate: KeywordValidator = (value, location) => {
    const broken = brokenBy(value, location);
    if (broken.length > 0) validate.errors = broken.map((error) => ({ ...error, params: {} }));
    return broken.length === 0;
  };
  return validate;
}

function oneOfValues(values: readonly unknown[]): KeywordValidator {
  const keys = new Set(values.map(keyOf));
  const allowed = `must be equal to one of the allowed values: ${values.join(', ')}`;
  const message = values.length === 0 ? 'must not be present: its enum is empty' : allowed;
  const broken = [{ keyword: 'enum', message }];
  return keyword((value) => (keys.has(keyOf(value)) ? NONE : broken));
}

/** The integers of a format. Without a format, one of a request is exact as a `number`; a reply may hold any of int64. */
function rangeOf(format: unknown, isRequest: boolean): readonly [min: Exact, max: Exact] {
  if (format === 'int32') return [-(2 ** 31), 2 ** 31 - 1];
  if (format === undefined && isRequest) return [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  return [-(2n ** 63n), 2n ** 63n - 1n];
}

function numeric({ type, format, ...bounds }: Json, large: LargeNumbers | undefined) {
  const types = asArray(type);
  const isInteger = format !== undefined || (types.includes('integer') && !types.includes('number'));
  const [min, max] = rangeOf(format, large !== undefined);
  const outside = [{ keyword: format ? 'format' : 'type', message: `must be an integer from ${min} to ${max}` }];
  const wrongType = [{ keyword: 'type', message: `must be ${types.length > 0 ? types.join(',') : 'integer'}` }];
  const assertions = Object.entries(bounds).flatMap(([key, bound]) => {
    const [relation = '', holds] = ASSERTIONS.get(key) ?? [];
    if (holds === undefined || (typeof bound !== 'number' && typeof bound !== 'bigint')) return [];
    const broken = { keyword: key, message: `must be ${relation} ${bound}` };
    return [{ broken, holds: (value: Exact) => holds(value, bound) }];
  });

  return (value: unknown, location: KeywordInput[1]): readonly Broken[] => {
    const exact: unknown = value instanceof Inexact ? value.double : value;
    if (typeof exact === 'bigint') {
      if (types.length > 0 && location !== undefined) large?.note(location, format === 'int64');
    } else if (typeof exact !== 'number') {
      return types.length === 0 || types.includes(typeOf(exact)) ? NONE : wrongType;
    } else if (isInteger ? !Number.isInteger(exact) : types.length > 0 && !Number.isFinite(exact)) return wrongType;
    if (isInteger && (value instanceof Inexact || exact < min || exact > max)) return outside;
    if (assertions.length === 0) return NONE;
    return assertions.filter(({ holds }) => !holds(exact)).map(({ broken }) => broken);
  };
}

/** The type of a value that is not a number, in terms of JSON Schema. */
const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function duplicates(items: readonly unknown[]): readonly Broken[] {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    const first = seen.get(key);
    if (first !== undefined) {
      const message = `must NOT have duplicate items (items ## ${first} and ${index} are identical)`;
      return [{ keyword: 'uniqueItems', message }];
    }
    seen.set(key, index);
  }
  return NONE;
}

/** A text that two JSON values share exactly if they are equal (JSON Schema 2020-12 §4.2.2). */
function keyOf(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Inexact) return value.text;
  if (Array.isArray(value)) return `[${value.map(keyOf)}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${keyOf(item)}`);
  return `{${members.sort()}}`;
}

/** Whether a number is a multiple of another one in decimals: 19.99 is one of 0.01, although their doubles are not. */
function isMultipleOf(value: Exact, divisor: Exact): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return Number(value) % Number(divisor) === 0;
  if (typeof value === 'number' && !Number.isFinite(value)) return false;
  const [a, b] = [decimal(value), decimal(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = ({ digits, exponent: own }: ReturnType<typeof decimal>) => digits * 10n ** BigInt(own - exponent);
  return scaled(a) % scaled(b) === 0n;
}

/** A number as an integer and a power of ten, with the digits that ECMAScript writes (ECMA-262 §6.1.6.1.20). */
function decimal(value: Exact): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '', exponent = '0'] = (typeof value === 'bigint' ? String(value) : value.toExponential()).split(
    'e',
  );
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Rounds the numbers that are neither doubles nor integers of int64. Those in arrays and objects are rounded in place. */
export function rounded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Inexact) return value.double;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) holder[key] = rounded(holder[key]);
  return value;
}
