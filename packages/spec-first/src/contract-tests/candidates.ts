import { asArray, type Json, schemas } from 'openapi-document';

/** What is wrong with a value, if it is invalid: the end of a sentence such as "/name is too short". */
export type How = `${'is' | 'has' | 'does'} ${string}`;

/** A value, valid or not, and what is wrong with it if it is not. */
export type Candidate = readonly [how: How, value: unknown];

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
  'uri-template': 'https://example.com/{id} {',
  url: 'https://example.com/a example',
  uuid: '123e4567-e89b-12d3-a456-426614174000 00000000-0000-0000-0000-000000000000 123e4567',
  byte: 'aGVsbG8= AAECAwQFBgc= ?',
  regex: '^a+$ (',
  'json-pointer': '/a/0 a',
  'relative-json-pointer': '1/a /a',
};

/** Values of the type of a scalar that its schemas may or may not allow: the caller checks them. */
export function candidatesFor(root: Json, described: readonly unknown[], value: unknown): Candidate[] {
  const all = described.flatMap((schema) => schemas.alternatives(root, schema));
  const listed = all.flatMap((schema) => [
    ...(Object.hasOwn(schema, 'const') ? [schema.const] : []),
    ...asArray(schema.enum),
    ...asArray(schema.examples),
    ...['example', 'default'].flatMap((key) => (Object.hasOwn(schema, key) ? [schema[key]] : [])),
  ]);
  const others = listed.map((item): Candidate => ['is none of its values', item]);
  if (all.some((schema) => Object.hasOwn(schema, 'enum') || Object.hasOwn(schema, 'const'))) {
    const text = `${value}-other`;
    others.push(['is none of its values', typeof value === 'string' ? text : Number(value) + 1]);
  }
  if (typeof value === 'number' || typeof value === 'bigint') return [...others, ...numbers(all, value)];
  if (typeof value === 'string') return [...others, ...strings(all, value)];
  return typeof value === 'boolean' ? [...others, ['is none of its values', !value]] : others;
}

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

const boundOf = (all: readonly Json[], keyword: string): number[] =>
  all.flatMap((schema) => (typeof schema[keyword] === 'number' ? [schema[keyword]] : []));

function numbers(all: readonly Json[], value: number | bigint): Candidate[] {
  const step = boundOf(all, 'multipleOf')[0] ?? 1;
  const bounds = BOUNDS.flatMap((key) => boundOf(all, key));
  const formats = all.map(({ format }) => format);
  const large = all.flatMap((schema) => BOUNDS.map((key) => schema[key])).filter((bound) => typeof bound === 'bigint');
  const limits = [
    ...large.flatMap((bound) => [bound, bound - 1n, bound + 1n]),
    ...(formats.includes('int32') ? [2 ** 31 - 1, -(2 ** 31), 2 ** 31, -(2 ** 31) - 1] : []),
    // Beyond 2⁵³, multiples cannot be told apart by doubles.
    ...(formats.includes('int64') && step === 1
      ? [2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 63n), 2 ** 63, -(2 ** 63) - 2048]
      : []),
  ];
  const near = bounds.flatMap((bound) => [bound, bound - step, bound + step]);
  const small = Array.from({ length: 14 }, (_, count) => (count - 1) * step);
  const great = [...small.map((count) => count * 100), 2 ** 31, Number.MAX_SAFE_INTEGER];
  // Without a format, an integer beyond ±(2⁵³−1) is not exact everywhere.
  const others = all.some(({ type }) => [type].flat().includes('integer')) ? [] : [0.1, -1.5, 1e-7, 1e21];
  return [
    ...[...limits, ...[...near, ...small, ...great, ...others].map(inDecimals)].map(
      (number): Candidate => [number < value ? 'is too small' : 'is too large', number],
    ),
    ['is not allowed', inDecimals(Number(value) + step / 2)],
  ];
}

/** A number without the error of its last digits: 17 × 0.05 is 0.85. */
export const inDecimals = (number: number): number =>
  Number.isInteger(number) ? number : Number(number.toPrecision(12));

function strings(all: readonly Json[], value: string): Candidate[] {
  const lengths = ['minLength', 'maxLength'].flatMap((key) => boundOf(all, key));
  const sized = lengths.flatMap((length) => [length, length - 1, length + 1]).filter(isSendable);
  const formats = all.flatMap(({ format }) => FORMATS[String(format)]?.split(' ') ?? []);
  const others = all.some(({ pattern }) => pattern !== undefined) ? [`${value}!`, 'text', value.toUpperCase()] : [];
  return [
    ...sized.map((length): Candidate => [length < value.length ? 'is too short' : 'is too long', 'x'.repeat(length)]),
    ...formats.map((text): Candidate => ['has a wrong format', text]),
    ...others.map((text): Candidate => ['does not match its pattern', text]),
    ...(formats.length > 0 ? [] : TEXTS).map((text): Candidate => ['is not allowed', text]),
  ];
}

export const isSendable = (length: number): boolean => length >= 0 && length <= LONGEST;
