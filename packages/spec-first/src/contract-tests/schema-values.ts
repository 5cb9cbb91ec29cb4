import fc from 'fast-check';
import { generateSync } from 'json-schema-faker';
import { asArray, asObject, defaultFits, isObject, type Json } from 'openapi-document';
import { flatten, mergeSchemas } from './merge-schemas.ts';
import { type Characters, integersOf, numbersOf, stringsOf } from './scalar-values.ts';

/** Below this depth optional members are left out and lists are short: schemas may contain themselves. */
const DEEP = 3;
const DEEPEST = 12;

/** How many values are made to see whether most of them are valid. */
const TRIED = 40;

/**
 * Values that satisfy a schema. They shrink to small ones. Keywords that are not followed here, such as `not` and `if`,
 * are left to a check of each value. Where it rejects nearly all, json-schema-faker makes the values.
 *
 * @param isValid says whether a value may be used.
 * @returns `undefined` if no valid value is found.
 */
export function validValues(
  root: Json,
  schema: unknown,
  characters: Characters,
  isValid: (value: unknown) => boolean,
): fc.Arbitrary<unknown> | undefined {
  const ways = [() => valuesOf(root, schema, characters, 0), () => fakeValues(root, schema)];
  for (const make of ways) {
    try {
      const values = make();
      const valid = fc.sample(values, { numRuns: TRIED, seed: 1 }).filter(isValid).length;
      if (valid > TRIED / 10) return values.filter(isValid);
    } catch {
      // A pattern that fast-check does not follow, or bounds without a value between them.
    }
  }
  return undefined;
}

function fakeValues(root: Json, schema: unknown): fc.Arbitrary<unknown> {
  // As an item of a list, since the generator would take the components for members of an object.
  const list = { type: 'array', items: schema, minItems: 1, maxItems: 1, components: root.components };
  return fc
    .noShrink(fc.integer({ min: 1, max: 2 ** 31 - 1 }))
    .map((seed) => asArray(generateSync(list as Parameters<typeof generateSync>[0], { seed, maxDepth: 6 }))[0]);
}

/** Any JSON value, for a schema that says nothing. */
const anything = fc.oneof(fc.string({ maxLength: 10 }), fc.integer(), fc.boolean(), fc.constant(null));

function valuesOf(root: Json, schema: unknown, characters: Characters, depth: number): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return anything;
  if (depth > DEEPEST) throw new RangeError('the schema contains itself without an end');
  const flat = flatten(root, schema);
  for (const key of ['oneOf', 'anyOf']) {
    const choices = asArray(flat[key]);
    if (choices.length === 0) continue;
    const { [key]: _choices, ...base } = flat;
    return anyOf(
      choices.map((choice) => () => valuesOf(root, mergeSchemas(base, flatten(root, choice)), characters, depth + 1)),
    );
  }
  const made = Object.hasOwn(flat, 'const')
    ? fc.constant(flat.const)
    : Array.isArray(flat.enum)
      ? fc.constantFrom(...flat.enum)
      : anyOf(typesIn(flat).map((type) => () => ofType(root, type, flat, characters, depth)));
  const shown = [...asArray(flat.examples), ...('example' in flat ? [flat.example] : [])].filter((value) =>
    defaultFits(root, { ...flat, default: value }),
  );
  // What was stored under an example can be asked for again.
  return shown.length === 0
    ? made
    : fc.oneof({ arbitrary: made, weight: 3 }, { arbitrary: fc.constantFrom(...shown), weight: 1 });
}

/** One of several ways to make values. Ways that fail are left out. @throws {RangeError} if all fail. */
function anyOf(ways: readonly (() => fc.Arbitrary<unknown>)[]): fc.Arbitrary<unknown> {
  const possible = ways.flatMap((make) => {
    try {
      return [make()];
    } catch {
      return [];
    }
  });
  if (possible.length === 0) throw new RangeError('no value is possible');
  return fc.oneof(...possible);
}

function typesIn({ type, properties, required, items, prefixItems }: Json): unknown[] {
  if (type !== undefined) return [type].flat();
  if (properties !== undefined || required !== undefined) return ['object'];
  return items !== undefined || prefixItems !== undefined ? ['array'] : ['anything'];
}

function ofType(root: Json, type: unknown, schema: Json, characters: Characters, depth: number): fc.Arbitrary<unknown> {
  const inside = (inner: unknown) => valuesOf(root, inner, characters, depth + 1);
  if (type === 'object') return objectsOf(root, schema, inside, depth);
  if (type === 'array') return arraysOf(schema, inside, depth);
  if (type === 'string') return stringsOf(schema, characters);
  if (type === 'integer') return integersOf(schema);
  if (type === 'number') return numbersOf(schema);
  if (type === 'boolean') return fc.boolean();
  return type === 'null' ? fc.constant(null) : anything;
}

type Inside = (schema: unknown) => fc.Arbitrary<unknown>;

function objectsOf(root: Json, schema: Json, inside: Inside, depth: number): fc.Arbitrary<unknown> {
  const required = asArray(schema.required).map(String);
  const properties = asObject(schema.properties);
  const additional = schema.additionalProperties;
  const names = new Set([...required, ...(depth < DEEP ? Object.keys(properties) : [])]);
  const members = [...names].flatMap((name): [string, fc.Arbitrary<unknown>][] => {
    const of = properties[name] ?? (isObject(additional) ? additional : true);
    // A member that is only read is never sent.
    if (of === false || flatten(root, of).readOnly === true) return [];
    try {
      return [[name, inside(of)]];
    } catch (error) {
      if (required.includes(name)) throw error;
      return [];
    }
  });
  const record = recordOf(members, required);
  const least = Number(schema.minProperties ?? 0);
  if (!isObject(additional) && least <= members.length) return record;
  const more = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), isObject(additional) ? inside(additional) : anything, {
    minKeys: Math.max(0, least - required.length),
    maxKeys: Math.max(least, depth < DEEP ? 3 : 0),
    noNullPrototype: true,
  });
  return fc.tuple(more, record).map(([others, own]) => ({ ...others, ...own }));
}

/** Objects with members. Each that is not required is there in half of them. */
export function recordOf<T>(
  members: readonly (readonly [name: string, values: fc.Arbitrary<T>])[],
  required: readonly string[],
): fc.Arbitrary<Record<string, T>> {
  const all = members.map(([name, values]): [string, fc.Arbitrary<T | undefined>] => [
    name,
    required.includes(name) ? values : fc.option(values, { nil: undefined, freq: 2 }),
  ]);
  return fc.tuple(...all.map(([, values]) => values)).map((made) =>
    Object.fromEntries(
      all.flatMap(([name], index): [string, T][] => {
        const value = made[index];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  );
}

function arraysOf(schema: Json, inside: Inside, depth: number): fc.Arbitrary<unknown> {
  const first = asArray(schema.prefixItems).map(inside);
  const least = Math.max(0, Number(schema.minItems ?? 0) - first.length);
  const most = Math.min(
    Number(schema.maxItems ?? Number.POSITIVE_INFINITY) - first.length,
    least + (depth < DEEP ? 4 : 0),
  );
  if (schema.items === false || most <= 0) return fc.tuple(...first);
  const lengths = { minLength: least, maxLength: most };
  const items = inside(schema.items ?? true);
  const rest =
    schema.uniqueItems === true
      ? fc.uniqueArray(items, { ...lengths, selector: (item) => JSON.stringify(item, bigints) })
      : fc.array(items, lengths);
  return fc.tuple(fc.tuple(...first), rest).map(([start, end]) => [...start, ...end]);
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
