import { type Exact, exactNumber, INTEGER_RANGES, tightest } from '../schema/numbers.ts';
import type { Schema } from '../schema/schema.ts';
import { patternTexts } from './pattern-texts.ts';

/** The number of numbers that are tried for one schema. */
const MAX_NUMBERS = 40;

/** The days of a century, since services may reject a date in the far future. */
const MAX_DAYS = 36_525;

const date = (count: number) =>
  new Date(Date.UTC(2024, 0, 1 + (count % MAX_DAYS))).toISOString().slice(0, 10);
const url = (count: number) => `https://example.com/${count || ''}`;
const path = (count: number) => `/path${count || ''}`;

/** Texts of the formats of JSON Schema and OpenAPI. */
const FORMAT_TEXTS: Readonly<Record<string, (count: number) => string>> = {
  'date-time': (count) => `${date(count)}T12:00:00Z`,
  date,
  time: (count) => `12:00:${String((count % 28) + 1).padStart(2, '0')}Z`,
  duration: (count) => `P${count + 1}D`,
  email: (count) => `name${count || ''}@example.com`,
  hostname: (count) => `host${count || ''}.example.com`,
  ipv4: (count) => `192.0.2.${(count % 254) + 1}`,
  ipv6: (count) => `2001:db8::${(count + 1).toString(16)}`,
  uri: url,
  url,
  'uri-reference': path,
  'json-pointer': path,
  'uri-template': (count) => `/{name${count || ''}}`,
  'relative-json-pointer': String,
  uuid: (count) => `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
  regex: (count) => `^a{${count + 1}}$`,
  byte: (count) => Buffer.from(`text${count || ''}`).toString('base64'),
};

/** Yields texts, the most suitable first. They may be invalid. */
export function* textsFor(schema: Schema, variation: number): Generator<string> {
  const { formats, patterns } = schema;
  const length = schema.sizes('Length');
  for (const format of formats) {
    const text = Object.hasOwn(FORMAT_TEXTS, format) ? FORMAT_TEXTS[format] : undefined;
    if (text !== undefined) yield text(variation);
  }
  for (const pattern of patterns) yield* patternTexts(pattern, length, variation);
  const max = Math.min(length.max, Math.max(length.min, 12));
  const letter = String.fromCharCode(97 + (variation % 26));
  const word = variation === 0 ? 'text' : `text-${variation}`;
  const text = word.length > max && variation >= 26 ? variation.toString(36).slice(-max) : word;
  const fitting = text.length > max ? letter : text;
  if (length.min <= MAX_LENGTH) yield fitting.padEnd(length.min, letter).slice(0, max);
  // Texts that look-ahead, such as that of passwords, often requires.
  yield 'Aa1!'.repeat(10).slice(0, Math.max(max, 12));
}

/** Longer texts would be unrealistic samples. */
const MAX_LENGTH = 100_000;

/** Yields numbers, the most suitable first. They may be invalid. */
export function* numbersFor(
  schema: Schema,
  type: 'integer' | 'number',
  variation: number,
): Generator<Exact> {
  const step = schema.limit('multipleOf');
  const [format] = schema.formats;
  const isInteger = type === 'integer' || format === 'int32' || format === 'int64';
  const [formatMin, formatMax] = INTEGER_RANGES[format ?? ''] ?? [];
  const lowest = [schema.limit('minimum'), schema.limit('exclusiveMinimum'), formatMin];
  const highest = [schema.limit('maximum'), schema.limit('exclusiveMaximum'), formatMax];
  const low = tightest(lowest, true);
  const high = tightest(highest, false);
  if (isInteger) yield* integersBetween(low, high, step, variation);
  else yield* decimalsBetween(Number(low ?? -Infinity), Number(high ?? Infinity), step, variation);
}

type Limit = Exact | undefined;

/** Yields multiples in a range, from 1 or the limit that is closest to it. */
function* integersBetween(
  low: Limit,
  high: Limit,
  step: Limit,
  variation: number,
): Generator<Exact> {
  const unit = Number.isInteger(Number(step)) && Number(step) !== 0 ? toBigInt(step ?? 1) : 1n;
  const min = low === undefined ? undefined : multipleFrom(toBigInt(low), unit, false);
  const max = high === undefined ? undefined : multipleFrom(toBigInt(high), unit, true);
  const lowest = min !== undefined && min > unit ? min : unit;
  const isDown = max !== undefined && max < unit;
  const first = isDown ? max : lowest;
  for (let index = 0; index < MAX_NUMBERS; index += 1) {
    const distance = unit * BigInt(index + variation);
    const value = isDown ? first - distance : first + distance;
    // Continues at the other end of the range.
    const isLimited = min !== undefined && max !== undefined && max >= min;
    yield exactNumber(isLimited ? min + modulo(value - min, max - min + unit) : value);
  }
}

const modulo = (value: bigint, divisor: bigint): bigint => ((value % divisor) + divisor) % divisor;

function toBigInt(value: number | bigint): bigint {
  return typeof value === 'bigint' ? value : BigInt(Math.round(value));
}

/** Returns the next multiple of a unit in one direction. */
function multipleFrom(start: bigint, unit: bigint, isDown: boolean): bigint {
  const rest = modulo(start, unit);
  if (rest === 0n) return start;
  return isDown ? start - rest : start + unit - rest;
}

function* decimalsBetween(
  low: number,
  high: number,
  step: Limit,
  variation: number,
): Generator<number> {
  if (step !== undefined) {
    const unit = Number(step);
    const first = Math.ceil(low / unit);
    const start = low > 0 ? first : Math.min(1, Math.floor(high / unit));
    const size = Math.floor(high / unit) - first + 1;
    // Continues at the other end of the range.
    const wrapped = (index: number) =>
      Number.isFinite(size) && size > 0 ? first + ((index - first) % size) : index;
    for (let count = 0; count < MAX_NUMBERS; count += 1) {
      yield decimal(wrapped(start + count + variation) * unit);
      yield decimal((start - count) * unit);
    }
    return;
  }
  yield variation + 1.5;
  if (Number.isFinite(low) && Number.isFinite(high))
    yield decimal(low + ((high - low) * (variation + 1)) / (variation + 2));
  if (Number.isFinite(low)) yield* [low + 1 + variation, low];
  if (Number.isFinite(high)) yield* [high - 1 - variation, high];
  yield* [variation + 1, 0, -variation - 0.5];
}

/** Returns a number without rounding errors in its last digits. */
const decimal = (value: number): number => Number(value.toPrecision(12));

/** Returns a list that begins at another item. */
export const rotated = <T>(list: readonly T[], count: number): T[] => {
  const start = list.length === 0 ? 0 : count % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
};
