import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, type Json, type Outline, stringifyJson } from 'openapi-document';

/**
 * Describes the first difference between a sent and a shown value, at each level. Ignores members
 * that the shown form does not declare, and `readOnly` and `writeOnly` ones. Returns `undefined`
 * without a difference, and for values that are neither two objects nor two lists.
 *
 * @param outline the form of the shown value.
 * @param omitsNull true if a missing member, or one with its default, may stand for `null`. It may
 *   do so anyway where the shown form does not allow `null`.
 */
export const differenceOf = (
  outline: Outline,
  sent: unknown,
  shown: unknown,
  omitsNull = true,
): string | undefined =>
  (isObject(sent) && isObject(shown)) || (Array.isArray(sent) && Array.isArray(shown))
    ? differenceAt(outline, sent, shown, omitsNull, '')
    : undefined;

/** Returns the object in a body that contains nothing else, with its name: `{ "task": { … } }`. */
export function onlyObjectIn(
  body: unknown,
): { readonly name: string; readonly inner: Json } | undefined {
  const [[name = '', inner] = [], ...others] = Object.entries(asObject(body));
  return others.length === 0 && isObject(inner) ? { name, inner } : undefined;
}

/** Returns the pointer of a `writeOnly` member that a response shows as it was sent. */
export function shownWriteOnly(
  outline: Outline,
  sent: unknown,
  shown: unknown,
): string | undefined {
  for (const [name, value] of Object.entries(asObject(sent))) {
    const member = outline.member(name);
    const other = asObject(shown)[name];
    if (member.isOneWay && other !== undefined && isDeepStrictEqual(value, other))
      return `/${name}`;
    const inner = isObject(value) ? shownWriteOnly(member, value, other) : undefined;
    if (inner !== undefined) return `/${name}${inner}`;
  }
  return undefined;
}

function differenceAt(
  outline: Outline,
  sent: unknown,
  received: unknown,
  omitsNull: boolean,
  path: string,
): string | undefined {
  const isList = Array.isArray(sent) && Array.isArray(received) && sent.length === received.length;
  if (isList || (isObject(sent) && isObject(received))) {
    for (const [name, member] of Object.entries(sent)) {
      const inner = isList ? outline.item(Number(name)) : outline.member(name);
      if ((!isList && !inner.isDescribed) || inner.isOneWay) continue;
      const other = Object(received)[name];
      const difference = differenceAt(inner, member, other, omitsNull, `${path}/${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  // A response may have an object or a list in place of a scalar, or an object or a scalar in place
  // of a list. Such values are not compared.
  const isOtherType =
    !isObject(sent) && (isObject(received) || Array.isArray(received) !== Array.isArray(sent));
  const isPresent = received !== undefined && received !== null;
  const forbidsNull = outline.hasTypes && !outline.types.has('null');
  const isLeftOut =
    sent === null &&
    (omitsNull || forbidsNull) &&
    [undefined, ...outline.defaults].includes(received);
  if (isLeftOut || isEqualScalar(sent, received) || (isOtherType && isPresent)) return undefined;
  return `${path} was sent as ${excerptOf(sent)}, and is ${excerptOf(received)}`;
}

/** Returns the beginning of the text of a value. */
export const excerptOf = (value: unknown, length?: number): string =>
  shortened(stringifyJson(value) ?? 'missing', length);

/** Returns the beginning of a text. */
export const shortened = (text: string, length = 100): string =>
  text.length > length ? `${text.slice(0, length)}… (${text.length} characters)` : text;

/** Returns true for equal scalars. A time equals the same time in another time zone. */
export function isEqualScalar(sent: unknown, received: unknown): boolean {
  if (sent === received) return true;
  if (isTime(sent) && isTime(received)) return Date.parse(sent) === Date.parse(received);
  // A bigint equals the number of the same value.
  // biome-ignore lint/suspicious/noDoubleEquals: compares two types of numbers
  return isNumber(sent) && isNumber(received) && sent == received;
}

export const isTime = (value: unknown): value is string =>
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
export const changedWith = (
  outline: Outline | undefined,
  written: Json,
  before: Json,
  after: Json,
): string | undefined =>
  changedNames(before, after).find((name) => {
    if (!Object.hasOwn(written, name)) return false;
    const { constants, formats } = outline?.member(name) ?? { constants: [], formats: [] };
    const isText = typeof before[name] === 'string' && constants.length + formats.length === 0;
    return isText || isDeepStrictEqual(after[name], written[name]);
  });

/** Lists the members that differ. */
export const changedNames = (before: Json, after: Json): string[] =>
  Object.keys({ ...before, ...after }).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );

/**
 * Returns the members that a service adds to a sent value, also inside of objects: the defaults. It
 * may leave out an empty one.
 *
 * @param filled the sent value with its defaults.
 */
export function unsentDefaults(filled: unknown, sent: unknown, shown: unknown): unknown {
  if (Array.isArray(filled) && Array.isArray(shown) && filled.length === shown.length)
    return filled.map((item, index) => unsentDefaults(item, Object(sent)[index], shown[index]));
  if (!isObject(filled) || !isObject(sent) || !isObject(shown)) return shown;
  const entries = Object.entries(filled).flatMap(([name, value]): [string, unknown][] => {
    if (Object.hasOwn(sent, name))
      return isObject(value) || Array.isArray(value)
        ? [[name, unsentDefaults(value, sent[name], shown[name])]]
        : [];
    return shown[name] === undefined && isEmpty(value) ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && Object.keys(value ?? {}).length === 0;

/**
 * Returns the members that a patch may change, but does not name. In a merge patch (RFC 7396), also
 * inside of objects.
 */
export function unchangedMembers(
  outline: Outline,
  before: unknown,
  patch: Json,
  isMerge: boolean,
): Json {
  const members = Object.entries(asObject(before)).flatMap(([name, value]): [string, unknown][] => {
    if (!outline.member(name).isDescribed) return [];
    if (!Object.hasOwn(patch, name)) return [[name, value]];
    const inner = patch[name];
    return isMerge && isObject(inner) && isObject(value)
      ? [[name, unchangedMembers(outline.member(name), value, inner, true)]]
      : [];
  });
  return Object.fromEntries(members);
}
