import { createHash } from 'node:crypto';
import { isJsonType, mapMembers, stringifyJson } from 'openapi-document';
import type { CheckedOperation } from './check-response.ts';
import { isEnding } from './operation-order.ts';
import { isCursor } from './paging.ts';
import {
  isTextOrBytes,
  type RequestPart,
  type RequestValues,
  requestPartsOf,
} from './request-parts.ts';
import type { Resources } from './resources.ts';
import { withUniqueTexts } from './unique-texts.ts';
import { createSamples, describeKind, type Samples, variantsOf } from './variants.ts';
import type { RequestDraft } from './write-request.ts';

/** A request that violates the document in one place. */
interface InvalidRequest extends RequestDraft {
  /** A description of the mistake, such as `a request without a body`. */
  readonly label: string;
  /** The message of the validator, if a value is invalid. */
  readonly violation?: string;
}

export interface ValidRequest extends RequestDraft {
  /** The index of the request in its sequence. */
  readonly index: number;
  /** True unless the request is sent for an example or an edge case. */
  readonly isRandom?: boolean;
}

const EMPTY = { newValue: '', value: '' };

const MAX_VARIANTS = 2_000;

/** The maximum number of places at which one value is changed. */
const MAX_PLACES = 8;

/** The maximum number of values of one part that edge cases are made from. */
const MAX_EDGE_CASE_SOURCES = 3;

/** Entity tags that no resource has. The second one is for services whose tags are numbers. */
const WRONG_TAGS = ['"wrong"', '"987654321"'];

/** The number of requests with a wrong entity tag. */
const WRONG_TAG_REQUESTS = 3;

/** The minimum number of valid requests that invalid requests are made from. */
const INVALID_SOURCES = 6;

export type RequestGenerator = ReturnType<typeof createRequestGenerator>;

/**
 * Returns functions that generate requests to an operation from schemas and examples.
 *
 * @throws {Error} if no valid value is found for a required parameter or body.
 */
export function createRequestGenerator(
  checked: CheckedOperation,
  resources: Resources,
  randomSeed: number,
) {
  const { schemas, operation } = checked;
  const samples = createSamples(schemas);
  const { random, shuffled } = randomFrom(randomSeed);
  const { parameters, bodies } = requestPartsOf(checked);
  const maxExamples = Math.max(
    0,
    ...[...parameters, ...bodies].map((part) => part.examples.length),
  );
  // The properties of an object may be query parameters with any name.
  const acceptsAnyName = operation.parameters.some(
    ({ in: where, outline }) => where === 'query' && outline.types.has('object'),
  );
  /** The index of the next variant, by part and place. */
  const nextIndexes = new Map<string, number>();

  /**
   * Returns the next valid variant of a value that differs at a place. Returns the value itself if
   * there is none.
   */
  function changedAt(place: string, part: RequestPart, value: unknown): unknown {
    const values = [...variantsOf(samples, part.outline, value).take(MAX_VARIANTS)]
      .filter((variant) => variant.place === place)
      .map((variant) => variant.value);
    const key = `${part.in} ${part.name} ${place}`;
    const start = nextIndexes.get(key) ?? 0;
    const ordered = values.map((_, index) => values[(start + index) % values.length]);
    const index = ordered.findIndex((other) => part.violation(other) === '');
    if (index === -1) return value;
    nextIndexes.set(key, start + index + 1);
    return ordered[index];
  }

  /** Changes a valid value at some random places. The result is valid. */
  function changedValue(part: RequestPart, value: unknown): unknown {
    const variants = variantsOf(samples, part.outline, value).take(MAX_VARIANTS);
    const places = shuffled([...new Set(variants.map(({ place }) => place))]);
    return places
      .slice(0, random() < 0.2 ? 1 : MAX_PLACES)
      .reduce((other: unknown, place) => changedAt(place, part, other), value);
  }

  /**
   * Makes strings in a valid value unique. In a quarter of the calls, changes only strings with a
   * format such as `email`.
   */
  function withUniqueParts(part: RequestPart, value: unknown): unknown {
    const isValid = (other: unknown) => part.violation(other) === '';
    const unique = withUniqueTexts(part.outline, value, {
      // Eight hexadecimal digits.
      key: random().toString(16).slice(2).padEnd(8, '0'),
      isAnyTextChanged: random() < 0.75,
      isValid,
    });
    return isValid(unique) ? unique : value;
  }

  /** Returns the value of a part in one request, or `undefined` to omit the part. */
  function valueFor(index: number, part: RequestPart): unknown {
    // Only responses contain valid cursors.
    if (isCursor(part) && !part.required) return resources.cursorOf(operation);
    const exampleIndex = part.in === 'body' ? Math.floor(index / bodies.length) : index;
    if (exampleIndex < part.examples.length) return part.examples[exampleIndex];
    if (!part.required && random() < 0.2) return undefined;
    return withUniqueParts(
      part,
      changedValue(part, shuffled([...part.examples, ...part.samples])[0]),
    );
  }

  /**
   * Returns the values of a valid request. Half of the requests have ids of existing resources. For
   * an operation that ends resources, three of four requests have them, since the operation
   * succeeds only once for each resource.
   */
  function requestValues(index: number): RequestValues {
    const body = bodies.length > 0 ? [bodies[index % bodies.length] as RequestPart] : [];
    const pairs = [...parameters, ...body].map((part) => [part, valueFor(index, part)] as const);
    const values = new Map(pairs.filter(([, value]) => value !== undefined));
    const hasIds = index % (isEnding(operation) ? 4 : 2) !== 1;
    return hasIds ? withIds(values, random() ** 2) : values;
  }

  /**
   * Replaces ids in the values of a request with ids of existing resources.
   *
   * @param fraction selects the ids: 0 the newest, just below 1 the oldest.
   * @param edgeCase a part with an edge case. If it is a parameter, it keeps its value.
   */
  function withIds(values: RequestValues, fraction: number, edgeCase?: RequestPart): RequestValues {
    const path = resources.pathOf(operation, fraction);
    const idFor = (name: string, value: unknown) => {
      const ids = resources.idsOf(name);
      return ids.length > 0 ? ids[Math.floor(fraction * ids.length)] : value;
    };
    const withIdsInside = (value: unknown): unknown =>
      mapMembers(value, (member, name) => idFor(name, withIdsInside(member)));
    const valueWithId = ({ in: where, name }: RequestPart, value: unknown): unknown => {
      if (where === 'path') return path[name] ?? value;
      if (where === 'query') return idFor(name, value);
      if (where === 'body') return withIdsInside(value);
      return (isIfMatch(name) ? resources.etagOf(operation, path) : undefined) ?? value;
    };
    return new Map(
      [...values].map(([part, value]) => {
        const isKept = part === edgeCase && part.in !== 'body';
        const other = isKept ? value : valueWithId(part, value);
        return [part, part.violation(other) === '' ? other : value];
      }),
    );
  }

  function* edgeCases(maxCount: number): Generator<ValidRequest> {
    const candidates = [...parameters, ...bodies]
      .filter((part) => !isCursor(part))
      .flatMap((part) => edgeCasesOf(samples, part).map((value) => ({ part, value })));
    for (const [index, { part, value }] of shuffled(candidates).slice(0, maxCount).entries()) {
      const others = [...requestValues(index)].filter(
        ([other]) => part.in !== 'body' || other.in !== 'body',
      );
      const values = new Map([...others, [part, withUniqueParts(part, value)]]);
      yield { values: withIds(values, random() ** 2, part), index };
    }
  }

  /**
   * Yields valid requests: first with each example, then with random values, last with edge cases.
   *
   * @param count the minimum number of requests before those with an edge case.
   * @param maxEdgeCases the maximum number of requests with an edge case.
   */
  function* valid(count: number, maxEdgeCases = 0): Generator<ValidRequest> {
    const exampleCount = maxExamples * Math.max(1, bodies.length);
    const total = Math.max(count, exampleCount);
    for (let index = 0; index < total; index += 1)
      yield { values: requestValues(index), index, isRandom: index >= exampleCount };
    if (maxEdgeCases > 0) yield* edgeCases(maxEdgeCases);
  }

  /** Yields valid requests with the ids of existing resources, from the newest to the oldest. */
  function* existing(count: number): Generator<ValidRequest> {
    for (let index = 0; index < count; index += 1) {
      yield { values: withIds(requestValues(index), index / count), index, isRandom: true };
    }
  }

  /** Returns a valid request with the first examples. */
  const example = (): ValidRequest => ({ values: requestValues(0), index: 0 });

  /** Returns requests with cursors that no response contained. The service may reject them. */
  function unknownCursors(): ValidRequest[] {
    const cursor = parameters.find(isCursor);
    if (cursor === undefined) return [];
    const cursors = new Set([...cursor.samples.slice(0, 1), ...edgeCasesOf(samples, cursor)]);
    return [...cursors].map((value, index) => ({
      values: new Map([...requestValues(index), [cursor, value]]),
      index,
    }));
  }

  /**
   * Returns requests to existing resources with a wrong entity tag in `If-Match`. Returns none if
   * the schema of this header rejects such a tag. Also returns none for a DELETE without a known
   * resource: the deletion of a missing one may succeed with any tag (RFC 9110 §13.1.1).
   */
  function wrongTags(): ValidRequest[] {
    if (operation.method === 'delete' && !resources.isKnown(operation)) return [];
    const part = parameters.find(({ in: where, name }) => where === 'header' && isIfMatch(name));
    const tag = WRONG_TAGS.find((text) => part?.violation(text) === '');
    if (part === undefined || tag === undefined) return [];
    return [...existing(WRONG_TAG_REQUESTS)].map((request) => ({
      ...request,
      values: new Map([...request.values, [part, tag]]),
    }));
  }

  /**
   * Returns requests that violate the document: one for each label, at most `runs`. Requests with
   * different violations come first. Repeats labels if there are fewer than `runs / 2`.
   */
  function invalid(runs: number): InvalidRequest[] {
    const candidates = shuffled(
      [...valid(INVALID_SOURCES)].flatMap(({ values }) => [
        ...invalidFrom(checked, samples, values, acceptsAnyName),
      ]),
    );
    const lastOfEach = (key: (request: InvalidRequest) => string) => [
      ...new Map(candidates.map((request) => [key(request), request])).values(),
    ];
    const labels = lastOfEach(({ label }) => label).slice(0, runs);
    const violations = lastOfEach(({ label, violation }) => violation ?? label);
    const requests = new Set([...violations, ...labels, ...candidates]);
    return [...requests].slice(0, Math.max(labels.length, runs / 2));
  }

  return { parameters, example, valid, existing, unknownCursors, wrongTags, invalid };
}

const isIfMatch = (name: string): boolean => name.toLowerCase() === 'if-match';

/** Returns functions that use the same random numbers for the same seed. */
function randomFrom(randomSeed: number) {
  let count = 0;
  /** Returns a number from 0 to below 1. */
  const random = () => {
    count += 1;
    return createHash('sha1').update(`${randomSeed} ${count}`).digest().readUInt32LE() / 2 ** 32;
  };
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, rank: random() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  return { random, shuffled };
}

/** Returns valid edge cases of a part, such as values at bounds: one for each place and value. */
function edgeCasesOf(samples: Samples, part: RequestPart): unknown[] {
  const variants = [...part.examples, ...part.samples]
    .slice(0, MAX_EDGE_CASE_SOURCES)
    .flatMap((value) => [...variantsOf(samples, part.outline, value).take(MAX_VARIANTS)])
    .filter(({ isEdgeCase, value }) => isEdgeCase && part.violation(value) === '');
  const byPlace = Map.groupBy(
    variants,
    ({ place, newValue }) => `${place} ${stringifyJson(newValue)}`,
  );
  return [...byPlace.values()].map(([variant]) => variant?.value);
}

function* invalidFrom(
  { operation, validator: { codecs } }: CheckedOperation,
  samples: Samples,
  values: RequestValues,
  acceptsAnyName: boolean,
): Generator<InvalidRequest> {
  for (const [part, value] of values) {
    const { in: where, name, required, outline, media } = part;
    const neededValues = [...values].filter(([other]) => other.required || other === part);
    if (required && where !== 'path') {
      const missing = media === undefined ? `the ${where} parameter ${name}` : 'a body';
      const others = neededValues.filter(([other]) => other !== part);
      yield { label: `a request without ${missing}`, values: new Map(others) };
    }
    const hasRange = operation.requestBody?.media.some(({ type }) => /^[^;]*\*/.test(type));
    if (media !== undefined && !hasRange) {
      yield { label: 'a wrong media type', values, contentType: 'application/x-undeclared' };
    }
    if (media !== undefined && isJsonType(media.type))
      yield { label: 'a body that is not JSON', values, rawBody: '{"' };
    if (media !== undefined && isTextOrBytes(codecs.of(media))) continue;
    const variants = variantsOf(samples, outline, value).take(MAX_VARIANTS);
    for (const { newValue, value: other } of [EMPTY, ...variants]) {
      const violation = part.violation(other);
      if (!violation) continue;
      const label = `${describeKind(newValue)} where ${violation}`;
      yield { label, violation, values: new Map(neededValues).set(part, other) };
    }
  }
  const undeclaredQuery = 'undeclaredParameter=text';
  if (!acceptsAnyName) yield { label: 'an undeclared query parameter', values, undeclaredQuery };
}
