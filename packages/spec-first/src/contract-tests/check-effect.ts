import {
  declaredFor,
  isObject,
  type Json,
  mediaTypeFor,
  type Operation,
  type Outline,
  stringifyJson,
} from 'openapi-document';
import { CheckError, type CheckedOperation, parsedBody } from './check-response.ts';
import { type CheckRunner, sendTo, type Target } from './check-runner.ts';
import type { ReceivedResponse } from './client.ts';
import {
  type RequestPart,
  type RequestValues,
  requestPartsOf,
  valuesByName,
} from './request-parts.ts';
import { collectionPathOf, resourcePathOf } from './resource-names.ts';

/** The maximum number of GET requests that check the effects of one operation. */
const MAX_READINGS = 10;

/**
 * Returns a function that checks the effect of a successful request. The sent members must be in
 * the response and in a later response to GET. A GET of a deleted resource must get 404 or 410.
 *
 * @param target `reader` is the GET operation of the resource.
 */
export function createEffectCheck(
  target: Target & { readonly reader: Target | undefined },
  runner: CheckRunner,
) {
  const { operation } = target;
  const reader = target.reader && { ...target.reader, ...requestPartsOf(target.reader) };
  const isDeletion = operation.method === 'delete';
  const isChange = ['post', 'put', 'patch'].includes(operation.method);
  let readings = 0;

  return async (
    values: RequestValues,
    response: ReceivedResponse,
    resourcePaths: ReadonlyMap<string, Json>,
  ): Promise<void> => {
    const sent = valuesByName(values, 'body')[''];
    if (isChange) {
      const check = () => checkStored(target, sent, response, 'the response');
      await runner.runCheck({ values }, response, check);
    } else if (!isDeletion) return;

    if (reader === undefined || readings >= MAX_READINGS) return;
    const resourcePath = isDeletion
      ? valuesByName(values, 'path')
      : resourcePaths.get(resourcePathOf(reader.operation.path));
    if (resourcePath === undefined) return;
    const readerValues = new Map<RequestPart, unknown>();
    for (const part of reader.parameters) {
      if (part.in === 'path') readerValues.set(part, resourcePath[part.name]);
      else if (part.required) readerValues.set(part, part.samples[0] ?? part.examples[0]);
    }
    readings += 1;
    const readResponse = await sendTo(reader, readerValues);
    const check = () =>
      isDeletion ? checkGone(readResponse) : checkReadable(reader, sent, readResponse);
    await runner.runCheck({ values }, readResponse, check);
  };
}

function checkGone({ status }: ReceivedResponse): void {
  // The test of the GET operation reports a 5xx.
  if (status === 404 || status === 410 || status >= 500) return;
  throw new CheckError(
    'a deleted resource is gone',
    `GET after the deletion has the status ${status}, not 404 or 410`,
  );
}

function checkReadable(reader: CheckedOperation, sent: unknown, response: ReceivedResponse): void {
  if (response.status === 404 || response.status === 410) {
    const { pathname } = new URL(response.url);
    const message = `GET ${pathname} has the status ${response.status} for a stored resource`;
    throw new CheckError('a change is stored', message);
  }
  checkStored(reader, sent, response, `GET ${reader.operation.path}`);
}

/**
 * Checks that a response contains the sent members, at each level. Ignores members that the schema
 * of the response does not declare, such as those of another alternative of a union. Also ignores
 * `readOnly` and `writeOnly` members.
 *
 * @throws {CheckError}
 */
function checkStored(
  { operation, validator }: CheckedOperation,
  sent: unknown,
  response: ReceivedResponse,
  responseName: string,
): void {
  const received = parsedBody(response);
  const declared = declaredFor(operation, response.status);
  const media = declared && mediaTypeFor(declared.media, response.headers['content-type'] ?? '');
  if (media === undefined || !isObject(sent) || !isObject(received)) return;
  const declaredPart = validator.declaredPart(media, withSentMembers(received, sent));
  const difference = differenceOf(media.outline, sent, received, declaredPart, '');
  if (difference === undefined) return;
  throw new CheckError('a change is stored', `${difference} in ${responseName}`);
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
 * Describes the first difference between the sent and the received value. Returns `undefined` if
 * there is none.
 *
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
      const difference = differenceOf(
        inner,
        member,
        receivedMember,
        declaredMember,
        `${path}/${name}`,
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  // A response may have an object or a list in place of a scalar, or an object or a scalar in place
  // of a list. Such values are not compared.
  const isOtherType =
    !isObject(sent) && (isObject(received) || Array.isArray(received) !== Array.isArray(sent));
  if (
    isEqualScalar(sent, received) ||
    (isOtherType && received !== undefined && received !== null)
  ) {
    return undefined;
  }
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
function isEqualScalar(sent: unknown, received: unknown): boolean {
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

/** Returns the GET operation of the resource that an operation creates, changes or deletes. */
export function readerOf(
  operation: Operation,
  operations: readonly Operation[],
): Operation | undefined {
  const isResource =
    operation.method === 'post'
      ? ({ path }: Operation) =>
          path === resourcePathOf(path) && collectionPathOf(path) === operation.path
      : ({ path }: Operation) => path === operation.path;
  return operations.find((other) => other.method === 'get' && isResource(other));
}
