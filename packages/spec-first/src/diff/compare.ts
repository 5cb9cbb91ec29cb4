import {
  asObject,
  type Document,
  escapePointerToken,
  type Json,
  pointerTokens,
} from 'openapi-document';
import { documentPart, type Members, Part, suffices, textOf } from './parts.ts';

/** A difference between two documents in one place. */
export interface Difference {
  readonly text: string;
  readonly pointer: string;
  /** True if only the former document has the place. */
  readonly isRemoved: boolean;
  /** The names of the operations that contain the place. */
  readonly operations: readonly string[];
  /** Operation Objects that differ in this only, for oasdiff. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

type Direction = 'request' | 'response';

/** Writes an Operation Object with members of a part only. `undefined` if there is no operation. */
type Write = (members: Members, directions: ReadonlySet<Direction>) => Json | undefined;

/** The same part in both documents. */
interface Pair {
  readonly parts: readonly [former: Part, current: Part];
  readonly versions: readonly [former: Members, current: Members];
  readonly write: Write;
  /** The parts around it, and the keyword and the name of the part in them. */
  readonly outer: { readonly pair: Pair; readonly key: string; readonly name: string }[];
}

/**
 * Returns the differences that may matter to clients, or to receivers of webhooks. A schema that is
 * part of several others is listed with each of them.
 */
export function differencesBetween(before: Document, after: Document): Difference[] {
  const pairs = new Map<Json, Map<Json, Pair>>();
  pairOf(documentPart(before), documentPart(after), writeOperation);
  return [...pairs.values()].flatMap((byFormer) => [...byFormer.values()].flatMap(differencesIn));

  /** Pairs the parts inside the parts, too. A component is paired once. */
  function pairOf(former: Part, current: Part, write: Write): Pair {
    const byFormer = pairs.get(current.source) ?? new Map<Json, Pair>();
    pairs.set(current.source, byFormer);
    const existing = byFormer.get(former.source);
    if (existing !== undefined) return existing;
    const versions = [former.members(), current.members()] as const;
    const pair: Pair = { parts: [former, current], versions, write, outer: [] };
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
      const isSchema = write === writeSchema || /schema$/i.test(key);
      const writeInner: Write = (members, directions) => {
        const json = { ...one.json, ...toJson(members) };
        return write({ [key]: name === undefined ? json : new Map([[name, json]]) }, directions);
      };
      const inner = pairOf(one, other, isSchema ? writeSchema : writeInner);
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
    if (isWhole || members.size + others.size === 0)
      return difference(pair, key, '', [one, other], [one, other]);
    const names = new Set([...members.keys(), ...others.keys()]);
    return [...names].flatMap((name) => {
      const rest = LISTS.test(key) ? [...members].filter(([each]) => each !== name) : [];
      const lists = [members, others].map((list) => {
        const value = list.get(name);
        return new Map(value === undefined ? rest : [...rest, [name, value]]);
      });
      const values = [members.get(name), others.get(name)];
      return difference(pair, key, name, values, lists);
    });
  });
}

/** @param lists the values that oasdiff compares. */
function difference(
  pair: Pair,
  key: string,
  name: string,
  values: readonly unknown[],
  lists: readonly unknown[],
): Difference[] {
  const [former, current] = values.map(describe);
  if (former === current) return [];
  // Nothing depends on what is new here.
  if (former === undefined && /^(base path|security scheme|credentials|discriminator)$/.test(key))
    return [];
  const requirements = membersOf(pair.versions[1].credentials);
  if (key === 'credentials' && suffices(values[0], requirements)) return [];
  const version = current === undefined ? 0 : 1;
  const value = values[version];
  const { pointer } = pair.parts[version];
  const inner = value instanceof Part ? value.pointer : '';
  const isPlace = inner !== '' && (SHARED.test(key) || !COMPONENT.test(inner));
  const place = isPlace ? inner : `${pointer}/${key}/${escapePointerToken(name)}`;
  const { operations, directions } = usersOf(pair);
  const [before, after] = lists.map((list) => pair.write({ [key]: list }, directions));
  const title = place.startsWith(pointer) ? titleOf(pair) : titleAt(place);
  const label =
    key === 'operations' ? titleAt(place) : name === '' ? key : `${NOUNS[key] ?? key} ${name}`;
  return [
    {
      text: `${title && `${title}: `}${textFor(label, former, current)}`,
      pointer: place,
      isRemoved: version === 0,
      operations: operations.filter((operation) => !title.startsWith(operation)),
      before,
      after,
    },
  ];
}

/** Keywords of parts that may be components. */
const SHARED = /^(operations|base path|credentials|parameters|requestBody|responses|headers)$/;

/** Keywords whose values oasdiff compares as lists. */
const LISTS = /^(enum|oneOf|anyOf|extensions|prefixItems|mapping)$/;

const COMPONENT = /^\/components\/[^/]*\/[^/]*$/;

const NOUNS: Readonly<Record<string, string>> = {
  ...{ properties: 'property', enum: 'value', oneOf: 'alternative', anyOf: 'alternative' },
  ...{ responses: 'response', parameters: 'parameter', headers: 'header', content: 'media type' },
  ...{ prefixItems: 'item', mapping: 'discriminator value', extensions: 'extension' },
};

/** Returns the canonical form, or `undefined` if nothing is said. */
function describe(value: unknown): string | undefined {
  if (value instanceof Part) return value.json.required === true ? 'required' : 'optional';
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

/** Returns the operations with a part, and whether requests or responses contain it. */
function usersOf(start: Pair) {
  const operations: string[] = [];
  const directions = new Set<Direction>();
  const visited = new Set([start]);
  for (const { parts, outer } of visited)
    for (const { pair, key } of outer) {
      visited.add(pair);
      if (key === 'operations') operations.push(titleAt(parts[1].pointer));
      if (!/^(parameters|requestBody|responses)$/.test(key)) continue;
      // The service sends the requests of webhooks and callbacks.
      const isSent = !/^\/paths\/[^/]*\/[^/]*$/.test(pair.parts[1].pointer);
      directions.add((key === 'responses') === isSent ? 'request' : 'response');
    }
  return { operations, directions };
}

/** Writes members as oasdiff reads them. */
function toJson(members: Members): Json {
  const entries = Object.entries(members).flatMap(([key, value]): [string, unknown][] => {
    const name = RENAMED[key] ?? key;
    if (value instanceof Part) return [[name, value.json]];
    if (!(value instanceof Map)) return [[name, value]];
    const list = [...value].map(
      ([each, member]) => [each, member instanceof Part ? member.json : member] as const,
    );
    const values = list.map(([, member]) => member);
    if (key === 'properties') {
      const required = list.filter(([, json]) => json.required === true).map(([each]) => each);
      const schemas = list.map(([each, json]) => [each, { ...json, required: undefined }]);
      return [
        ['properties', Object.fromEntries(schemas)],
        ['required', required],
      ];
    }
    if (LISTS.test(key)) return [[name, values.length > 0 ? values : undefined]];
    return [[name, key === 'parameters' ? values : Object.fromEntries(list)]];
  });
  return Object.fromEntries(entries);
}

/** The names that oasdiff reads. It ignores extensions. */
const RENAMED: Readonly<Record<string, string>> = {
  mapping: 'enum',
  extensions: 'oneOf',
  credentials: 'x-credentials',
  'base path': 'x-base-path',
  discriminator: 'x-discriminator',
  serialization: 'x-serialization',
  encoding: 'x-encoding',
};

/** Writes keywords of a schema as those of a property of the bodies. */
function writeSchema(members: Members, directions: ReadonlySet<Direction>): Json {
  const schema = { properties: { value: toJson(members) } };
  const content = { 'application/json': { schema } };
  return {
    ...(directions.has('request') && { requestBody: { content } }),
    responses: directions.has('response') ? { 200: { description: '', content } } : {},
  };
}

/** Writes the first operation, or the only one that differs. */
function writeOperation({ operations }: Members): Json | undefined {
  const [operation] = membersOf(operations).values();
  if (operation === undefined) return undefined;
  return operation instanceof Part ? operation.json : asObject(operation);
}
