import fc from 'fast-check';
import { type Json, patternOf } from 'openapi-document';

/** Which characters a string may have: any that Unicode defines, or letters, digits, `_` and `-` for values in headers. */
export type Characters = 'any' | 'plain';

const date = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') });
const text = (arbitrary: fc.Arbitrary<Date>, part: (iso: string) => string) =>
  arbitrary.map((value) => part(value.toISOString()));

/** Strings of the formats of JSON Schema and of OpenAPI's registry. */
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': text(date, (iso) => iso),
  date: text(date, (iso) => iso.slice(0, 10)),
  time: text(date, (iso) => iso.slice(11)),
  duration: fc.constantFrom('P1D', 'PT36H', 'P3Y6M4DT12H30M5S'),
  email: fc.emailAddress(),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  uri: fc.webUrl(),
  'uri-reference': fc.webUrl(),
  uuid: fc.uuid(),
  byte: fc.base64String({ maxLength: 40 }),
  // What ajv-formats has beside them.
  url: fc.webUrl(),
  'uri-template': fc.constant('https://host.example/{id}'),
  regex: fc.constant('^a+$'),
  'json-pointer': fc.constantFrom('', '/a/0'),
  'relative-json-pointer': fc.constant('1/a'),
  'iso-time': text(date, (iso) => iso.slice(11)),
  'iso-date-time': text(date, (iso) => iso),
};

/** Strings with the length, the pattern or the format of a schema. @throws {Error} for a pattern that is not followed. */
export function stringsOf(
  { minLength, maxLength, pattern, format }: Json,
  characters: Characters,
): fc.Arbitrary<string> {
  const least = Number(minLength ?? 0);
  const most = Number(maxLength ?? least + 20);
  if (typeof pattern === 'string') return fc.stringMatching(patternOf(pattern));
  const formatted = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (formatted !== undefined) return formatted;
  // A few at the longest length; most are short.
  const lengths = { minLength: least, maxLength: most, size: 'medium' } as const;
  const longest = fc.constant('x'.repeat(Math.min(most, 100_000)));
  return fc.oneof({ arbitrary: ofCharacters(characters, lengths), weight: 9 }, { arbitrary: longest, weight: 1 });
}

function ofCharacters(characters: Characters, lengths: fc.StringConstraints): fc.Arbitrary<string> {
  if (characters === 'any') {
    const { minLength = 0, maxLength = 0 } = lengths;
    // JSON Schema counts code points. A grapheme may have several of them.
    const graphemes = fc
      .string({ ...lengths, unit: 'grapheme' })
      .map((value) => [...value].slice(0, maxLength).join(''));
    return fc.oneof(
      { arbitrary: fc.string({ ...lengths, unit: 'grapheme-ascii' }), weight: 3 },
      { arbitrary: graphemes.filter((value) => [...value].length >= minLength), weight: 2 },
      { arbitrary: fc.string({ ...lengths, unit: 'binary' }), weight: 1 },
    );
  }
  const unit = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-');
  return fc.string({ ...lengths, unit });
}

const INT64: readonly [bigint, bigint] = [-(2n ** 63n), 2n ** 63n - 1n];
const SAFE: readonly [bigint, bigint] = [BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)];
const INT32: readonly [bigint, bigint] = [-(2n ** 31n), 2n ** 31n - 1n];

/** Integers between the bounds of a schema: a `bigint` where a `number` would not be exact. @throws {RangeError} */
export function integersOf({ format, multipleOf, ...bounds }: Json): fc.Arbitrary<number | bigint> {
  let [from, to] = format === 'int64' ? INT64 : format === 'int32' ? INT32 : SAFE;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = bounds;
  const least = [
    ...(typeof minimum === 'number' ? [BigInt(Math.ceil(minimum))] : []),
    ...(typeof exclusiveMinimum === 'number' ? [BigInt(Math.floor(exclusiveMinimum)) + 1n] : []),
  ];
  const most = [
    ...(typeof maximum === 'number' ? [BigInt(Math.floor(maximum))] : []),
    ...(typeof exclusiveMaximum === 'number' ? [BigInt(Math.ceil(exclusiveMaximum)) - 1n] : []),
  ];
  for (const bound of least) if (bound > from) from = bound;
  for (const bound of most) if (bound < to) to = bound;
  // Counts of steps. Division of bigints rounds towards zero.
  const step = Number.isInteger(multipleOf) && Number(multipleOf) > 0 ? BigInt(Number(multipleOf)) : 1n;
  const min = from / step + (from > 0n && from % step !== 0n ? 1n : 0n);
  const max = to / step - (to < 0n && to % step !== 0n ? 1n : 0n);
  if (min > max) throw new RangeError('no integer is within the bounds');
  const near = (count: bigint) => (count < min ? min : count > max ? max : count);
  const counts = fc.oneof(
    fc.bigInt({ min, max }),
    fc.bigInt({ min: near(-100n), max: near(100n) }),
    fc.constantFrom(min, max),
  );
  return counts.map((count) => exact(count * step));
}

const exact = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

/** Numbers between the bounds of a schema. */
export function numbersOf(schema: Json): fc.Arbitrary<number | bigint> {
  const { multipleOf, format } = schema;
  // Older versions of JSON Schema have booleans here.
  const [exclusiveMinimum, exclusiveMaximum] = [schema.exclusiveMinimum, schema.exclusiveMaximum].map((bound) =>
    typeof bound === 'number' ? bound : undefined,
  );
  const limit = format === 'float' ? 3.4e38 : Number.MAX_VALUE;
  const min = Math.max(Number(schema.minimum ?? -limit), Number(exclusiveMinimum ?? -limit));
  const max = Math.min(Number(schema.maximum ?? limit), Number(exclusiveMaximum ?? limit));
  if (typeof multipleOf === 'number' && multipleOf > 0) {
    const [from, to] = [Math.ceil(min / multipleOf), Math.floor(max / multipleOf)];
    return fc
      .integer({ min: Math.max(from, -1e6), max: Math.min(to, 1e6) })
      .map((count) => inDecimals(count * multipleOf));
  }
  const double = fc.double({
    min,
    max,
    minExcluded: exclusiveMinimum === min,
    maxExcluded: exclusiveMaximum === max,
    noNaN: true,
  });
  const whole = fc.integer({ min: Math.ceil(Math.max(min, -1000)), max: Math.floor(Math.min(max, 1000)) });
  return Math.ceil(Math.max(min, -1000)) > Math.floor(Math.min(max, 1000)) ? double : fc.oneof(double, whole);
}

/** A product without the error of its last digits: 17 × 0.05 is 0.85. */
const inDecimals = (product: number): number => Number(product.toPrecision(12));
