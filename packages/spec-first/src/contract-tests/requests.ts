import {
  asObject,
  isJsonType,
  isObject,
  isRange,
  type Json,
  mapMembers,
  type Outline,
  onFirstUse,
  pointerTokens,
  stringifyJson,
  type Violation,
} from 'openapi-document';
import { chosenValue, valuesOf } from 'openapi-document/samples';
import { type CheckedOperation, describeViolations } from './check-response.ts';
import { onlyObjectIn } from './compare.ts';
import type { Knowledge } from './knowledge.ts';
import { idParameterOf } from './names.ts';
import { isCursor } from './paging.ts';
import {
  isTextOrBytes,
  partOf,
  type RequestKind,
  type RequestPart,
  type RequestValues,
  requestKindOf,
  withValue,
} from './parts.ts';
import type { RequestDraft } from './send.ts';
import { type Bound, describeKind, type Variant, valuesBeside, variantsOf } from './variants.ts';

/** A request that violates the document in one place. */
export interface Mistake extends RequestDraft {
  readonly part: RequestPart;
  /** A description of the mistake, such as `a request without a body`. */
  readonly label: string;
  /** The place and the keyword, such as `/body/name maxLength`. */
  readonly key: string;
  /** Returns other values with the same mistake. */
  readonly renewed?: (next: () => number) => RequestValues | undefined;
}

/** A request with another value in one place. */
interface RequestVariant extends Variant {
  readonly kind: RequestKind;
  readonly part: RequestPart;
  readonly values: RequestValues;
  readonly violations: readonly Violation[];
}

/** Unusual values in different places of one request. */
export interface EdgeCases {
  readonly kind: RequestKind;
  readonly edges: readonly RequestVariant[];
}

const MAX_VARIANTS = 2_000;

/** The number of ids that are drawn to find one that is not taken. */
const MAX_TRIES = 5;

/** The number of values that are drawn to find one that is not in use. */
const DRAWS = 300;

/** A schema that makes fewer different values has so few that all of them may be in use. */
const MIN_DISTINCT = 120;

/** The values of one part that variants are made from. The shortest one is the last. */
const MAX_SOURCES = 3;

export const isIfMatch = ({ in: where, name }: RequestPart): boolean =>
  where === 'header' && name.toLowerCase() === 'if-match';

/** The header that makes a POST repeatable (IETF httpapi-idempotency-key-header). */
export const isRepeatKey = ({ in: where, name }: RequestPart): boolean =>
  where === 'header' && name.toLowerCase() === 'idempotency-key';

/** Values of the items of one list: some are equal, or begin with others, or sort differently. */
const NUMBERS = [2, 10, 9, 100, 10, 30, 1];

/** Items with larger numbers than this one could exceed what a service can add up. */
const MAX_BOUND = 1_000;

const TEXTS = ['Alba', 'Al', 'alba moon', 'Al', 'Zoe', 'bal', 'Ål'];
const DATES = ['2024-02-29T23:30:00Z', '2024-03-01T01:00:00+05:30', '2024-02-29T23:30:00.5Z'];

export type Requests = ReturnType<typeof createRequests>;

/**
 * Returns functions that make requests to an operation from its schemas and examples.
 *
 * @param item the path of the resources that the operation creates. Where clients choose their
 *   ids, each request has a new one.
 * @throws {Error} if no valid value is found for a required parameter or body.
 */
export function createRequests(checked: CheckedOperation, item?: string) {
  const { operation, schemas, codecs } = checked;
  const sampleOf = onFirstUse((schema: Json) => [...valuesOf(schemas, schema, 'request').take(1)]);
  // `fetch` sends no body with GET or HEAD.
  const hasBody = !/^(get|head)$/.test(operation.method);
  const media = hasBody ? (operation.requestBody?.media ?? []) : [];
  const kinds = (media.length > 0 ? media : [undefined])
    .map((each) => requestKindOf(checked, each))
    .filter((kind) => kind.samples.length > 0);
  const [firstKind] = kinds;
  if (firstKind === undefined) throw new Error(describeMissing(checked));
  const kindOf = (values: RequestValues) =>
    kinds.find((kind) => kind.media === values.media) ?? firstKind;
  const violations = (values: RequestValues) => kindOf(values).violations(values);
  const isValid = (values: RequestValues) => violations(values)?.length === 0;

  /** Returns values with the required parts: their first examples, or else simple values. */
  function simplest(kind: RequestKind = firstKind as RequestKind): RequestValues {
    const lengthOf = ({ media: _media, ...others }: RequestValues) => sizeOf(others);
    const [smallest] = kind.samples.toSorted((one, other) => lengthOf(one) - lengthOf(other));
    let values = smallest as RequestValues;
    for (const part of kind.parts) {
      const [example] = part.examples;
      const changed = withValue(values, part, part.required ? example : undefined);
      if ((!part.required || example !== undefined) && isValid(changed)) values = changed;
    }
    return values;
  }

  /** Returns values by choice with all members of the body. */
  function full(next: () => number, kind: RequestKind = firstKind as RequestKind): RequestValues {
    const chosen = kind.choose(next);
    const { body } = kind.samples[0] ?? chosen;
    const values = { ...chosen, body: merged(body, chosen.body) };
    return isObject(chosen.body) && isValid(values) ? values : chosen;
  }

  /** Lists the parts that variants are made of, with the kind of their requests. */
  const variedParts = kinds.flatMap((kind, index) =>
    kind.parts
      .filter((part) => !isCursor(part) && (index === 0 || part.in === 'body'))
      .map((part) => ({ kind, part })),
  );

  /** Lists requests with another value in one place, those with short values last. */
  let variants: readonly RequestVariant[] | undefined;
  function listVariants(): readonly RequestVariant[] {
    variants ??= variedParts.flatMap(({ kind, part }) => {
      const base = simplest(kind);
      // The first sample has all members. Examples may have few.
      const [fullest, ...others] = kind.samples.map((values) => partOf(values, part));
      return [fullest, ...part.examples, ...others]
        .filter((value) => value !== undefined)
        .slice(0, MAX_SOURCES)
        .toSorted((one, other) => sizeOf(other) - sizeOf(one))
        .flatMap((value) => [...variantsOf(sampleOf, part.outline, value).take(MAX_VARIANTS)])
        .flatMap((variant) => {
          const values = withValue(base, part, variant.value);
          const found = kind.violations(values);
          return found === undefined ? [] : [{ ...variant, kind, part, values, violations: found }];
        });
    });
    return variants;
  }

  function* structuralMistakes(): Generator<Mistake> {
    for (const { kind, part } of variedParts) {
      const { in: where, name, required } = part;
      const values = simplest(kind);
      const type = kind.media?.type;
      const base = { part, values };
      if (required && where !== 'path') {
        const missing = where === 'body' ? 'a body' : `the ${where} parameter ${name}`;
        const label = `a request without ${missing}`;
        const key = `/${where}/${name} required`;
        yield { ...base, label, key, values: withValue(values, part, undefined) };
      }
      const sent = kind.samples
        .map((sample) => partOf(sample, part))
        .find((body) => body !== undefined);
      if (where !== 'body' || type === undefined || sent === undefined) continue;
      const body = withValue(values, part, sent);
      if (!media.some((each) => isRange(each.type))) {
        const contentType = 'application/x-undeclared';
        const key = '/body Content-Type';
        yield { ...base, label: 'a wrong media type', key, values: body, contentType };
      }
      if (isJsonType(type))
        yield {
          ...{ ...base, label: 'a body that is not JSON', key: '/body JSON' },
          ...{ values: body, rawBody: '{"' },
        };
    }
  }

  /** Returns the place of the id that a client chooses in a body, or in the only object in it. */
  function placeOfId(knowledge: Knowledge, body: unknown): readonly string[] | undefined {
    if (item === undefined) return undefined;
    const memberOf = (entity: unknown) =>
      knowledge.idMemberIn(item, idParameterOf(item), asObject(entity));
    const member = memberOf(body);
    if (member !== undefined) return [member];
    const { name = '', inner } = onlyObjectIn(body) ?? {};
    const innerMember = memberOf(inner);
    return innerMember === undefined ? undefined : [name, innerMember];
  }

  /** Returns a body with a new id, or a mistake would be rejected since the id is taken. */
  function withNewId(
    values: RequestValues,
    body: unknown,
    place: readonly string[] | undefined,
    isTaken: (id: unknown) => boolean,
    next: () => number,
  ): unknown {
    if (place === undefined) return body;
    let id: unknown;
    for (let tries = 0; tries < MAX_TRIES && (id === undefined || isTaken(id)); tries += 1)
      id = place.reduce<unknown>(
        (value, name) => asObject(value)[name],
        kindOf(values).choose(next).body,
      );
    return id === undefined ? body : replacedAt(body, place, id);
  }

  return {
    violations,
    isValid,
    simplest: () => simplest(),
    full: (next: () => number) => full(next),
    /** Values with all parts and members. */
    fullest: firstKind.samples[0] ?? simplest(),
    parameters: firstKind.parts.filter((part) => part.in !== 'body'),
    /** The media types of bodies. */
    media: kinds.flatMap((kind) => kind.media ?? []),

    /** Returns new values with the id of a resource that exists, if clients choose ids. */
    withTakenId(
      values: RequestValues,
      id: unknown,
      knowledge: Knowledge,
    ): RequestValues | undefined {
      const place = placeOfId(knowledge, values.body);
      if (place === undefined) return undefined;
      const taken = { ...values, body: replacedAt(values.body, place, id) };
      return isValid(taken) ? taken : undefined;
    },

    /**
     * Lists valid values of a parameter that are not in use, the longest first. Returns none if the
     * schema has so few values that all of them may be in use.
     */
    unusedValues(part: RequestPart, isUsed: (value: unknown) => boolean, random: () => number) {
      const drawn = Array.from({ length: DRAWS }, () =>
        chosenValue(schemas, part.schema ?? true, 'request', random),
      );
      const distinct = [...new Set(drawn)];
      if (distinct.length < MIN_DISTINCT) return [];
      return distinct
        .filter((value) => !isUsed(value) && isValid(withValue(simplest(), part, value)))
        .toSorted((one, other) => `${other}`.length - `${one}`.length);
    },

    /** The number of requests that send each example once. */
    exampleCount:
      kinds.length *
      Math.max(1, ...kinds.flatMap(({ parts }) => parts.map(({ examples }) => examples.length))),

    /** Returns the values with the example of an index where there is one. */
    example(index: number, next: () => number): RequestValues {
      const kind = kinds[index % kinds.length] ?? firstKind;
      let values = kind.choose(next);
      for (const part of kind.parts) {
        const isOmitted = !part.required && part.examples.length === 0;
        const example = part.examples[index];
        const changed = withValue(values, part, example);
        if ((isOmitted || example !== undefined) && kind.violations(changed)?.length === 0)
          values = changed;
      }
      return values;
    },

    /** Returns values by choice. Zeros lead to the simplest ones. */
    choose: (next: () => number): RequestValues =>
      (kinds[next() % kinds.length] ?? firstKind).choose(next),

    /**
     * Lists valid requests with an unusual value in each place: one at a bound, an empty value, or
     * none. A value that selects a resource is alone.
     */
    edgeCases(): EdgeCases[] {
      const isEmpty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0);
      const edges = listVariants().filter(
        ({ isEdgeCase, newValue, part, violations: found }) =>
          (isEdgeCase || isEmpty(newValue)) && found.length === 0 && !isRepeatKey(part),
      );
      const keyOf = ({ part, place, newValue }: RequestVariant) =>
        `${part.in} ${part.name} ${place} ${stringifyJson(newValue)}`;
      const distinct = [...new Map(edges.map((edge) => [keyOf(edge), edge])).values()];
      const isAlone = ({ part }: RequestVariant) => part.in === 'path' || isIfMatch(part);
      const groups = Map.groupBy(
        distinct.filter((edge) => !isAlone(edge)),
        ({ kind }) => kind,
      );
      const combined = [...groups].flatMap(([kind, each]) => {
        const places = Map.groupBy(each, ({ part, place }) => `${part.in} ${part.name} ${place}`);
        const lists = [...places.values()];
        return Array.from(
          { length: Math.max(...lists.map(({ length }) => length)) },
          (_, index) => ({
            kind,
            edges: lists.flatMap((list) => list[index] ?? []),
          }),
        );
      });
      const alone = distinct.filter(isAlone).map((edge) => ({ kind: edge.kind, edges: [edge] }));
      return [...combined, ...alone];
    },

    /** Returns the values of a request with unusual values. Others are new. */
    withEdgeCases(
      kind: RequestKind,
      edges: readonly RequestVariant[],
      next: () => number,
    ): RequestValues {
      let values = full(next, kind);
      for (const { part, place, newValue } of edges) {
        const replaced = replacedAt(partOf(values, part), pointerTokens(place), newValue);
        const changed = withValue(values, part, replaced);
        if ((replaced !== undefined || place === '') && isValid(changed)) values = changed;
      }
      return values;
    },

    /** Returns the values of an item of a list, which differ by its index. */
    spread(index: number, next: () => number): RequestValues {
      let values = index % 3 === 2 ? firstKind.choose(next) : full(next);
      const part = firstKind.parts.find(({ in: where }) => where === 'body');
      const { body } = values;
      if (part === undefined || !isObject(body)) return values;
      for (const [name, value] of Object.entries(body)) {
        const member = replacedAt(
          values.body,
          [name],
          spreadValue(part.outline.member(name), value, index),
        );
        const changed = withValue(values, part, member);
        if (isValid(changed)) values = changed;
      }
      return values;
    },

    /** Returns the body with another value at a place, or without one, if it is valid. */
    withChange(values: RequestValues, place: string, value: unknown): RequestValues | undefined {
      const body = replacedAt(values.body, pointerTokens(place), value);
      const changed = { ...values, body };
      return body !== undefined && isValid(changed) ? changed : undefined;
    },

    /** Lists requests with one mistake, for each place, keyword and kind of value. */
    mistakes(): Mistake[] {
      const list = [...structuralMistakes()];
      for (const { kind, part, place, newValue, values, violations: found } of listVariants()) {
        const isUnread = kind.media && part.in === 'body' && isTextOrBytes(codecs.of(kind.media));
        if (found.length === 0 || isUnread) continue;
        const label = `${describeKind(newValue)} where ${describeViolations(found)}`;
        const key = found.map(({ path, keyword }) => `${path} ${keyword}`).join();
        const renewed = (next: () => number) => {
          const others = full(next, kind);
          const value = replacedAt(partOf(others, part), pointerTokens(place), newValue);
          const changed = withValue(others, part, value);
          const wrong = describeViolations(kind.violations(changed) ?? []);
          return wrong === describeViolations(found) ? changed : undefined;
        };
        list.push({ part, label, key, values, renewed });
      }
      // Values of the same kind are equally wrong, and the last one is the shortest.
      return [...new Map(list.map((mistake) => [mistake.label, mistake])).values()];
    },

    /**
     * Returns the values of a request with the ids of a resource, and with known ids in members and
     * parameters such as `roomId`.
     *
     * @param usesNewest true to use the ids of the newest resources only.
     * @param fixed parts with an edge case. Parameters keep their values.
     * @param unknown the name of a member of the body that keeps its value.
     */
    withIds(
      values: RequestValues,
      path: Json,
      knowledge: Knowledge,
      random: () => number,
      {
        usesNewest,
        fixed = [],
        unknown,
      }: {
        readonly usesNewest: boolean;
        readonly fixed?: readonly RequestPart[] | undefined;
        readonly unknown?: string | undefined;
      },
    ): RequestValues {
      const isTaken = (id: unknown) =>
        item !== undefined && knowledge.isShown(item, { ...path, [idParameterOf(item)]: id });
      const idFor = (name: string, value: unknown) => {
        const ids = knowledge.idsOf(name);
        if (ids.length === 0) return value;
        return ids[usesNewest || random() % 3 === 0 ? 0 : random() % ids.length];
      };
      const withIdsInside = (value: unknown): unknown =>
        mapMembers(value, (member, name) =>
          name === unknown ? member : idFor(name, withIdsInside(member)),
        );
      const idOf = (part: RequestPart, value: unknown): unknown => {
        if (part.in === 'path') return path[part.name] ?? value;
        if (part.in === 'query') return idFor(part.name, value);
        if (part.in === 'body') {
          const body = withIdsInside(value);
          return withNewId(values, body, placeOfId(knowledge, body), isTaken, random);
        }
        if (isRepeatKey(part)) return uuidFrom(random);
        return isIfMatch(part) ? (knowledge.etagOf(operation, path) ?? value) : value;
      };
      const kind = kindOf(values);
      // A mistake stays the same mistake.
      const mistake = describeViolations(kind.violations(values) ?? []);
      let completed = values;
      for (const part of kind.parts) {
        const value = partOf(values, part);
        if (value === undefined || (fixed.includes(part) && part.in !== 'body')) continue;
        const changed = withValue(completed, part, idOf(part, value));
        const found = kind.violations(changed);
        if (found !== undefined && describeViolations(found) === mistake) completed = changed;
      }
      return completed;
    },
  };
}

/** Adds the members of an object that another one lacks, at each level. */
function merged(base: unknown, value: unknown): unknown {
  if (!isObject(base) || !isObject(value)) return value === undefined ? base : value;
  const names = Object.keys({ ...base, ...value });
  return Object.fromEntries(names.map((name) => [name, merged(base[name], value[name])]));
}

function spreadValue(outline: Outline, value: unknown, index: number): unknown {
  const pick = <T>(list: readonly T[]) => list[index % list.length] as T;
  if (outline.constants.length > 0) return pick(outline.constants);
  if (typeof value === 'boolean') return index % 2 === 0;
  if (typeof value === 'number') return pick(numbersWithin(outline));
  if (typeof value === 'string') {
    const [format = ''] = outline.formats;
    return /^date/.test(format) ? pick(DATES).slice(0, format === 'date' ? 10 : 99) : pick(TEXTS);
  }
  const isTexts = Array.isArray(value) && outline.item(0).types.has('string');
  return isTexts ? [pick(TEXTS), TEXTS[(index + 2) % TEXTS.length]] : value;
}

/** Lists numbers for the items of a list: the bounds of their schema, and numbers beside them. */
function numbersWithin(outline: Outline): readonly Bound[] {
  const [[minimum = -Infinity], [maximum = Infinity]] = [
    outline.limits('minimum'),
    outline.limits('maximum'),
  ];
  const bounds = [maximum, minimum].filter((bound) => Math.abs(Number(bound)) <= MAX_BOUND);
  const besides = bounds.flatMap((bound) => [bound, ...valuesBeside([bound], 1)]);
  return [...besides, ...NUMBERS].filter((number) => number >= minimum && number <= maximum);
}

/** Returns a UUID of version 4. */
function uuidFrom(random: () => number): string {
  const digits = (length: number) => random().toString(16).padStart(length, '0').slice(-length);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(6)}${digits(6)}`;
}

/** Returns `undefined` if the place does not exist. */
function replacedAt(value: unknown, [name, ...inner]: readonly string[], other: unknown): unknown {
  if (name === undefined) return other;
  if (other === undefined && inner.length === 0 && isObject(value)) {
    const { [name]: _removed, ...members } = value;
    return members;
  }
  const replaced = replacedAt(Object(value)[name], inner, other);
  if (replaced === undefined) return undefined;
  if (Array.isArray(value)) return value.length > 0 ? value.with(0, replaced) : undefined;
  return isObject(value) ? { ...value, [name]: replaced } : undefined;
}

const sizeOf = (value: unknown): number => stringifyJson(value)?.length ?? 0;

function describeMissing({ operation: { parameters }, schemas }: CheckedOperation): string {
  const missing = parameters.find(
    ({ required, schema = true }) =>
      required && [...valuesOf(schemas, schema, 'request').take(1)].length === 0,
  );
  const place = missing === undefined ? 'the body' : `the ${missing.in} parameter ${missing.name}`;
  return (
    `No valid value was found for ${place}. ` +
    'Add an example to the document, or check that a value can satisfy the schema.'
  );
}
