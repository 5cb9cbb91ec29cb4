import fc from 'fast-check';
import { alternatives, essenceOf, isObject, type Parameter } from 'openapi-document';
import { brokenValues, outOfBounds } from './broken-values.ts';
import { readings } from './validator.ts';
import type { Context, Values } from './values.ts';
import { isWritable } from './write-body.ts';

/** Requests that break the document in one place. */
export interface Breakage {
  /** What is wrong with them. */
  readonly label: string;
  readonly requests: fc.Arbitrary<Values>;
}

/** How many valid requests are looked at for places that can be broken. */
const LOOKED_AT = 20;

const UNDECLARED = 'undeclaredParameter';

/**
 * The ways in which a request of an operation can break the document, each with its requests.
 *
 * @returns each place once before the second way to break a place.
 */
export function breakagesOf(context: Context, valid: fc.Arbitrary<Values>, seed: number): Breakage[] {
  const found = fc.sample(valid, { numRuns: LOOKED_AT, seed }).flatMap((values) => waysToBreak(context, values));
  const ways = [...new Map(found.map((way) => [way.key, way])).values()];
  const byLabel = Map.groupBy(shuffled(ways, seed), ({ label }) => label);
  const ranked = [...byLabel.values()].flatMap((same) => same.map((way, rank) => ({ ...way, rank })));
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .map(({ label, key, values: found }) => ({
      label,
      // A request that lacks the place stands back for the one that had it.
      requests: valid.map((values) => waysToBreak(context, values).find((way) => way.key === key)?.values ?? found),
    }));
}

/** A list in an order that depends on the seed. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  if (items.length === 0) return [];
  const all = fc.shuffledSubarray([...items], { minLength: items.length });
  return fc.sample(all, { numRuns: 1, seed })[0] ?? [...items];
}

/** The ways to break a request, each with a key that other requests of the operation share. */
function waysToBreak(context: Context, values: Values) {
  const counts = new Map<string, number>();
  return brokenFrom(context, values).map(([label, broken]) => {
    const count = counts.get(label) ?? 0;
    counts.set(label, count + 1);
    return { label, key: `${label} ${count}`, values: broken };
  });
}

type Labelled = readonly [label: string, values: Values];

/** The requests that differ from a valid one in one place, and break the document there. */
function brokenFrom(context: Context, values: Values): Labelled[] {
  const { parameters } = context.operation;
  // Such a parameter may take each name.
  const free = parameters.some(
    ({ in: where, json, schema }) =>
      where === 'query' &&
      !json &&
      alternatives(context.root, schema).some(({ type }) => [type].flat().includes('object')),
  );
  const undeclared: Labelled[] = free
    ? []
    : [['an undeclared query parameter', { ...values, query: { ...values.query, [UNDECLARED]: 'text' } }]];
  return [
    ...parameters.flatMap((parameter) => brokenParameters(context, values, parameter)),
    ...undeclared,
    ...brokenBodies(context, values),
  ];
}

function brokenBodies({ root, operation, checks }: Context, values: Values): Labelled[] {
  const { requestBody } = operation;
  const { body } = values;
  if (requestBody === undefined || body === undefined) return [];
  const { media, value } = body;
  const check = checks(media.schema, 'request');
  const out: Labelled[] = [];
  if (requestBody.required) out.push(['no body', { ...values, body: undefined }]);
  if (requestBody.media.every(({ type }) => !/\*/.test(essenceOf(type)))) {
    out.push(['a wrong media type', { ...values, body: { ...body, contentType: 'application/x-undeclared' } }]);
  }
  if (media.kind === 'json') out.push(['a body that is not JSON', { ...values, body: { ...body, raw: '{"' } }]);
  if (media.kind === 'stream' || media.kind === 'text') return out;
  for (const { at, how, value: other } of brokenValues(root, [media.schema], value)) {
    // A form is text: most of its values have no type of their own.
    if (media.kind !== 'json' && (how !== 'is missing' || at.lastIndexOf('/') > 0)) continue;
    // A form without fields has no bytes: it is no body.
    if (!isWritable(media, other)) continue;
    const label = at === '' ? `a body that ${how}` : `a body whose ${at} ${how}`;
    if (check(other) !== undefined) out.push([label, { ...values, body: { ...body, value: other } }]);
  }
  return out;
}

function brokenParameters({ root, checks }: Context, values: Values, parameter: Parameter): Labelled[] {
  const { name, in: where, required, schema, json } = parameter;
  const value = values[where][name];
  if (value === undefined) return [];
  const place = `the ${where} parameter ${name}`;
  const withValue = (other: unknown): Values => ({ ...values, [where]: { ...values[where], [name]: other } });
  const out: Labelled[] = [];
  if (required && where !== 'path') out.push([`a request where ${place} is missing`, withValue(undefined)]);
  if (json || isObject(value)) return out;
  const check = checks(schema, 'request');
  const isBroken = (other: unknown) => readings(String(other)).every((reading) => check(reading) !== undefined);
  const wrongType = ['text', '1.5'].filter(() => !Array.isArray(value) && typeof value !== 'string');
  for (const [others, how] of [
    [wrongType, 'has a wrong type'],
    [Array.isArray(value) ? [] : outOfBounds(root, [schema], value), 'is out of bounds'],
  ] as const) {
    for (const other of others) {
      const text = String(other);
      if (text === '' || (where !== 'query' && text.trim() === '') || !isBroken(text)) continue;
      out.push([`a request where ${place} ${how}`, withValue(text)]);
    }
  }
  return out;
}
