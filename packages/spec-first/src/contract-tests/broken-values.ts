import {
  alternatives,
  asArray,
  asObject,
  escapePointerToken,
  isObject,
  itemSchemas,
  type Json,
  propertySchemas,
} from 'openapi-document';

/** A value that differs from a valid one in one place. It may be valid still: the caller checks it. */
export interface Broken {
  /** A JSON pointer into the value. Each index of a list is written as `0`, each name that is not declared as `*`. */
  readonly at: string;
  readonly how: 'is missing' | 'has a wrong type' | 'is out of bounds' | 'is not declared';
  readonly value: unknown;
}

/** A value of each JSON type. */
const OF_EACH_TYPE = [null, true, 'text', 1.5, [], {}];

/** How many items of a list are changed. */
const ITEMS = 2;

/** Values that differ from a valid one in one place. */
export function* brokenValues(root: Json, schemas: readonly unknown[], value: unknown): Generator<Broken> {
  for (const other of OF_EACH_TYPE) {
    if (typeName(other) !== typeName(value) || typeof value === 'number') {
      yield { at: '', how: 'has a wrong type', value: other };
    }
  }
  for (const other of outOfBounds(root, schemas, value)) yield { at: '', how: 'is out of bounds', value: other };
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, ITEMS).entries()) {
      const inside = schemas.flatMap((schema) => itemSchemas(root, schema, index));
      for (const { at, how, value: other } of brokenValues(root, inside, item)) {
        yield { at: `/0${at}`, how, value: value.with(index, other) };
      }
    }
  } else if (isObject(value)) {
    yield { at: '/undeclaredMember', how: 'is not declared', value: { ...value, undeclaredMember: 'text' } };
    const declared = new Set(
      schemas
        .flatMap((schema) => alternatives(root, schema))
        .flatMap(({ properties }) => Object.keys(asObject(properties))),
    );
    for (const [name, member] of Object.entries(value)) {
      const place = declared.has(name) ? `/${escapePointerToken(name)}` : '/*';
      const { [name]: _missing, ...others } = value;
      yield { at: place, how: 'is missing', value: others };
      const inside = schemas.flatMap((schema) => propertySchemas(root, schema, name));
      for (const { at, how, value: other } of brokenValues(root, inside, member)) {
        yield { at: `${place}${at}`, how, value: { ...value, [name]: other } };
      }
    }
  }
}

/** Values of the same type that a keyword of the schemas may not allow: the caller checks them. */
export function outOfBounds(root: Json, schemas: readonly unknown[], value: unknown): unknown[] {
  const all = schemas.flatMap((schema) => alternatives(root, schema));
  const bound = (keyword: string) =>
    all.flatMap((schema) => (typeof schema[keyword] === 'number' ? [schema[keyword]] : []));
  const others: unknown[] = [];
  if (typeof value === 'number' || typeof value === 'bigint') {
    others.push(...bound('minimum').map((least) => least - 1), ...bound('maximum').map((most) => most + 1));
    others.push(...bound('exclusiveMinimum'), ...bound('exclusiveMaximum'));
    others.push(...bound('multipleOf').map((step) => Number(value) + step / 2));
    if (all.some(({ format }) => format === 'int32')) others.push(2 ** 31, -(2 ** 31) - 1);
    if (all.some(({ format }) => format === 'int64')) others.push(2 ** 63, -(2 ** 63) - 2048);
  } else if (typeof value === 'string') {
    others.push(...bound('minLength').map((least) => 'x'.repeat(Math.max(0, least - 1))));
    others.push(...bound('maxLength').map((most) => 'x'.repeat(Math.min(most, 100_000) + 1)));
    if (all.some(({ pattern }) => pattern !== undefined)) others.push(`${value}!`, ' ', 'text');
  } else if (Array.isArray(value)) {
    others.push(...bound('minItems').map((least) => value.slice(0, Math.max(0, least - 1))));
    const [first] = value;
    if (value.length > 0) {
      others.push(...bound('maxItems').map((most) => Array.from({ length: Math.min(most, 10_000) + 1 }, () => first)));
      if (all.some(({ uniqueItems }) => uniqueItems === true)) others.push([...value, first]);
    }
  }
  if (all.some((schema) => asArray(schema.enum).length > 0 || Object.hasOwn(schema, 'const'))) {
    others.push(typeof value === 'string' ? `${value}-other` : Number(value) + 1);
  }
  return others;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}
