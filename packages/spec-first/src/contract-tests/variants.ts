import { asObject, escapePointerToken, isObject, type Json, schemas } from 'openapi-document';
import { candidatesFor, type How, isSendable } from './candidates.ts';

/** A value that differs from another one in one place. It may be valid or not: the caller checks it. */
export interface Variant {
  /** A JSON pointer into the value. Each index of a list is written as `0`, each name that is not declared as `*`. */
  readonly at: string;
  /** What is wrong there, if the value is invalid. */
  readonly how: How;
  readonly value: unknown;
}

/** A value of each JSON type. */
const OF_EACH_TYPE = [null, true, 'text', 1.5, [], {}];

/** How many items of a list are changed. */
const ITEMS = 2;

/** Values that differ from a valid one in one place. */
export function* variantsOf(root: Json, all: readonly unknown[], value: unknown): Generator<Variant> {
  for (const other of OF_EACH_TYPE) {
    if (typeName(other) !== typeName(value) || typeof value === 'number') {
      yield { at: '', how: 'has a wrong type', value: other };
    }
  }
  for (const [how, other] of candidatesFor(root, all, value)) yield { at: '', how, value: other };
  if (Array.isArray(value)) yield* inArray(root, all, value);
  else if (isObject(value)) yield* inObject(root, all, value);
}

function* inArray(root: Json, all: readonly unknown[], value: readonly unknown[]): Generator<Variant> {
  const bounds = all
    .flatMap((schema) => schemas.alternatives(root, schema))
    .flatMap(({ minItems, maxItems }) => [Number(minItems), Number(maxItems)]);
  const [first] = value;
  const lengths = [0, 1, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1])].filter(isSendable);
  for (const length of new Set(lengths)) {
    const longer = Array.from({ length: first === undefined ? 0 : length - value.length }, () => first);
    if (length < value.length) yield { at: '', how: 'is too short', value: value.slice(0, length) };
    else yield { at: '', how: 'is too long', value: [...value, ...longer] };
  }
  if (first !== undefined) yield { at: '', how: 'is not allowed', value: [...value, first] };
  for (const [index, item] of value.slice(0, ITEMS).entries()) {
    const inside = all.flatMap((schema) => schemas.ofItem(root, schema, index));
    for (const { at, how, value: other } of variantsOf(root, inside, item)) {
      yield { at: `/0${at}`, how, value: value.with(index, other) };
    }
  }
}

function* inObject(root: Json, all: readonly unknown[], value: Json): Generator<Variant> {
  yield { at: '/undeclaredMember', how: 'is not declared', value: { ...value, undeclaredMember: 'text' } };
  const declared = new Set(
    all
      .flatMap((schema) => schemas.alternatives(root, schema))
      .flatMap(({ properties }) => Object.keys(asObject(properties))),
  );
  for (const [name, member] of Object.entries(value)) {
    const location = declared.has(name) ? `/${escapePointerToken(name)}` : '/*';
    const { [name]: _missing, ...others } = value;
    yield { at: location, how: 'is missing', value: others };
    const inside = all.flatMap((schema) => schemas.ofProperty(root, schema, name));
    for (const { at, how, value: other } of variantsOf(root, inside, member)) {
      yield { at: `${location}${at}`, how, value: { ...value, [name]: other } };
    }
  }
}

/** The value with one item or member less, wherever it may be. */
export function* smaller(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const index of value.keys()) yield value.toSpliced(index, 1);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _dropped, ...others } = value;
      yield others;
      for (const other of smaller(member)) yield { ...value, [name]: other };
    }
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}
