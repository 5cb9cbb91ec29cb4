import { type Document, escapePointerToken, type Json, pointerTokens } from 'openapi-document';
import { documentPart, type Members, Part, suffices, textOf } from './parts.ts';
import { type Direction, type Rating, rate } from './rating.ts';

/** A difference between two documents in one place. */
export interface Difference extends Rating {
  readonly text: string;
  readonly pointer: string;
  /** True if only the former document has the place. */
  readonly isRemoved: boolean;
  /** The names of the operations that contain the place. */
  readonly operations: readonly string[];
}

/** The same part in both documents. */
interface Pair {
  readonly parts: readonly [former: Part, current: Part];
  readonly versions: readonly [former: Members, current: Members];
  /** The parts around it, and the keyword and the name of the part in them. */
  readonly outer: { readonly pair: Pair; readonly key: string; readonly name: string }[];
}

/**
 * Returns the differences that may matter to clients, or to receivers of webhooks. A schema that is
 * part of several others is listed with each of them.
 */
export function differencesBetween(before: Document, after: Document): Difference[] {
  const pairs = new Map<Json, Map<Json, Pair>>();
  pairOf(documentPart(before), documentPart(after));
  return [...pairs.values()].flatMap((byFormer) => [...byFormer.values()].flatMap(differencesIn));

  /** Pairs the parts inside the parts, too. A component is paired once. */
  function pairOf(former: Part, current: Part): Pair {
    const byFormer = pairs.get(current.source) ?? new Map<Json, Pair>();
    pairs.set(current.source, byFormer);
    const existing = byFormer.get(former.source);
    if (existing !== undefined) return existing;
    const versions = [former.members(), current.members()] as const;
    const pair: Pair = { parts: [former, current], versions, outer: [] };
    byFormer.set(former.source, pair);
    for (const [key, value] of Object.entries(versions[1])) {
      const earlier = versions[0][key];
      pairInner(key, undefined, earlier, value);
      for (const [name, member] of membersOf(value))
        pairInner(key, name, membersOf(earlier).get(name), member);
    }
    return pair;

    function pairInner(key: string, name: string | undefined, one: unknown, other: unknown) {
      if (!(one instanceof Part && other instanceof Part)) return;
      const inner = pairOf(one, other);
      inner.outer.push({ pair, key, name: name ?? key });
    }
  }
}

const membersOf = (value: unknown): ReadonlyMap<string, unknown> =>
  value instanceof Map ? value : new Map();

/** Compares what two parts say themselves. */
function differencesIn(pair: Pair): Difference[] {
  const [former, current] = pair.versions;
  return Object.keys({ ...former, ...current }).flatMap((key) => {
    const [one, other] = [former[key], current[key]];
    const [members, others] = [membersOf(one), membersOf(other)];
    // Without `enum`, every value is allowed.
    const isWhole = LISTS.test(key) && (members.size === 0 || others.size === 0);
    if (isWhole || members.size + others.size === 0) return difference(pair, key, '', one, other);
    const names = new Set([...members.keys(), ...others.keys()]);
    return [...names].flatMap((name) =>
      difference(pair, key, name, members.get(name), others.get(name)),
    );
  });
}

function difference(
  pair: Pair,
  key: string,
  name: string,
  former: unknown,
  current: unknown,
): Difference[] {
  const [formerText, currentText] = [former, current].map(describe);
  if (formerText === currentText) return [];
  // Nothing depends on what is new here.
  if (
    formerText === undefined &&
    /^(base path|security scheme|credentials|discriminator)$/.test(key)
  )
    return [];
  const requirements = membersOf(pair.versions[1].credentials);
  if (key === 'credentials' && suffices(former, requirements)) return [];
  const version = currentText === undefined ? 0 : 1;
  const value = version === 0 ? former : current;
  const { pointer } = pair.parts[version];
  const inner = value instanceof Part ? value.pointer : '';
  const isPlace = inner !== '' && (SHARED.test(key) || !COMPONENT.test(inner));
  const place = isPlace ? inner : `${pointer}/${key}/${escapePointerToken(name)}`;
  const { operations, directions } = usersOf(pair, key);
  const title = place.startsWith(pointer) ? titleOf(pair) : titleAt(place);
  const label =
    key === 'operations' ? titleAt(place) : name === '' ? key : `${NOUNS[key] ?? key} ${name}`;
  const change = {
    ...{ key, name },
    former: formerText === undefined ? undefined : former,
    current: currentText === undefined ? undefined : current,
  };
  return [
    {
      text: `${title && `${title}: `}${textFor(label, formerText, currentText)}`,
      pointer: place,
      isRemoved: version === 0,
      operations: operations.filter((operation) => !title.startsWith(operation)),
      ...rate(change, directions),
    },
  ];
}

/** Keywords of parts that may be components. */
const SHARED = /^(operations|base path|credentials|parameters|requestBody|responses|headers)$/;

/** Keywords that allow all values if they are missing. */
const LISTS = /^(enum|oneOf|anyOf|extensions|prefixItems|mapping)$/;

const COMPONENT = /^\/components\/[^/]*\/[^/]*$/;

const NOUNS: Readonly<Record<string, string>> = {
  ...{ properties: 'property', enum: 'value', oneOf: 'alternative', anyOf: 'alternative' },
  ...{ responses: 'response', parameters: 'parameter', headers: 'header', content: 'media type' },
  ...{ prefixItems: 'item', mapping: 'discriminator value', extensions: 'extension' },
};

/** Returns the canonical form, or `undefined` if nothing is said. */
function describe(value: unknown): string | undefined {
  if (value instanceof Part) return value.isRequired ? 'required' : 'optional';
  if (value instanceof Map) return [...value.keys()].toSorted().join(', ') || undefined;
  if (Array.isArray(value)) return value.map(textOf).join(' or ');
  return value === undefined ? undefined : textOf(value);
}

function textFor(label: string, former: string | undefined, current: string | undefined): string {
  if (former !== undefined && current !== undefined)
    return `${label} changed from ${former} to ${current}`;
  const value = former ?? current ?? '';
  const isNew = value !== 'optional' && !label.endsWith(value);
  return `${label}${isNew ? ` (${value})` : ''} was ${current === undefined ? 'removed' : 'added'}`;
}

/** Names an operation or a component by its pointer. */
function titleAt(pointer: string): string {
  const [top, group = '', name = ''] = pointerTokens(pointer);
  return top === 'components' ? name : `${name.toUpperCase()} ${group}`.trim();
}

/** Names a part: `Plant.tag`, or `POST /plants requestBody`. */
function titleOf({ parts, outer: [around] }: Pair): string {
  const { pointer } = parts[1];
  const isNamed = COMPONENT.test(pointer);
  if (around === undefined || around.key === 'operations' || isNamed) return titleAt(pointer);
  const { pair, key, name } = around;
  if (/schema$/i.test(key)) return titleOf(pair);
  return `${titleOf(pair)}${key === 'properties' ? '.' : ' '}${name}`;
}

/** Returns the operations with a keyword of a part, and the messages that contain it. */
function usersOf(start: Pair, keyword: string) {
  const operations: string[] = [];
  const directions = new Set<Direction>();
  const visited = new Set([start]);
  const addDirection = (pair: Pair, key: string) => {
    if (!/^(parameters|requestBody|responses)$/.test(key)) return;
    // The service sends the requests of webhooks and callbacks.
    const isSent = !/^\/paths\/[^/]*\/[^/]*$/.test(pair.parts[1].pointer);
    directions.add((key === 'responses') === isSent ? 'request' : 'response');
  };
  addDirection(start, keyword);
  for (const { parts, outer } of visited)
    for (const { pair, key } of outer) {
      visited.add(pair);
      if (key === 'operations') operations.push(titleAt(parts[1].pointer));
      // Values that satisfy a schema in `not` are invalid.
      if (/^(not|if)$/.test(key)) directions.add('request').add('response');
      addDirection(pair, key);
    }
  return { operations, directions };
}
