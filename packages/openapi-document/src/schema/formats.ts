import { isIPv4, isIPv6 } from 'node:net';
import { domainToUnicode } from 'node:url';
import { onFirstUse } from '../source/document.ts';
import { type Budget, spend } from './budget.ts';
import { GRAMMARS } from './grammars.ts';
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
  /**
   * Returns the value of a text in a request. A text that has none is rejected: `parse` throws, or
   * returns an invalid `Date`.
   */
  parse(text: string): unknown;
  /** Returns the text of a value in a reply. */
  stringify(value: unknown): string;
}

/** Formats of a service: functions that return true if a text has the format, or their types. */
export type Formats = Readonly<Record<string, ((text: string) => boolean) | TypedFormat>>;

interface Limit {
  /** Prevents tests that take more than linear time for long texts. */
  readonly maxLength: number;
  /** The steps of a budget for each character. */
  readonly steps: number;
}

const LINEAR: Limit = { maxLength: Number.POSITIVE_INFINITY, steps: 1 };
const SHORT: Limit = { maxLength: 100, steps: 1 };
const EXPRESSION: Limit = { maxLength: 10_000, steps: 10 };

/**
 * Returns the table of formats: those of a service, OpenAPI and JSON Schema. Other formats are
 * annotations (JSON Schema 2020-12, Validation §7.2.3).
 */
export function createFormats(service: Formats = {}): (name: string) => Format | undefined {
  const knownFormat = onFirstUse((name: string) => FORMATS.get(name)?.());
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
    const value = format.parse(text);
    return value instanceof Date && Number.isNaN(value.getTime()) ? undefined : value;
  } catch {
    return undefined;
  }
}

const MINUTES_OF_DAY = 24 * 60;

/** The end of a time with a leap second, which has the number 60. */
const LEAP_SECOND = /(\d\d):(\d\d):60(?:\.\d+)?(?:z|([+-]\d\d):(\d\d))$/i;

/** Returns false for a leap second that is not the last second of a day in UTC. */
function isSecond(text: string): boolean {
  const [match, hour, minute, hours = '+0', minutes = '0'] = LEAP_SECOND.exec(text) ?? [];
  if (match === undefined) return true;
  const offset = Number(hours) * 60 + Number(hours.charAt(0) + minutes);
  const utc = Number(hour) * 60 + Number(minute) - offset;
  return (utc + MINUTES_OF_DAY) % MINUTES_OF_DAY === MINUTES_OF_DAY - 1;
}

/** Tests the labels of a host name. Those of internationalized names: RFC 5890 §2.3.2.1. */
const hasLabels = (text: string): boolean => text.length <= 253 && text.split('.').every(isLabel);

function isLabel(label: string): boolean {
  if (label.length > 63) return false;
  if (!/^xn--/i.test(label)) return !label.startsWith('--', 2);
  // Node returns an empty text, or the label itself, if it cannot be decoded.
  const decoded = domainToUnicode(label);
  return decoded !== '' && !decoded.startsWith('--', 2) && !DISALLOWED.test(decoded);
}

const NO_JAPANESE = String.raw`[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]`;

/** Characters that a label must not contain, or not in this place (RFC 5892, appendix A). */
const DISALLOWED = new RegExp(
  [
    String.raw`[\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B]`,
    String.raw`(?<!l)\u00B7`,
    String.raw`\u00B7(?!l)`,
    String.raw`\u0375(?!\p{Script=Greek})`,
    String.raw`(?<!\p{Script=Hebrew})[\u05F3\u05F4]`,
    `^${NO_JAPANESE}*\\u30FB${NO_JAPANESE}*$`,
  ].join('|'),
  'u',
);

function isExpression(text: string): boolean {
  try {
    return new RegExp(text, 'u') !== undefined;
  } catch {
    return false;
  }
}

function textFormat({ maxLength, steps }: Limit, test: (text: string) => boolean): Format {
  return {
    type: 'string',
    test(text, budget) {
      if (text.length > maxLength) return false;
      spend(budget, steps * text.length);
      return test(text);
    },
  };
}

const unlimited = (type: Format['type']) => (): Format => ({ type, test: () => true });

/** Tests of parts that the grammar of a format does not describe. */
const PARTS: Readonly<Record<string, (text: string) => boolean>> = {
  time: isSecond,
  'date-time': isSecond,
  email: isMailLiteral,
  hostname: hasLabels,
  uri: isUriLiteral,
  'uri-reference': isUriLiteral,
  url: isUriLiteral,
};

/** The formats of JSON Schema and OpenAPI. The type `integer` limits int32 and int64. */
const FORMATS = new Map<string, () => Format>([
  ...['binary', 'password'].map((name) => [name, unlimited('string')] as const),
  ...['int32', 'int64', 'float', 'double'].map((name) => [name, unlimited('number')] as const),
  ...Object.entries(GRAMMARS).map(
    ([name, grammar]) => [name, () => patternFormat(grammar, PARTS[name])] as const,
  ),
  ['ipv6', () => textFormat(SHORT, isAddress)],
  ['regex', () => textFormat(EXPRESSION, isExpression)],
]);

function patternFormat(grammar: string, isRight = (_text: string) => true): Format {
  const pattern = compilePattern(`^(?:${grammar})$`);
  return {
    type: 'string',
    test: (text, budget) => pattern.test(text, budget) && isRight(text),
  };
}

/** Tests an IPv6 address without a zone (RFC 4291 §2.2). */
const isAddress = (text: string): boolean => isIPv6(text) && !text.includes('%');

/** Tests the address in brackets of an email address (RFC 5321 §4.1.3). */
function isMailLiteral(text: string): boolean {
  const [, literal] = /@\[(.*)\]$/.exec(text) ?? [];
  if (literal === undefined || isIPv4(literal)) return true;
  return /^ipv6:/i.test(literal) && isAddress(literal.slice(5));
}

/** Tests the address in brackets of a URI (RFC 3986 §3.2.2). */
function isUriLiteral(text: string): boolean {
  const [, literal] = /\[(.*)\]/.exec(text) ?? [];
  return literal === undefined || isAddress(literal) || /^v[\da-f]+\../i.test(literal);
}
