import { isObject, schemas } from 'openapi-document';
import { partsOf } from './parts.ts';
import { oneOf, randomFrom, shuffled } from './random.ts';
import type { Context, Part, Values } from './values.ts';
import { smaller, variantsOf } from './variants.ts';
import type { Written } from './write-request.ts';

/** A request that satisfies the document, or breaks it in one place. */
export interface Made extends Written {
  /** What is wrong with it; `undefined` if it is valid. */
  readonly label?: string;
  /** The valid request that it was made from. */
  readonly base: Values;
}

/** The requests of an operation, made from the schemas and examples of the document. */
export interface Requests {
  /** Requests that satisfy the document. The first ones have the declared examples. */
  valid(count: number): Generator<Made>;
  /** Requests that break the document: each way in which it can be broken once, up to `runs`, or half as many requests. */
  broken(runs: number): Made[];
  /** Requests of the same kind with one value less. */
  smaller(request: Made): Generator<Made>;
}

/** How many variants of a value are looked at, and how many places of one are changed at most. */
const TRIED = 2_000;
const PLACES = 8;

/** How many valid requests are looked at for places that can be broken. */
const LOOKED_AT = 6;

/** @throws {Error} if no valid value is found for something that is required. */
export function requestsOf(context: Context, seed: number): Requests {
  const { root, operation } = context;
  const random = randomFrom(seed);
  const { parameters, bodies } = partsOf(root, operation);
  const examples = Math.max(0, ...[...parameters, ...bodies].map((part) => part.examples.length));
  /** How often each place was changed: each of its values has its turn, those at the bounds first. */
  const turns = new Map<string, number>();

  /** A valid value that differs from another one in some places. */
  function changed(part: Part, from: unknown): unknown {
    const variants = (value: unknown) => variantsOf(root, [part.schema], value).take(TRIED);
    const places = shuffled([...new Set(variants(from).map(({ at }) => at))], random);
    let value = from;
    for (const place of places.slice(0, random() < 0.2 ? 1 : PLACES)) {
      const others = [...variants(value).filter(({ at }) => at === place)].map((other) => other.value);
      const key = `${part.in} ${part.name} ${place}`;
      const turn = turns.get(key) ?? 0;
      const next = [...others.keys()].find((n) => part.verdict(others[(turn + n) % others.length]) === 'valid');
      if (next === undefined) continue;
      value = others[(turn + next) % others.length];
      turns.set(key, turn + next + 1);
    }
    return value;
  }

  function requestAt(index: number): Made {
    const values = new Map<Part, unknown>();
    const body = bodies.slice(index % bodies.length)[0];
    for (const part of body === undefined ? parameters : [...parameters, body]) {
      const turn = part === body ? Math.floor(index / bodies.length) : index;
      if (turn < part.examples.length) values.set(part, part.examples[turn]);
      else if (part.required || random() > 0.2) {
        values.set(part, changed(part, oneOf([...part.examples, ...part.made], random)));
      }
    }
    // What exists, in half of the requests; a deletion ends it.
    const turn = operation.method === 'delete' ? index : index / 2;
    const base = Number.isInteger(turn) ? withKnownIds(context, values, turn) : values;
    return { values: base, base };
  }

  function* valid(count: number): Generator<Made> {
    for (let index = 0; index < Math.max(count, examples * Math.max(1, bodies.length)); index += 1)
      yield requestAt(index);
  }
  return {
    valid,
    broken(runs) {
      const found = [...valid(LOOKED_AT)].flatMap(({ values }) => [...brokenFrom(context, parameters, values)]);
      const byLabel = Map.groupBy(shuffled(found, random), ({ label }) => label);
      const ranked = [...byLabel.values()].flatMap((same) => same.map((broken, rank) => ({ broken, rank })));
      return ranked
        .sort((a, b) => a.rank - b.rank)
        .filter(({ rank }, index) => index < (rank === 0 ? runs : runs / 2))
        .map(({ broken }) => broken);
    },
    *smaller({ base, label }) {
      for (const values of smallerValues(base)) {
        if (label === undefined) yield { values, base: values };
        else
          yield* brokenFrom(context, parameters, values)
            .filter((broken) => broken.label === label)
            .take(1);
      }
    },
  };
}

function* smallerValues(values: Values): Generator<Values> {
  for (const [part, value] of values) {
    if (!part.required) yield new Map([...values].filter(([other]) => other !== part));
    if (part.media === undefined) continue;
    for (const other of smaller(value)) if (part.verdict(other) === 'valid') yield new Map(values).set(part, other);
  }
}

/** The same request to something that exists in the service, as far as its replies have told. */
function withKnownIds({ operation, known }: Context, values: Values, turn: number): Values {
  const path = known.pathOf(operation, turn) ?? {};
  const idFor = (name: string, given: unknown) => oneOf(known.valuesOf(name), () => (turn % 7) / 7) ?? given;
  const inside = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(inside)
      : isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, idFor(name, inside(member))]))
        : value;
  return new Map(
    [...values].map(([part, value]) => {
      const { in: where, name } = part;
      const other = where === 'path' ? (path[name] ?? value) : where === 'query' ? idFor(name, value) : inside(value);
      return [part, part.verdict(other) === 'valid' ? other : value];
    }),
  );
}

/** The requests that differ from a valid one in one place, and break the document there. */
function* brokenFrom({ root, operation }: Context, parameters: readonly Part[], base: Values): Generator<Made> {
  for (const [part, value] of base) {
    const { in: where, name, required, schema, media, verdict } = part;
    const others = () => new Map([...base].filter(([other]) => other !== part));
    const subject = media === undefined ? `a request where the ${where} parameter ${name}` : 'a body that';
    if (media !== undefined) yield* brokenBodies(operation, part, base);
    if (required && where !== 'path') {
      yield { label: media === undefined ? `${subject} is missing` : 'no body', values: others(), base };
    }
    const isText = media?.items === undefined && (media?.kind === 'stream' || media?.kind === 'text');
    if (isText) continue;
    const isForm = media?.kind === 'form' || media?.kind === 'multipart';
    const variants = variantsOf(root, [schema], value).take(TRIED);
    for (const { at, how, value: other } of [{ at: '', how: 'is empty', value: '' }, ...variants]) {
      // A form is text: most of its values have no type of their own.
      if (isForm && (how !== 'is missing' || at.lastIndexOf('/') > 0)) continue;
      if (verdict(other) !== 'broken') continue;
      const inner = media === undefined ? `${subject} has a ${at} that` : `a body whose ${at}`;
      yield { label: `${at === '' ? subject : inner} ${how}`, values: new Map(base).set(part, other), base };
    }
  }
  // An object in a query may take each name.
  const isOpen = parameters.some(
    ({ in: where, schema, parameter }) =>
      where === 'query' &&
      !parameter?.json &&
      schemas.alternatives(root, schema).some(({ type }) => [type].flat().includes('object')),
  );
  if (!isOpen)
    yield { label: 'an undeclared query parameter', values: base, undeclared: 'undeclaredParameter=text', base };
}

function* brokenBodies({ requestBody }: Context['operation'], { media }: Part, base: Values): Generator<Made> {
  if (requestBody?.media.every(({ type }) => !/^[^;]*\*/.test(type))) {
    yield { label: 'a wrong media type', values: base, contentType: 'application/x-undeclared', base };
  }
  if (media?.kind === 'json') yield { label: 'a body that is not JSON', values: base, raw: '{"', base };
}
