import {
  escapePointerToken,
  isObject,
  type Json,
  type Outline,
  stringifyJson,
} from 'openapi-document';

/** A value that differs from another value in one place. It may be invalid. */
export interface Variant {
  /** The JSON pointer of the place. Every list index is `0`. */
  readonly place: string;
  /** The new value at the place; `undefined` if it is removed. */
  readonly newValue: unknown;
  /** The whole value. */
  readonly value: unknown;
  /** True for a value that is sent in a separate request, such as a value at a bound. */
  readonly isEdgeCase?: boolean;
}

const OF_EACH_TYPE = [null, true, '', 'text', 1.5, [], {}];

const MAX_CHANGED_ITEMS = 2;

/** The number of items that are added to a list of distinct items. */
const MAX_DISTINCT_ITEMS = 12;

/** The maximum length of strings and lists. Longer values would test size limits, not schemas. */
const MAX_LENGTH = 5_000;

/** The maximum length of strings of characters beyond ASCII. */
const LONG_TEXT = 300;

/** Strings that services often handle wrongly. */
const TEXTS = '|a|0|null|true| |a b|ä|漢字|🌵|e\u0301|\u200f|\'|"|\\|<b>&|%00|__proto__'.split('|');

/** Has spaces at its ends, a letter with a separate accent, and a line end. */
const UNUSUAL = ` Ä漢🌵e\u0301'"\\<b>&%\r\n `;

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/** Valid and invalid strings of each format, separated by spaces. */
const TEXTS_BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time':
    '2024-02-29T23:59:59Z 1969-07-20T20:17:40.5Z 2031-12-31T23:59:59.999+05:30 ' +
    '0999-01-01T00:00:00-11:00 2024-02-30T00:00:00Z 2024-01-01 2024-01-01T25:00:00Z yesterday',
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
  byte: 'aGVsbG8= AAECAwQFBgc=',
};

/** The limits of integer formats, values beyond them, and an integer beyond 2^53. */
const INTEGERS: Readonly<Record<string, readonly Bound[]>> = {
  int32: [2 ** 31 - 1, -(2 ** 31), 2 ** 31, -(2 ** 31) - 1],
  int64: [2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 63n), 2 ** 63, -(2 ** 63) - 2048],
};

/** Returns the first sample of a schema, or none. */
export type Sampler = (schema: Json) => readonly unknown[];

/** Yields values that differ from a valid value in one place. */
export function* variantsOf(
  sampleOf: Sampler,
  outline: Outline,
  value: unknown,
): Generator<Variant> {
  const whole = (newValue: unknown) => ({ place: '', newValue, value: newValue });
  yield* OF_EACH_TYPE.filter((other) => describeKind(other) !== describeKind(value)).map(whole);
  const { edgeCases, others } = candidatesOf(sampleOf, outline, value);
  for (const other of edgeCases) yield { ...whole(other), isEdgeCase: true };
  yield* others.map(whole);
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, MAX_CHANGED_ITEMS).entries()) {
      for (const variant of variantsOf(sampleOf, outline.item(index), item))
        yield { ...variant, place: `/0${variant.place}`, value: value.with(index, variant.value) };
    }
  } else if (isObject(value)) {
    yield {
      place: '/undeclaredMember',
      newValue: 'text',
      value: { ...value, undeclaredMember: 'text' },
    };
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _missing, ...members } = value;
      yield { place: `/${escapePointerToken(name)}`, newValue: undefined, value: members };
      for (const variant of variantsOf(sampleOf, outline.member(name), member)) {
        const changed = { ...value, [name]: variant.value };
        yield { ...variant, place: `/${escapePointerToken(name)}${variant.place}`, value: changed };
      }
    }
  }
}

/** Values of the same type as a valid value. They may be invalid. */
interface Candidates {
  /** Listed values, values at bounds, unusual strings, and samples of alternatives. */
  readonly edgeCases: readonly unknown[];
  readonly others: readonly unknown[];
}

function candidatesOf(sampleOf: Sampler, outline: Outline, value: unknown): Candidates {
  if (Array.isArray(value)) {
    const bounds = [...outline.limits('minItems'), ...outline.limits('maxItems')];
    const items = outline.hasDistinctItems ? withDistinctItems(sampleOf, outline, value) : value;
    const lists = (lengths: readonly Bound[]) =>
      [...new Set(lengths)].filter(isSendable).map((length) => listOfLength(items, length));
    return {
      edgeCases: lists([2, ...bounds]),
      others: [
        ...lists([0, 1, value.length + 1, ...valuesBeside(bounds, 1)]),
        [...value.slice(0, 1), ...value.slice(0, 1)],
      ],
    };
  }
  if (isObject(value)) {
    const edgeCases = outline.alternatives.flatMap(sampleOf);
    return { edgeCases, others: [] };
  }
  const listed = outline.constants;
  const examples = [...outline.examples, ...outline.defaults];
  if (typeof value === 'number' || typeof value === 'bigint') {
    const bounds = BOUNDS.flatMap((keyword) => outline.limits(keyword));
    const limits = outline.formats.flatMap((format) => INTEGERS[format] ?? []);
    return {
      edgeCases: [...listed, ...limits, ...bounds],
      others: [...examples, ...numbersBeside(outline, value, bounds)],
    };
  }
  if (typeof value === 'string') {
    const bounds = [...outline.limits('minLength'), ...outline.limits('maxLength')];
    const texts = (lengths: readonly Bound[]) =>
      lengths.filter(isSendable).map((length) => 'x'.repeat(length));
    const longest = Math.min(LONG_TEXT, Number(outline.limits('maxLength')[0] ?? LONG_TEXT));
    return {
      edgeCases: [
        // A service may count or cut bytes or UTF-16 units in place of characters.
        ...[...listed, ...texts(bounds), '🌵'.repeat(longest), 'ä'.repeat(longest), UNUSUAL],
        ...outline.formats.flatMap((format) => TEXTS_BY_FORMAT[format]?.split(' ') ?? []),
      ],
      others: [
        ...[...examples, ...texts(valuesBeside(bounds, 1))],
        ...[`${value}-other`, 'text', value.toUpperCase(), ...TEXTS],
      ],
    };
  }
  const opposite = typeof value === 'boolean' ? [!value] : [];
  return { edgeCases: listed, others: [...examples, ...opposite] };
}

/** Adds edge cases of the first item to a list, and removes equal items. */
function withDistinctItems(sampleOf: Sampler, outline: Outline, list: readonly unknown[]) {
  const others = list
    .slice(0, 1)
    .flatMap((item) => candidatesOf(sampleOf, outline.item(0), item).edgeCases);
  const [first] = list;
  const created = Array.from({ length: MAX_DISTINCT_ITEMS }, (_, index) =>
    typeof first === 'string' ? `item${index}` : index,
  ).filter((item) => typeof item === typeof first);
  const byText = new Map(
    [...list, ...others, ...created].map((item) => [stringifyJson(item), item]),
  );
  return [...byText.values()];
}

const listOfLength = (list: readonly unknown[], length: number): unknown[] =>
  Array.from({ length: list.length > 0 ? length : 0 }, (_, index) => list[index] ?? list[0]);

export type Bound = number | bigint;

export const valuesBeside = (bounds: readonly Bound[], step: number): Bound[] =>
  bounds.flatMap((bound): Bound[] =>
    typeof bound === 'bigint' ? [bound - 1n, bound + 1n] : [bound - step, bound + step],
  );

function numbersBeside(outline: Outline, value: Bound, bounds: readonly Bound[]): Bound[] {
  const [multiple] = outline.limits('multipleOf');
  const step = Number(multiple ?? 1);
  const small = Array.from({ length: 14 }, (_, count) => (count - 1) * step);
  const large = [100 * step, 1_000 * step, 2 ** 31, Number.MAX_SAFE_INTEGER];
  // A validator may allow for rounding errors of multiples.
  const fractions = [
    ...(multiple === undefined ? [0.1, -1.5, 1e-7] : []),
    Number(value) + step / 2,
  ];
  return [...valuesBeside(bounds, step), ...small, ...large, ...fractions].map(
    withoutRoundingErrors,
  );
}

/** Returns a number without rounding errors in its last digits: 0.85 for 17 × 0.05. */
export const withoutRoundingErrors = <T>(number: T): T | number =>
  typeof number !== 'number' || Number.isInteger(number) ? number : Number(number.toPrecision(12));

const isSendable = (length: Bound): length is number =>
  typeof length === 'number' && length >= 0 && length <= MAX_LENGTH;

export function describeKind(value: unknown): string {
  if (value === undefined) return 'a missing value';
  if (value === null) return 'null';
  if (value === '') return 'an empty string';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'bigint' || typeof value === 'number')
    return value < 0 ? 'a negative number' : 'a number';
  return `a ${typeof value}`;
}
