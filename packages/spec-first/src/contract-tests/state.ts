import {
  declaredFor,
  isObject,
  type Json,
  mediaTypeFor,
  type Operation,
  schemas,
  stringifyJson,
} from 'openapi-document';
import { type CheckedOperation, Fault, parsedBody } from './checks.ts';
import type { ReceivedResponse } from './client.ts';
import { collectionOf, resourceOf } from './order.ts';
import { namedIn, type Part, partsOf, type Values } from './parts.ts';
import { type Probe, sendTo, type Target } from './probe.ts';

/** The maximum number of changes of an operation that are read again. */
const MAX_READINGS = 10;

/**
 * Returns a function that checks the effect of a successful request. The sent members must be in
 * the reply and in a later response to GET. A deleted resource must be gone.
 *
 * @param target `reader` is the operation that reads the resource that this one changes.
 */
export function stateChecks(
  target: Target & { readonly reader: Target | undefined },
  probe: Probe,
) {
  const { operation } = target;
  const reader = target.reader && { ...target.reader, ...partsOf(target.reader) };
  const isDeletion = operation.method === 'delete';
  const isChange = ['post', 'put', 'patch'].includes(operation.method);
  let readings = 0;

  return async (
    values: Values,
    answer: ReceivedResponse,
    resourcePaths: ReadonlyMap<string, Json>,
  ): Promise<void> => {
    const sent = namedIn(values, 'body')[''];
    if (isChange) {
      const check = () => checkStored(target, sent, answer, 'the reply');
      await probe.runCheck({ values }, answer, check);
    } else if (!isDeletion) return;

    if (reader === undefined || readings >= MAX_READINGS) return;
    const resourcePath = isDeletion
      ? namedIn(values, 'path')
      : resourcePaths.get(resourceOf(reader.operation.path));
    if (resourcePath === undefined) return;
    const read = new Map<Part, unknown>();
    for (const part of reader.parameters) {
      if (part.in === 'path') read.set(part, resourcePath[part.name]);
      else if (part.required) read.set(part, part.samples[0] ?? part.examples[0]);
    }
    readings += 1;
    const reading = await sendTo(reader, read);
    const check = () => (isDeletion ? checkGone(reading) : checkReadable(reader, sent, reading));
    await probe.runCheck({ values }, reading, check);
  };
}

/**
 * Checks that a deleted resource cannot be read.
 *
 * @throws {Fault}
 */
function checkGone({ status }: ReceivedResponse): void {
  // The tests of the GET operation report a 5xx.
  if (status === 404 || status === 410 || status >= 500) return;
  throw new Fault(
    'a deleted resource is gone',
    `GET after the deletion has the status ${status}, not 404 or 410`,
  );
}

/**
 * Checks that a stored resource can be read, and has the members that were sent.
 *
 * @throws {Fault}
 */
function checkReadable(reader: CheckedOperation, sent: unknown, answer: ReceivedResponse): void {
  const title = `GET ${reader.operation.path}`;
  if (answer.status === 404 || answer.status === 410) {
    const message = `${title} has the status ${answer.status} for a stored resource`;
    throw new Fault('a change is stored', message);
  }
  checkStored(reader, sent, answer, title);
}

/**
 * Checks that a reply contains the members that were sent, at each level. Members that the schema
 * of the reply does not declare are ignored, such as those of another alternative of a union.
 *
 * @param place names the reply in messages.
 * @throws {Fault}
 */
function checkStored(
  { root, operation, validator }: CheckedOperation,
  sent: unknown,
  answer: ReceivedResponse,
  place: string,
): void {
  const received = parsedBody(answer);
  const declared = declaredFor(operation, answer.status);
  const media = declared && mediaTypeFor(declared.media, answer.headers['content-type'] ?? '');
  if (media?.kind !== 'json' || !isObject(sent) || !isObject(received)) return;
  const declaredPart = validator.declaredPart(media, withMembers(received, sent));
  const difference = differenceOf(root, [media.schema], sent, received, declaredPart, '');
  if (difference === undefined) return;
  throw new Fault('a change is stored', `${difference} in ${place}`);
}

/** Adds the sent members that a reply lacks, at each level. */
function withMembers(received: unknown, sent: unknown): unknown {
  if (Array.isArray(sent) && Array.isArray(received))
    return received.map((item, index) => withMembers(item, sent[index]));
  // A reply may omit `null`.
  if (!isObject(sent) || !isObject(received)) return received ?? sent ?? undefined;
  const added = Object.entries(sent).map(([name, member]) => [
    name,
    withMembers(received[name], member),
  ]);
  return { ...received, ...Object.fromEntries(added) };
}

/**
 * Describes the first difference from the sent value. Returns `undefined` if there is none.
 *
 * @param declaredPart the value without undeclared members, if it is known.
 */
function differenceOf(
  root: Json,
  valueSchemas: readonly unknown[],
  sent: unknown,
  received: unknown,
  declaredPart: unknown,
  path: string,
): string | undefined {
  const isList = Array.isArray(sent) && Array.isArray(received) && sent.length === received.length;
  if (isList || (isObject(sent) && isObject(received))) {
    for (const [name, member] of Object.entries(sent)) {
      const declared = valueSchemas
        .flatMap((schema) =>
          isList
            ? schemas.ofItem(root, schema, Number(name))
            : schemas.ofProperty(root, schema, name),
        )
        .filter(isObject);
      const isOneWay = declared
        .flatMap((schema) => schemas.allOf(root, schema))
        .some(({ readOnly, writeOnly }) => readOnly === true || writeOnly === true);
      const isDropped = isObject(declaredPart) && !Object.hasOwn(declaredPart, name);
      if ((!isList && declared.length === 0) || isOneWay || isDropped) continue;
      const [other, part] = [received, declaredPart].map((value) => Object(value)[name]);
      const difference = differenceOf(root, declared, member, other, part, `${path}/${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  // The reply may use another type, such as an object for a string. Such members are not compared.
  const isOther =
    !isObject(sent) && (isObject(received) || Array.isArray(received) !== Array.isArray(sent));
  if (isSame(sent, received) || (isOther && received !== undefined && received !== null)) {
    return undefined;
  }
  return `${path} was sent as ${excerptOf(sent)}, and is ${excerptOf(received)}`;
}

const excerptOf = (value: unknown): string => stringifyJson(value)?.slice(0, 100) ?? 'missing';

/**
 * Returns true if a scalar equals the sent scalar. `null` may be omitted, and a time may be written
 * in another time zone.
 */
function isSame(sent: unknown, received: unknown): boolean {
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

/** Returns the operation that reads the resource that another operation creates or changes. */
export function readerOf(
  operation: Operation,
  operations: readonly Operation[],
): Operation | undefined {
  const isResource =
    operation.method === 'post'
      ? ({ path }: Operation) => path === resourceOf(path) && collectionOf(path) === operation.path
      : ({ path }: Operation) => path === operation.path;
  return operations.find((other) => other.method === 'get' && isResource(other));
}
