import { createHash } from 'node:crypto';
import { isObject, type Operation } from 'openapi-document';
import type { Checked } from './checks.ts';
import type { Known } from './known.ts';
import { type Part, partsOf, type Values } from './parts.ts';
import { kindOf, variantsOf } from './variants.ts';
import type { Written } from './write-request.ts';

/** A request that breaks the document in one place. */
interface Broken extends Written {
  /** What a service that answers it with a success accepts. */
  readonly label: string;
  /** What a value violates. Several values may violate the same. */
  readonly violation?: string;
}

/** How many variants of a value are looked at, and how many places of one are changed at most. */
const TRIED = 2_000;
const PLACES = 8;

/** How many valid requests are looked at for places that can be broken. */
const LOOKED_AT = 6;

/**
 * The requests of an operation, made from the schemas and examples of the document.
 *
 * @throws {Error} if no valid value is found for something that is required.
 */
export function requestsOf(checked: Checked, known: Known, seed: number) {
  const { root, operation } = checked;
  let drawn = 0;
  /** A number from 0 to 1. */
  const random = () => createHash('sha1').update(`${seed} ${drawn++}`).digest().readUInt32LE() / 2 ** 32;
  const shuffled = <T>(items: readonly T[]): T[] => {
    const ranked = items.map((item) => [random(), item] as const);
    return ranked.sort(([a], [b]) => a - b).map(([, item]) => item);
  };
  const { parameters, bodies } = partsOf(checked);
  // An object in a query may take each name.
  const isOpen = parameters.some((part) => part.in === 'query' && [...part.examples, ...part.made].some(isObject));
  const examples = Math.max(0, ...[...parameters, ...bodies].map((part) => part.examples.length));
  /** How often each place was changed: each of its values has its turn, those at the bounds first. */
  const turns = new Map<string, number>();

  /** A valid value that differs from another one in some places. */
  function changed(part: Part, from: unknown): unknown {
    const variants = (value: unknown) => variantsOf(root, [part.schema], value).take(TRIED);
    const places = shuffled([...new Set(variants(from).map(({ at }) => at))]);
    let value = from;
    for (const place of places.slice(0, random() < 0.2 ? 1 : PLACES)) {
      const others = [...variants(value).filter(({ at }) => at === place)].map((other) => other.value);
      const key = `${part.in} ${part.name} ${place}`;
      const turn = turns.get(key) ?? 0;
      const next = [...others.keys()].find((n) => part.violation(others[(turn + n) % others.length]) === '');
      if (next === undefined) continue;
      value = others[(turn + next) % others.length];
      turns.set(key, turn + next + 1);
    }
    return value;
  }

  /** Requests that satisfy the document. The first ones have the declared examples. */
  function* valid(count: number): Generator<{ values: Values }> {
    const most = Math.max(count, examples * Math.max(1, bodies.length));
    for (let index = 0; index < most; index += 1) {
      const values = new Map<Part, unknown>();
      const body = bodies.slice(index % bodies.length)[0];
      for (const part of body === undefined ? parameters : [...parameters, body]) {
        const turn = part === body ? Math.floor(index / bodies.length) : index;
        if (turn < part.examples.length) values.set(part, part.examples[turn]);
        else if (part.required || random() > 0.2) {
          values.set(part, changed(part, shuffled([...part.examples, ...part.made])[0]));
        }
      }
      // What exists, in half of the requests; a deletion ends it.
      const turn = operation.method === 'delete' ? index : index / 2;
      yield { values: Number.isInteger(turn) ? withKnownIds(operation, known, values, turn) : values };
    }
  }

  /** Requests that break the document: each way in which it can be broken once, up to `runs`, or half as many requests. */
  function broken(runs: number): Broken[] {
    const found = shuffled([...valid(LOOKED_AT)].flatMap(({ values }) => [...brokenFrom(checked, values, isOpen)]));
    const oneOfEach = (key: (made: Broken) => string) => [...new Map(found.map((made) => [key(made), made])).values()];
    const once = oneOfEach(({ label }) => label).slice(0, runs);
    const each = new Set([...oneOfEach(({ label, violation }) => violation ?? label), ...once, ...found]);
    return [...each].slice(0, Math.max(once.length, runs / 2));
  }
  return { valid, broken };
}

/** The same request to something that exists in the service, as far as its replies have told. */
function withKnownIds(operation: Operation, known: Known, values: Values, turn: number): Values {
  const path = known.pathOf(operation, turn) ?? {};
  const idFor = (name: string, given: unknown) => {
    const ids = known.valuesOf(name);
    return ids.length > 0 ? ids[turn % ids.length] : given;
  };
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, idFor(name, inside(member))]));
  };
  return new Map(
    [...values].map(([part, value]) => {
      const { in: where, name } = part;
      const other = where === 'path' ? (path[name] ?? value) : where === 'query' ? idFor(name, value) : inside(value);
      return [part, part.violation(other) === '' ? other : value];
    }),
  );
}

/** The requests that differ from a valid one in one place, and break the document there. */
function* brokenFrom({ root, operation }: Checked, values: Values, isOpen: boolean): Generator<Broken> {
  for (const [part, value] of values) {
    const { in: where, name, required, schema, media } = part;
    const needed = [...values].filter(([other]) => other.required || other === part);
    if (required && where !== 'path') {
      const what = media === undefined ? `the ${where} parameter ${name}` : 'a body';
      yield { label: `a request without ${what}`, values: new Map(needed.filter(([other]) => other !== part)) };
    }
    if (media !== undefined && operation.requestBody?.media.every(({ type }) => !/^[^;]*\*/.test(type))) {
      yield { label: 'a wrong media type', values, contentType: 'application/x-undeclared' };
    }
    if (media?.kind === 'json') yield { label: 'a body that is not JSON', values, raw: '{"' };
    if (media?.items === undefined && (media?.kind === 'stream' || media?.kind === 'text')) continue;
    const isForm = media?.kind === 'form' || media?.kind === 'multipart';
    const variants = variantsOf(root, [schema], value).take(TRIED);
    for (const { at, inner, value: other } of [{ at: '', inner: '', value: '' }, ...variants]) {
      // A form is text: most of its values have no type of their own.
      if (isForm && (inner !== undefined || at.lastIndexOf('/') > 0)) continue;
      const violation = part.violation(other);
      if (!violation) continue;
      yield { label: `${kindOf(inner)} where ${violation}`, violation, values: new Map(needed).set(part, other) };
    }
  }
  if (!isOpen) yield { label: 'an undeclared query parameter', values, undeclared: 'undeclaredParameter=text' };
}
