import { isObject, type Json, schemas } from 'openapi-document';

/** A value that differs from another one in one place. It may be valid or not: the caller checks it. */
export interface Variant {
  /** A JSON pointer to the place. Each index of a list is written as `0`. */
  readonly at: string;
  /** What is at the place; `undefined` if it is missing. */
  readonly inner: unknown;
  readonly value: unknown;
}

/** A value of each JSON type. */
const OF_EACH_TYPE = [null, true, 'text', 1.5, [], {}];

/** How many items of a list are changed. */
const ITEMS = 2;

/** Longer strings and lists are not sent: they say more about the limits of a connection than about the service. */
const LONGEST = 5_000;

/** Texts that services often handle wrongly. */
const TEXTS = '|a|0|null|true| |a b|ä|漢字|🌵|e\u0301|\u200f|\'|"|\\|<b>&|%00|__proto__'.split('|');

/** Strings of each format, separated by spaces: valid ones, then invalid ones. A check tells them apart. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time':
    '2024-02-29T23:59:59Z 1969-07-20T20:17:40.5Z 2031-12-31T23:59:59.999+05:30 0999-01-01T00:00:00-11:00 ' +
    '2024-02-30T00:00:00Z 2024-01-01 2024-01-01T25:00:00Z yesterday',
  date: '2024-02-29 1969-07-20 0999-01-01 2023-02-29 2024-01-01T00:00:00Z 01/02/2024',
  time: '23:59:59Z 00:00:00.123+05:30 24:00:00Z 12:00',
  duration: 'P1D PT36H P3Y6M4DT12H30M5S day P',
  email: 'a@example.com first.last+tag@sub.example.com nobody @example.com',
  hostname: 'example.com a xn--bcher-kva.example -a.example a_b',
  ipv4: '127.0.0.1 255.255.255.255 256.0.0.1 1.2.3',
  ipv6: '::1 2001:db8::ff00:42:8329 12345:: 1.2.3.4',
  uri: 'https://example.com/a?b=c#d urn:isbn:0451450523 none //',
  'uri-reference': '/a/b https://example.com \\',
  url: 'https://example.com/a example',
  uuid: '123e4567-e89b-12d3-a456-426614174000 00000000-0000-0000-0000-000000000000 123e4567',
  byte: 'aGVsbG8= AAECAwQFBgc= ?',
};

const INTEGERS: Readonly<Record<string, readonly (number | bigint)[]>> = {
  int32: [2 ** 31 - 1, -(2 ** 31), 2 ** 31, -(2 ** 31) - 1],
  int64: [2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 63n), 2 ** 63, -(2 ** 63) - 2048],
};

/** Values that differ from a valid one in one place. */
export function* variantsOf(root: Json, described: readonly unknown[], value: unknown): Generator<Variant> {
  const all = described.flatMap((schema) => schemas.alternatives(root, schema));
  const others = OF_EACH_TYPE.filter((other) => kindOf(other) !== kindOf(value));
  for (const other of [...others, ...candidates(all, value)]) yield { at: '', inner: other, value: other };
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, ITEMS).entries()) {
      const inside = described.flatMap((schema) => schemas.ofItem(root, schema, index));
      for (const { at, inner, value: other } of variantsOf(root, inside, item)) {
        yield { at: `/0${at}`, inner, value: value.with(index, other) };
      }
    }
  } else if (isObject(value)) {
    yield { at: '/undeclaredMember', inner: 'text', value: { ...value, undeclaredMember: 'text' } };
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _missing, ...rest } = value;
      yield { at: `/${name}`, inner: undefined, value: rest };
      const inside = described.flatMap((schema) => schemas.ofProperty(root, schema, name));
      for (const { at, inner, value: other } of variantsOf(root, inside, member)) {
        yield { at: `/${name}${at}`, inner, value: { ...value, [name]: other } };
      }
    }
  }
}

/** Values of the type of a value that its schemas may or may not allow. */
function candidates(all: readonly Json[], value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const lengths = new Set([0, 1, value.length + 1, ...near(all, ['minItems', 'maxItems']).filter(isSendable)]);
    const possible = [...lengths].filter((length) => length === 0 || value.length > 0);
    return possible.map((length) => Array.from({ length }, (_, index) => value[index < value.length ? index : 0]));
  }
  const listed = all
    .flatMap((schema) => [schema.const, schema.enum, schema.examples, schema.example, schema.default].flat())
    .filter((item) => item !== undefined);
  if (typeof value === 'number' || typeof value === 'bigint') return [...listed, ...numbers(all, value)];
  if (typeof value === 'string') return [...listed, ...strings(all, value)];
  return typeof value === 'boolean' ? [...listed, !value] : listed;
}

/** What schemas set as bounds, and the values beside them. */
const near = (all: readonly Json[], keywords: readonly string[], step = 1): (number | bigint)[] =>
  all
    .flatMap((schema) => keywords.map((keyword) => schema[keyword]))
    .flatMap((bound): (number | bigint)[] => {
      if (typeof bound === 'bigint') return [bound, bound - 1n, bound + 1n];
      return typeof bound === 'number' ? [bound, bound - step, bound + step] : [];
    });

function numbers(all: readonly Json[], value: number | bigint): (number | bigint)[] {
  const step = all.flatMap(({ multipleOf }) => (typeof multipleOf === 'number' ? multipleOf : []))[0] ?? 1;
  // Beyond 2⁵³, multiples cannot be told apart by doubles.
  const limits = step === 1 ? all.flatMap(({ format }) => INTEGERS[String(format)] ?? []) : [];
  const bounds = near(all, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], step);
  const small = Array.from({ length: 14 }, (_, count) => (count - 1) * step);
  const others = [100 * step, 1_000 * step, 2 ** 31, Number.MAX_SAFE_INTEGER, 0.1, -1.5, 1e-7];
  return [...limits, ...bounds, ...small, ...others, Number(value) + step / 2].map(inDecimals);
}

/** A number without the error of its last digits: 17 × 0.05 is 0.85. */
export const inDecimals = <T>(number: T): T | number =>
  typeof number !== 'number' || Number.isInteger(number) ? number : Number(number.toPrecision(12));

function strings(all: readonly Json[], value: string): string[] {
  const lengths = near(all, ['minLength', 'maxLength']).filter(isSendable);
  const formats = all.flatMap(({ format }) => FORMATS[String(format)]?.split(' ') ?? []);
  const texts = formats.length > 0 ? formats : [`${value}-other`, 'text', value.toUpperCase(), ...TEXTS];
  return [...lengths.map((length) => 'x'.repeat(length)), ...texts];
}

const isSendable = (length: number | bigint): length is number =>
  typeof length === 'number' && length >= 0 && length <= LONGEST;

/** What kind of value it is, for messages. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'bigint' || typeof value === 'number') return value < 0 ? 'a negative number' : 'a number';
  return `a ${typeof value}`;
}
