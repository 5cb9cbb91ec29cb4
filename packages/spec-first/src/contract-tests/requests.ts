import { createHash } from 'node:crypto';
import { type Json, mapMembers, schemas, stringifyJson } from 'openapi-document';
import type { CheckedOperation } from './checks.ts';
import { isEnding } from './order.ts';
import { isCursor } from './pages.ts';
import { type Part, partsOf, type Values } from './parts.ts';
import type { Resources } from './resources.ts';
import { withUniqueTexts } from './unique.ts';
import { describeKind, variantsOf } from './variants.ts';
import type { RequestDraft } from './write-request.ts';

/** A request that violates the document in one place. */
interface Invalid extends RequestDraft {
  /** The mistake, such as `a request without a body`. */
  readonly label: string;
  /** The violation of the wrong value. Several values may have the same violation. */
  readonly violation?: string;
}

/** A request that satisfies the document. */
export interface Valid extends RequestDraft {
  /** The position in the sequence, from 0. */
  readonly turn: number;
  /** True if all values are random: no value is an example or an edge case. */
  readonly isRandom?: boolean;
}

/** A variant in which the whole value is an empty string. */
const EMPTY = { at: '', inner: '', value: '' };

/** The maximum number of variants of a value that are tried. */
const MAX_VARIANTS = 2_000;

/** The maximum number of places of a value that are changed. */
const MAX_PLACES = 8;

/** The maximum number of values of a part whose variants may become edge cases. */
const MAX_EDGE_CASE_SOURCES = 3;

/** The number of valid requests that are changed to invalid requests. */
const INVALID_SOURCES = 6;

export type Requests = ReturnType<typeof requestsOf>;

/**
 * Makes requests to an operation from the schemas and examples of the document.
 *
 * @throws {Error} if no valid value is found for a required parameter or body.
 */
export function requestsOf(checked: CheckedOperation, resources: Resources, seed: number) {
  const { root, operation } = checked;
  const { random, shuffled } = randomFrom(seed);
  const { parameters, bodies } = partsOf(checked);
  const examples = Math.max(0, ...[...parameters, ...bodies].map((part) => part.examples.length));
  // With an object in the query, any name may be one of its properties.
  const acceptsAnyName = operation.parameters.some(
    ({ in: where, schema }) => where === 'query' && schemas.typesOf(root, schema).has('object'),
  );
  /** The index of the next value, by place. */
  const turns = new Map<string, number>();

  /** Returns a valid value that differs from `value` at a place. Each call returns another one. */
  function changedAt(place: string, part: Part, value: unknown): unknown {
    const values = [...variantsOf(root, [part.schema], value).take(MAX_VARIANTS)]
      .filter(({ at }) => at === place)
      .map((variant) => variant.value);
    const key = `${part.in} ${part.name} ${place}`;
    const turn = turns.get(key) ?? 0;
    const ordered = values.map((_, index) => values[(turn + index) % values.length]);
    const index = ordered.findIndex((other) => part.violation(other) === '');
    if (index === -1) return value;
    turns.set(key, turn + index + 1);
    return ordered[index];
  }

  /** Returns a valid value that differs from another one in some places. */
  function changed(part: Part, value: unknown): unknown {
    const variants = variantsOf(root, [part.schema], value).take(MAX_VARIANTS);
    const places = shuffled([...new Set(variants.map(({ at }) => at))]);
    return places
      .slice(0, random() < 0.2 ? 1 : MAX_PLACES)
      .reduce((other: unknown, place) => changedAt(place, part, other), value);
  }

  /** Returns a value with addresses and UUIDs that no other request contains. */
  function renewed(part: Part, value: unknown): unknown {
    // The hexadecimal digits of the fraction.
    const key = random().toString(16).slice(2).padEnd(8, '0');
    const other = withUniqueTexts(root, [part.schema], value, key);
    return part.violation(other) === '' ? other : value;
  }

  /** Returns the value of a part for the request at an index. Omits some optional parts. */
  function valueIn(index: number, part: Part): unknown {
    // Only replies contain valid cursors.
    if (isCursor(part) && !part.required) return resources.cursorOf(operation);
    const turn = part.in === 'body' ? Math.floor(index / bodies.length) : index;
    if (turn < part.examples.length) return part.examples[turn];
    if (!part.required && random() < 0.2) return undefined;
    return renewed(part, changed(part, shuffled([...part.examples, ...part.samples])[0]));
  }

  /**
   * Makes a request from valid values. Every second request has the ids of existing resources. An
   * operation that ends a resource succeeds only once for each, so three of four have such ids.
   */
  function request(index: number): Values {
    const body = bodies.length > 0 ? [bodies[index % bodies.length] as Part] : [];
    const pairs = [...parameters, ...body].map((part) => [part, valueIn(index, part)] as const);
    const values = new Map(pairs.filter(([, value]) => value !== undefined));
    const hasIds = index % (isEnding(operation) ? 4 : 2) !== 1;
    return hasIds ? withIds(values, random() ** 2) : values;
  }

  /**
   * Replaces ids in the values of a request by ids of existing resources.
   *
   * @param draw a number from 0 to 1 that selects the ids.
   * @param fixed a parameter that keeps its value.
   */
  function withIds(values: Values, draw: number, fixed?: Part): Values {
    const path = resources.pathOf(operation, draw);
    const idFor = (name: string, value: unknown) => {
      const ids = resources.valuesOf(name);
      return ids.length > 0 ? ids[Math.floor(draw * ids.length)] : value;
    };
    const inside = (value: unknown): unknown =>
      mapMembers(value, (member, name) => idFor(name, inside(member)));
    const existing = ({ in: where, name }: Part, value: unknown): unknown => {
      if (where === 'path') return path[name] ?? value;
      if (where === 'query') return idFor(name, value);
      if (where === 'body') return inside(value);
      const isTag = name.toLowerCase() === 'if-match';
      return (isTag ? resources.etagOf(operation, path) : undefined) ?? value;
    };
    return new Map(
      [...values].map(([part, value]) => {
        const isFixed = part === fixed && part.in !== 'body';
        const other = isFixed ? value : existing(part, value);
        return [part, part.violation(other) === '' ? other : value];
      }),
    );
  }

  /** Makes requests with one edge case, such as a value at a bound. */
  function* edgeCases(maxCount: number): Generator<Valid> {
    const candidates = [...parameters, ...bodies]
      .filter((part) => !isCursor(part))
      .flatMap((part) => edgeCasesOf(root, part).map((value) => ({ part, value })));
    for (const [index, { part, value }] of shuffled(candidates).slice(0, maxCount).entries()) {
      const others = [...request(index)].filter(
        ([other]) => part.in !== 'body' || other.in !== 'body',
      );
      const values = new Map([...others, [part, renewed(part, value)]]);
      yield { values: withIds(values, random() ** 2, part), turn: index };
    }
  }

  /**
   * Makes valid requests: first with each example, then with random values, last with edge cases.
   *
   * @param count the minimum number of requests before those with an edge case.
   * @param maxEdgeCases the maximum number of requests with an edge case.
   */
  function* valid(count: number, maxEdgeCases = 0): Generator<Valid> {
    const exampleCount = examples * Math.max(1, bodies.length);
    const total = Math.max(count, exampleCount);
    for (let index = 0; index < total; index += 1)
      yield { values: request(index), turn: index, isRandom: index >= exampleCount };
    if (maxEdgeCases > 0) yield* edgeCases(maxEdgeCases);
  }

  /** Makes valid requests with the ids of existing resources, from the newest to the oldest. */
  function* existing(count: number): Generator<Valid> {
    for (let index = 0; index < count; index += 1) {
      yield { values: withIds(request(index), index / count), turn: index, isRandom: true };
    }
  }

  /** Makes a valid request, with the first examples. */
  const example = (): Valid => ({ values: request(0), turn: 0 });

  /** Makes requests with cursors that no reply contained. The service may reject them. */
  function unknownCursors(): Valid[] {
    const cursor = parameters.find(isCursor);
    if (cursor === undefined) return [];
    const cursors = new Set([...cursor.samples.slice(0, 1), ...edgeCasesOf(root, cursor)]);
    return [...cursors].map((value, turn) => ({
      values: new Map([...request(turn), [cursor, value]]),
      turn,
    }));
  }

  /**
   * Makes requests that violate the document: one for each label, at most `runs`. If they are fewer
   * than half of `runs`, adds others.
   */
  function invalid(runs: number): Invalid[] {
    const candidates = shuffled(
      [...valid(INVALID_SOURCES)].flatMap(({ values }) => [
        ...invalidFrom(checked, values, acceptsAnyName),
      ]),
    );
    const oneOfEach = (key: (request: Invalid) => string) => [
      ...new Map(candidates.map((request) => [key(request), request])).values(),
    ];
    const labels = oneOfEach(({ label }) => label).slice(0, runs);
    const violations = oneOfEach(({ label, violation }) => violation ?? label);
    const requests = new Set([...violations, ...labels, ...candidates]);
    return [...requests].slice(0, Math.max(labels.length, runs / 2));
  }

  return { parameters, example, valid, existing, unknownCursors, invalid };
}

/** Makes a source of random numbers that yields the same numbers for the same seed. */
function randomFrom(seed: number) {
  let drawn = 0;
  /** Returns a number from 0 to 1. */
  const random = () => {
    drawn += 1;
    return createHash('sha1').update(`${seed} ${drawn}`).digest().readUInt32LE() / 2 ** 32;
  };
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, rank: random() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  return { random, shuffled };
}

/** Returns valid edge cases, such as values at bounds. */
function edgeCasesOf(root: Json, part: Part): unknown[] {
  const variants = [...part.examples, ...part.samples]
    .slice(0, MAX_EDGE_CASE_SOURCES)
    .flatMap((value) => [...variantsOf(root, [part.schema], value).take(MAX_VARIANTS)])
    .filter(({ isEdgeCase, value }) => isEdgeCase && part.violation(value) === '');
  const byPlace = Map.groupBy(variants, ({ at, inner }) => `${at} ${stringifyJson(inner)}`);
  return [...byPlace.values()].map(([variant]) => variant?.value);
}

/** Makes requests that differ from a valid one in one place, and violate the document there. */
function* invalidFrom(
  { root, operation }: CheckedOperation,
  values: Values,
  acceptsAnyName: boolean,
): Generator<Invalid> {
  for (const [part, value] of values) {
    const { in: where, name, required, schema, media } = part;
    const needed = [...values].filter(([other]) => other.required || other === part);
    if (required && where !== 'path') {
      const missing = media === undefined ? `the ${where} parameter ${name}` : 'a body';
      const others = needed.filter(([other]) => other !== part);
      yield { label: `a request without ${missing}`, values: new Map(others) };
    }
    const hasRange = operation.requestBody?.media.some(({ type }) => /^[^;]*\*/.test(type));
    if (media !== undefined && !hasRange) {
      yield { label: 'a wrong media type', values, contentType: 'application/x-undeclared' };
    }
    if (media?.kind === 'json') yield { label: 'a body that is not JSON', values, raw: '{"' };
    const isText = media?.kind === 'stream' || media?.kind === 'text';
    if (isText && media.items === undefined) continue;
    const isForm = media?.kind === 'form' || media?.kind === 'multipart';
    const variants = variantsOf(root, [schema], value).take(MAX_VARIANTS);
    for (const { at, inner, value: other } of [EMPTY, ...variants]) {
      // Skips most variants of a form: its values are text, so their types cannot be wrong.
      if (isForm && (inner !== undefined || at.lastIndexOf('/') > 0)) continue;
      const violation = part.violation(other);
      if (!violation) continue;
      const label = `${describeKind(inner)} where ${violation}`;
      yield { label, violation, values: new Map(needed).set(part, other) };
    }
  }
  const undeclared = 'undeclaredParameter=text';
  if (!acceptsAnyName) yield { label: 'an undeclared query parameter', values, undeclared };
}
