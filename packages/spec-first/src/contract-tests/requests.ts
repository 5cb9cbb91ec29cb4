import { alternatives, isObject, type Parameter } from 'openapi-document';
import { brokenBodies, changedBody, isValidBody, validBodies } from './body-values.ts';
import { type ParameterValues, parameterValues } from './parameter-values.ts';
import { oneOf, randomFrom, shuffled } from './random.ts';
import type { Context, Named, RequestBody, Values } from './values.ts';
import { simpler } from './variants.ts';

/** A request that satisfies the document, or breaks it in one place. */
export interface Made {
  readonly values: Values;
  /** What is wrong with it; `undefined` if it is valid. */
  readonly label?: string | undefined;
  /** The valid request that it was made from. */
  readonly base: Values;
}

/** The requests of an operation, made from the schemas and examples of the document. */
export interface Requests {
  /** Requests that satisfy the document. The first ones have the declared examples. */
  valid(count: number): Generator<Made>;
  /** Requests that break the document: each way in which it can be broken once, up to `runs`, or half as many requests. */
  broken(runs: number): Made[];
  /** Simpler requests of the same kind. */
  simpler(request: Made): Generator<Made>;
}

const UNDECLARED = 'undeclaredParameter';

/** How many valid requests are looked at for places that can be broken. */
const LOOKED_AT = 12;

/** @throws {Error} if no valid value is found for something that is required. */
export function requestsOf(context: Context, seed: number): Requests {
  const { parameters, requestBody } = context.operation;
  const random = randomFrom(seed);
  const all = parameters.map((parameter) => parameterValues(context, parameter));
  const media = (requestBody?.media ?? []).map((type) => validBodies(context, type)).filter(({ bodies }) => bodies[0]);
  for (const { parameter, valid } of all) {
    if (parameter.required && valid.length === 0) throw noValue(`the ${parameter.in} parameter ${parameter.name}`);
  }
  if (requestBody?.required && media.length === 0) throw noValue('the body');
  const examples = Math.max(0, ...all.map((values) => values.examples), ...media.map((values) => values.examples));
  /** How often each parameter was sent: each of its values has its turn. */
  const turns = new Map(all.map(({ parameter }) => [parameter, Math.floor(random() * 1_000)]));

  const bodyAt = (index: number): RequestBody | undefined => {
    const { bodies, examples: shown } = media[index % media.length] ?? { bodies: [], examples: 0 };
    const at = Math.floor(index / media.length);
    if (at < shown) return bodies[at];
    if (requestBody?.required !== true && random() < 0.2) return undefined;
    const body = oneOf(bodies, random);
    return body && changedBody(context, body, at - shown, random);
  };
  const requestAt = (index: number): Made => {
    const request = { path: {}, query: {}, header: {}, cookie: {} } as Record<Parameter['in'], Record<string, unknown>>;
    for (const { parameter, valid, examples: shown } of all) {
      if (valid.length === 0 || (!parameter.required && index >= shown && random() < 0.25)) continue;
      const turn = turns.get(parameter) ?? 0;
      turns.set(parameter, turn + 1);
      request[parameter.in][parameter.name] = valid[index < shown ? index : turn % valid.length];
    }
    const made = { ...request, body: bodyAt(index) };
    // What exists, in half of the requests; a deletion ends it.
    const turn = context.operation.method === 'delete' ? index : index / 2;
    const values = Number.isInteger(turn) ? withKnownIds(context, made, turn) : made;
    return { values, base: values };
  };
  const requests: Requests = {
    *valid(count) {
      for (let index = 0; index < Math.max(count, examples); index += 1) yield requestAt(index);
    },
    broken(runs) {
      const found = [...requests.valid(LOOKED_AT)].flatMap(({ values }) => [...brokenFrom(context, all, values)]);
      const byLabel = Map.groupBy(shuffled(found, random), ({ label }) => label);
      const ranked = [...byLabel.values()].flatMap((same) => same.map((broken, rank) => ({ broken, rank })));
      return ranked
        .sort((a, b) => a.rank - b.rank)
        .filter(({ rank }, index) => index < (rank === 0 ? runs : runs / 2))
        .map(({ broken }) => broken);
    },
    *simpler({ base, label }) {
      for (const values of simplerValues(context, base)) {
        if (label === undefined) yield { values, base: values };
        else
          yield* brokenFrom(context, all, values)
            .filter((broken) => broken.label === label)
            .take(1);
      }
    },
  };
  return requests;
}

function* simplerValues(context: Context, values: Values): Generator<Values> {
  const { parameters, requestBody } = context.operation;
  for (const { in: where, name, required } of parameters) {
    const { [name]: _dropped, ...others } = values[where];
    if (!required && Object.hasOwn(values[where], name)) yield { ...values, [where]: others };
  }
  if (values.body === undefined) return;
  if (requestBody?.required !== true) yield { ...values, body: undefined };
  for (const value of simpler(values.body.value)) {
    const body = { ...values.body, value };
    if (isValidBody(context, body)) yield { ...values, body };
  }
}

/** The same request to something that exists in the service, as far as its replies have told. */
function withKnownIds(context: Context, values: Values, turn: number): Values {
  const { operation, known, checks } = context;
  const idFor = (name: string, given: unknown) => oneOf(known.valuesOf(name), () => (turn % 7) / 7) ?? given;
  const inBody = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(inBody)
      : isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, idFor(name, inBody(member))]))
        : value;
  const query = Object.fromEntries(Object.entries(values.query).map(([name, value]) => [name, idFor(name, value)]));
  const path = { ...values.path, ...known.pathOf(operation, turn) };
  const isValid = (named: Named) =>
    operation.parameters.every(
      ({ in: where, name, schema }) => where !== 'path' || checks(schema, 'request')(named[name]) === undefined,
    );
  const body = values.body && { ...values.body, value: inBody(values.body.value) };
  return {
    ...values,
    query,
    path: isValid(path) ? path : values.path,
    body: body && isValidBody(context, body) ? body : values.body,
  };
}

const noValue = (what: string) =>
  new Error(
    `No valid value was found for ${what}. Give it an example in the document, or check that its schema has one.`,
  );

/** The requests that differ from a valid one in one place, and break the document there. */
function* brokenFrom(context: Context, all: readonly ParameterValues[], base: Values): Generator<Made> {
  const { requestBody } = context.operation;
  for (const { parameter, invalid } of all) {
    const { name, in: where, required } = parameter;
    if (base[where][name] === undefined) continue;
    const { [name]: _dropped, ...others } = base[where];
    const location = `the ${where} parameter ${name}`;
    if (required && where !== 'path') {
      yield { label: `a request where ${location} is missing`, values: { ...base, [where]: others }, base };
    }
    for (const { how, at, value } of invalid) {
      const label = `a request where ${location} ${at === '' ? how : `has a ${at} that ${how}`}`;
      yield { label, values: { ...base, [where]: { ...base[where], [name]: value } }, base };
    }
  }
  if (!all.some(({ parameter }) => takesAnyName(context, parameter))) {
    const query = { ...base.query, [UNDECLARED]: 'text' };
    yield { label: 'an undeclared query parameter', values: { ...base, query }, base };
  }
  if (base.body === undefined) return;
  if (requestBody?.required) yield { label: 'no body', values: { ...base, body: undefined }, base };
  for (const [label, body] of brokenBodies(context, base.body)) yield { label, values: { ...base, body }, base };
}

/** Whether a parameter may take each name of the query. */
const takesAnyName = ({ root }: Context, { in: where, json, schema }: Parameter): boolean =>
  where === 'query' && !json && alternatives(root, schema).some(({ type }) => [type].flat().includes('object'));
