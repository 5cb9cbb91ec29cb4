import { isDeepStrictEqual } from 'node:util';
import {
  declaredFor,
  isObject,
  type Json,
  mediaTypeFor,
  type Outline,
  stringifyJson,
} from 'openapi-document';
import { type CheckedOperation, parsedBody, type ReceivedResponse } from './check-response.ts';

/**
 * Describes the first difference between sent members and a response, at each level. Ignores
 * members that the schema of the response does not declare, such as those of another alternative
 * of a union. Also ignores `readOnly` and `writeOnly` members. Returns `undefined` without a
 * difference.
 */
export function differenceIn(
  { operation, validator }: CheckedOperation,
  sent: unknown,
  response: ReceivedResponse,
): string | undefined {
  const received = parsedBody(response);
  const declared = declaredFor(operation, response.status);
  const media = declared && mediaTypeFor(declared.media, response.headers['content-type'] ?? '');
  if (media === undefined || !isObject(sent) || !isObject(received)) return undefined;
  const declaredPart = validator.declaredPart(media, withSentMembers(received, sent));
  return differenceOf(media.outline, sent, received, declaredPart, '');
}

function withSentMembers(received: unknown, sent: unknown): unknown {
  if (Array.isArray(sent) && Array.isArray(received))
    return received.map((item, index) => withSentMembers(item, sent[index]));
  // A response may omit a member that was sent as `null`. It stays missing.
  if (!isObject(sent) || !isObject(received)) return received ?? sent ?? received;
  const added = Object.entries(sent).map(([name, member]) => [
    name,
    withSentMembers(received[name], member),
  ]);
  return { ...received, ...Object.fromEntries(added) };
}

/**
 * @param declaredPart the received value, completed with sent members that are missing there, and
 *   without undeclared members. `undefined` if this value is invalid.
 */
function differenceOf(
  outline: Outline,
  sent: unknown,
  received: unknown,
  declaredPart: unknown,
  path: string,
): string | undefined {
  const isList = Array.isArray(sent) && Array.isArray(received) && sent.length === received.length;
  if (isList || (isObject(sent) && isObject(received))) {
    for (const [name, member] of Object.entries(sent)) {
      const inner = isList ? outline.item(Number(name)) : outline.member(name);
      const isDropped = isObject(declaredPart) && !Object.hasOwn(declaredPart, name);
      if ((!isList && !inner.isDescribed) || inner.isOneWay || isDropped) continue;
      const [receivedMember, declaredMember] = [received, declaredPart].map(
        (value) => Object(value)[name],
      );
      const place = `${path}/${name}`;
      const difference = differenceOf(inner, member, receivedMember, declaredMember, place);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  // A response may have an object or a list in place of a scalar, or an object or a scalar in place
  // of a list. Such values are not compared.
  const isOtherType =
    !isObject(sent) && (isObject(received) || Array.isArray(received) !== Array.isArray(sent));
  const isPresent = received !== undefined && received !== null;
  if (isEqualScalar(sent, received) || (isOtherType && isPresent)) return undefined;
  const start = excerptStart(sent, received);
  return `${path} was sent as ${excerptOf(sent, start)}, and is ${excerptOf(received, start)}`;
}

/** Returns the index at which excerpts in a message start, to include the first difference. */
function excerptStart(sent: unknown, received: unknown): number {
  if (typeof sent !== 'string' || typeof received !== 'string') return 0;
  const length = Math.min(sent.length, received.length);
  let same = 0;
  while (same < length && sent[same] === received[same]) same += 1;
  return same < 90 ? 0 : same - 20;
}

function excerptOf(value: unknown, start: number): string {
  const shown = typeof value === 'string' && start > 0 ? `…${value.slice(start)}` : value;
  return stringifyJson(shown)?.slice(0, 100) ?? 'missing';
}

/**
 * Returns true if a scalar equals the sent scalar. A missing value equals `null`, and a time equals
 * the same time in another time zone.
 */
export function isEqualScalar(sent: unknown, received: unknown): boolean {
  if (sent === received) return true;
  if (sent === null) return received === undefined;
  if (isTime(sent) && isTime(received)) return Date.parse(sent) === Date.parse(received);
  // A bigint equals the number of the same value.
  // biome-ignore lint/suspicious/noDoubleEquals: compares two types of numbers
  return isNumber(sent) && isNumber(received) && sent == received;
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/i.test(value);

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/**
 * Returns the name of a member that a request to another resource has changed: one that got the
 * same value, or a text that no longer has its own. Other members may follow from rules of the
 * service, such as a `position` or an `isDefault`.
 *
 * @param written the members that the request changed in its own resource.
 */
export function changedWith(
  outline: Outline,
  written: Json,
  before: Json,
  after: Json,
): string | undefined {
  return Object.keys(before).find((name) => {
    const [former, current] = [before[name], after[name]];
    if (!Object.hasOwn(written, name) || isDeepStrictEqual(former, current)) return false;
    const { constants, formats } = outline.member(name);
    const isText = typeof former === 'string' && constants.length + formats.length === 0;
    const isCopied = isDeepStrictEqual(current, written[name]) && typeof former !== 'boolean';
    return isText || isCopied;
  });
}
