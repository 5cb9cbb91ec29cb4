import { domainToUnicode } from 'node:url';
import addFormats, { type FormatName } from 'ajv-formats';
import { onFirstUse } from '../source/document.ts';
import { type Budget, spend } from './budget.ts';
import { compilePattern } from './patterns.ts';

export interface Format {
  /** The type that the format is about. Values of other types always have the format. */
  readonly type: 'string' | 'number';
  /** @throws {BudgetExceeded} */
  test(text: string, budget: Budget): boolean;
  /** Set if the values have a type of their own. */
  readonly typed?: TypedFormat | undefined;
}

/** A format whose values have a type of their own in requests and replies. */
export interface TypedFormat {
  /** The type in generated files, such as `Date`. */
  readonly type: string;
  /** Returns true if a text has the format. By default, `parse` decides, or the known format. */
  readonly validate?: (text: string) => boolean;
  /** Returns the value of a text in a request. @throws {unknown} if the text has none. */
  parse(text: string): unknown;
  /** Returns the text of a value in a reply. */
  stringify(value: unknown): string;
}

/** Formats of a service: functions that return true if a text has the format, or their types. */
export type Formats = Readonly<Record<string, ((text: string) => boolean) | TypedFormat>>;

/** Formats that allow any text or number. The type `integer` limits int32 and int64. */
const UNLIMITED = {
  binary: 'string',
  password: 'string',
  int32: 'number',
  int64: 'number',
  float: 'number',
  double: 'number',
} as const satisfies Partial<Record<FormatName, Format['type']>>;

/** Base64 (RFC 4648 §4), also in several lines. */
const BYTE = [
  String.raw`^(?:[A-Za-z\d+/]{4}(?:\r?\n)?)*`,
  String.raw`(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?(?:\r?\n)?$`,
].join('');

/** UUID (RFC 9562 §4), without the prefix of a URN. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface Limit {
  /** Prevents tests that take more than linear time for long texts. */
  readonly maxLength: number;
  /** The steps of a budget for a length. */
  readonly steps: (length: number) => number;
}

const LINEAR: Limit = { maxLength: Number.POSITIVE_INFINITY, steps: (length) => length };
const LONG: Limit = { ...LINEAR, steps: (length) => 4 * length };
const SHORT: Limit = { ...LINEAR, maxLength: 100 };

/** The formats of `ajv-formats`. Its `byte` accepts a text if one of its lines is base64. */
export const LIMITS: Readonly<Record<Exclude<FormatName, keyof typeof UNLIMITED | 'byte'>, Limit>> =
  {
    date: SHORT,
    'date-time': SHORT,
    duration: LINEAR,
    email: LINEAR,
    hostname: LINEAR,
    ipv4: LINEAR,
    ipv6: SHORT,
    'iso-date-time': SHORT,
    'iso-time': SHORT,
    'json-pointer': LINEAR,
    'json-pointer-uri-fragment': LINEAR,
    regex: { maxLength: 10_000, steps: (length) => 10 * length },
    'relative-json-pointer': LINEAR,
    time: SHORT,
    uri: LONG,
    'uri-reference': LONG,
    'uri-template': LINEAR,
    url: { maxLength: 2_048, steps: (length) => length ** 2 / 4 },
    uuid: LINEAR,
  };

/**
 * Returns the table of formats: those of a service, OpenAPI and JSON Schema. Other formats are
 * annotations (JSON Schema 2020-12, Validation §7.2.3).
 */
export function createFormats(service: Formats = {}): (name: string) => Format | undefined {
  const knownFormat = knownFormats();
  return onFirstUse((name) => {
    const own = Object.hasOwn(service, name) ? service[name] : undefined;
    if (typeof own === 'function') return textFormat(LINEAR, own);
    if (own === undefined) return knownFormat(name);
    const { validate = (text) => parsedBy(own, text) !== undefined } = own;
    const known = own.validate === undefined ? knownFormat(name) : undefined;
    return { ...(known ?? textFormat(LINEAR, validate)), typed: own };
  });
}

/** Returns the value of a text, or `undefined` if the text has none. */
export function parsedBy(format: TypedFormat, text: string): unknown {
  try {
    return format.parse(text);
  } catch {
    return undefined;
  }
}

function knownFormats(): (name: string) => Format | undefined {
  return onFirstUse((name) => {
    if (isIn(UNLIMITED, name)) return { type: UNLIMITED[name], test: () => true };
    if (name === 'byte') return { type: 'string', test: compilePattern(BYTE).test };
    if (name === 'uuid') return textFormat(LINEAR, (text) => UUID.test(text));
    if (name === 'date-time') return textFormat(SHORT, isDateTime);
    if (name === 'hostname') return textFormat(LINEAR, hostnameTest());
    return isIn(LIMITS, name) ? textFormat(LIMITS[name], ajvTest(name)) : undefined;
  });
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[t\s](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;

const MINUTES_OF_DAY = 24 * 60;

/**
 * Tests a date and time (RFC 3339 §5.6). A leap second is the last second of a day in UTC.
 * `ajv-formats` takes three times as long, and accepts an offset without minutes.
 */
function isDateTime(text: string): boolean {
  const [, year, month, day, hour, minute, second, sign, offsetHour = 0, offsetMinute = 0] =
    DATE_TIME.exec(text) ?? [];
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return false;
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hours > 23 || minutes > 59 || Number(offsetHour) > 23 || Number(offsetMinute) > 59)
    return false;
  if (seconds < 60) return true;
  const offset = Number(offsetHour) * 60 + Number(offsetMinute);
  const utc = hours * 60 + minutes + (sign === '-' ? offset : -offset);
  return seconds === 60 && (utc + MINUTES_OF_DAY) % MINUTES_OF_DAY === MINUTES_OF_DAY - 1;
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return day <= (isLeapYear ? 29 : 28);
  return day <= ([4, 6, 9, 11].includes(month) ? 30 : 31);
}

/** Rejects internationalized labels that Node cannot decode (RFC 5891 §5.4). */
function hostnameTest(): (text: string) => boolean {
  const hasSyntax = ajvTest('hostname');
  const hasLabel = (text: string) => /xn--/i.test(text);
  // Node returns a name with such a label unchanged.
  return (text) => hasSyntax(text) && !(hasLabel(text) && hasLabel(domainToUnicode(text)));
}

function textFormat({ maxLength, steps }: Limit, test: (text: string) => boolean): Format {
  return {
    type: 'string',
    test(text, budget) {
      if (text.length > maxLength) return false;
      spend(budget, steps(text.length));
      return test(text);
    },
  };
}

function ajvTest(name: FormatName): (text: string) => boolean {
  const format: unknown = addFormats.default.get(name);
  const test: unknown = isDefinition(format) ? format.validate : format;
  if (test instanceof RegExp) return (text) => test.test(text);
  if (typeof test !== 'function') throw new TypeError(`the format ${name} has no test`);
  return (text) => test(text) === true;
}

const isDefinition = (format: unknown): format is { validate: unknown } =>
  typeof format === 'object' && format !== null && 'validate' in format;

const isIn = <T extends object>(table: T, name: PropertyKey): name is keyof T =>
  Object.hasOwn(table, name);
