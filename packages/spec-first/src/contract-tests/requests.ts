import {
  isJsonType,
  isObject,
  isRange,
  mapMembers,
  type Operation,
  stringifyJson,
  type Violation,
} from 'openapi-document';
import { type CheckedOperation, describeViolations } from './check-response.ts';
import type { Knowledge } from './knowledge.ts';
import { isCursor } from './paging.ts';
import {
  isTextOrBytes,
  isValid,
  type RequestPart,
  type RequestValues,
  requestPartsOf,
} from './parts.ts';
import type { RequestDraft } from './send.ts';
import { createSamples, describeKind, type Variant, variantsOf } from './variants.ts';

/** A request that violates the document in one place. */
export interface Mistake extends RequestDraft {
  /** A description of the mistake, such as `a request without a body`. */
  readonly label: string;
  /** The place and the keyword, such as `/body/name maxLength`. */
  readonly key: string;
}

/** A value with an unusual valid value in one place. */
interface EdgeCase extends Variant {
  readonly part: RequestPart;
}

const MAX_VARIANTS = 2_000;

/** The values of one part that variants are made from. The shortest one is the last. */
const MAX_SOURCES = 3;

const EMPTY: Variant = { place: '', newValue: '', value: '' };

export const isIfMatch = ({ in: where, name }: Pick<RequestPart, 'in' | 'name'>): boolean =>
  where === 'header' && name.toLowerCase() === 'if-match';

export type Requests = ReturnType<typeof createRequests>;

/**
 * Returns functions that make requests to an operation from its schemas and examples.
 *
 * @param ownId the name of the ids of the resources that the operation creates. Where clients
 *   choose them, each request has a new one.
 * @throws {Error} if no valid value is found for a required parameter or body.
 */
export function createRequests(checked: CheckedOperation, ownId?: string) {
  const { operation, schemas, validator } = checked;
  const samples = createSamples(schemas);
  const { parameters, bodies } = requestPartsOf(checked);
  const parts = [...parameters, ...bodies];
  const variants = new Map<
    RequestPart,
    readonly (Variant & { violations: readonly Violation[] })[]
  >();

  /** Lists the variants of a part that can be sent, those of short values last. */
  function variantsIn(part: RequestPart) {
    const known = variants.get(part);
    if (known !== undefined) return known;
    const found = [...part.examples, ...part.samples]
      .slice(0, MAX_SOURCES)
      .toSorted((one, other) => sizeOf(other) - sizeOf(one))
      .flatMap((value) => [EMPTY, ...variantsOf(samples, part.outline, value).take(MAX_VARIANTS)])
      .flatMap((variant) => {
        const violations = part.violations(variant.value);
        return violations === undefined ? [] : [{ ...variant, violations }];
      });
    variants.set(part, found);
    return found;
  }

  /** Returns values for the required parts and one more. */
  function valuesFor(part: RequestPart | undefined, value: unknown): RequestValues {
    const needed = parameters.filter((parameter) => parameter.required && parameter !== part);
    const [body] = part?.in === 'body' ? [] : bodies.filter(({ required }) => required);
    const others = [...needed, ...(body ? [body] : [])].map(
      (other) => [other, other.examples[0] ?? other.samples.at(1) ?? other.samples[0]] as const,
    );
    return new Map([...others, ...(part && value !== undefined ? [[part, value] as const] : [])]);
  }

  /** Returns a body with a new id, or a mistake would be rejected since the id is taken. */
  function withNewId(part: RequestPart, value: unknown, next: () => number): unknown {
    if (ownId === undefined || !isObject(value) || !Object.hasOwn(value, ownId)) return value;
    const other = part.choose(next);
    return isObject(other) ? { ...value, [ownId]: other[ownId] ?? value[ownId] } : value;
  }

  return {
    parameters,
    bodies,

    /** Returns new values with the id of a resource that exists, if clients choose ids. */
    withTakenId(values: RequestValues, id: unknown): RequestValues | undefined {
      const [part, body] = [...values].find(([{ in: where }]) => where === 'body') ?? [];
      if (ownId === undefined || part === undefined || !isObject(body)) return undefined;
      const taken = { ...body, [ownId]: id };
      return Object.hasOwn(body, ownId) && isValid(part, taken)
        ? new Map([...values, [part, taken]])
        : undefined;
    },

    /** The number of requests that send each example once. */
    exampleCount: Math.max(0, ...parts.map(({ examples }) => examples.length)),

    /** Returns the simplest values: the first examples of what is required. */
    simplest: (): RequestValues => valuesFor(undefined, undefined),

    /** Returns the values with the example of an index where there is one. */
    example(index: number, next: () => number): RequestValues {
      const body = bodies.slice(index % Math.max(1, bodies.length)).slice(0, 1);
      const values = [...parameters, ...body].map((part) => {
        const isOmitted = !part.required && part.examples.length === 0;
        return [part, part.examples[index] ?? (isOmitted ? undefined : part.choose(next))] as const;
      });
      return new Map(values.filter(([part, value]) => value !== undefined && !isCursor(part)));
    },

    /** Returns values by choice. Zeros lead to the simplest ones. */
    choose(next: () => number): RequestValues {
      const body = bodies[next() % Math.max(1, bodies.length)];
      const chosen = [...parameters, ...(body ? [body] : [])].map((part) => {
        // Only responses contain valid cursors.
        const isOmitted = !part.required && (isCursor(part) || next() % 4 === 0);
        return [part, isOmitted ? undefined : part.choose(next)] as const;
      });
      return new Map(chosen.filter(([, value]) => value !== undefined));
    },

    /** Lists unusual valid values, such as values at bounds: one for each place and value. */
    edgeCases(): EdgeCase[] {
      return parts
        .filter((part) => !isCursor(part))
        .flatMap((part) => {
          const edges = variantsIn(part).filter(
            ({ isEdgeCase, violations }) => isEdgeCase && violations.length === 0,
          );
          const byPlace = edges.map(
            (edge) => [`${edge.place} ${stringifyJson(edge.newValue)}`, { ...edge, part }] as const,
          );
          return [...new Map(byPlace).values()];
        });
    },

    /** Returns the values of a request with an unusual value in one place. Others are new. */
    withEdgeCase({ part, place, newValue, value }: EdgeCase, next: () => number): RequestValues {
      const replaced = replacedAt(part.choose(next), place.split('/').slice(1), newValue);
      return valuesFor(part, isValid(part, replaced) ? replaced : value);
    },

    /** Lists requests with one mistake, for each place, keyword and kind of value. */
    mistakes(): Mistake[] {
      const list = [...structuralMistakes(operation, parts, valuesFor)];
      for (const part of parts) {
        const { media } = part;
        if (media !== undefined && isTextOrBytes(validator.codecs.of(media))) continue;
        for (const { newValue, value, violations } of variantsIn(part)) {
          if (violations.length === 0) continue;
          const label = `${describeKind(newValue)} where ${describeViolations(violations)}`;
          const key = violations.map(({ path, keyword }) => `${path} ${keyword}`).join();
          list.push({ label, key, values: valuesFor(part, value) });
        }
      }
      // Values of the same kind are equally wrong, and the last one is the shortest.
      return [...new Map(list.map((mistake) => [mistake.label, mistake])).values()];
    },

    /**
     * Returns the values of a request with the ids of a resource, and with known ids in members and
     * parameters such as `roomId`.
     *
     * @param usesNewest true to use the ids of the newest resources only.
     * @param fixed a part with an edge case. If it is a parameter, it keeps its value.
     */
    withIds(
      values: RequestValues,
      path: Readonly<Record<string, unknown>>,
      knowledge: Knowledge,
      {
        random,
        usesNewest,
        fixed,
      }: {
        readonly random: () => number;
        readonly usesNewest: boolean;
        readonly fixed?: RequestPart | undefined;
      },
    ): RequestValues {
      const idFor = (name: string, value: unknown) => {
        const ids = knowledge.idsOf(name);
        if (ids.length === 0) return value;
        return ids[usesNewest || random() % 3 === 0 ? 0 : random() % ids.length];
      };
      const withIdsInside = (value: unknown): unknown =>
        mapMembers(value, (member, name) => idFor(name, withIdsInside(member)));
      const withId = (part: RequestPart, value: unknown): unknown => {
        const { in: where, name } = part;
        if (where === 'path') return path[name] ?? value;
        if (where === 'query') return idFor(name, value);
        if (where === 'body') return withNewId(part, withIdsInside(value), random);
        return isIfMatch(part) ? (knowledge.etagOf(operation, path) ?? value) : value;
      };
      return new Map(
        [...values].map(([part, value]) => {
          const other = part === fixed && part.in !== 'body' ? value : withId(part, value);
          // A mistake stays the same mistake.
          return [part, isSameValidity(part, value, other) ? other : value];
        }),
      );
    },
  };
}

/** Returns `undefined` if the place does not exist. */
function replacedAt(value: unknown, [name, ...inner]: readonly string[], other: unknown): unknown {
  if (name === undefined) return other;
  const replaced = replacedAt(Object(value)[name], inner, other);
  if (replaced === undefined) return undefined;
  if (Array.isArray(value)) return value.length > 0 ? value.with(0, replaced) : undefined;
  return isObject(value) ? { ...value, [name]: replaced } : undefined;
}

function isSameValidity(part: RequestPart, one: unknown, other: unknown): boolean {
  const [before, after] = [one, other].map((value) => part.violations(value));
  return (
    before !== undefined &&
    after !== undefined &&
    describeViolations(before) === describeViolations(after)
  );
}

const sizeOf = (value: unknown): number => stringifyJson(value)?.length ?? 0;

function* structuralMistakes(
  operation: Operation,
  parts: readonly RequestPart[],
  valuesFor: (part: RequestPart | undefined, value: unknown) => RequestValues,
): Generator<Mistake> {
  for (const part of parts) {
    const { in: where, name, required, media } = part;
    const values = valuesFor(part, part.examples[0] ?? part.samples[0]);
    if (required && where !== 'path') {
      const missing = media === undefined ? `the ${where} parameter ${name}` : 'a body';
      const others = new Map([...valuesFor(part, undefined)].filter(([other]) => other !== part));
      const key = `/${where}/${name} required`;
      yield { label: `a request without ${missing}`, key, values: others };
    }
    const hasRange = operation.requestBody?.media.some(({ type }) => isRange(type));
    if (media !== undefined && !hasRange) {
      const contentType = 'application/x-undeclared';
      yield { label: 'a wrong media type', key: '/body Content-Type', values, contentType };
    }
    if (media !== undefined && isJsonType(media.type))
      yield { label: 'a body that is not JSON', key: '/body JSON', values, rawBody: '{"' };
  }
}
