/** The types of JSON Schema (2020-12, Validation §6.1.1). */
export type TypeName = keyof typeof TYPE_BITS;

/** Types as bits, so that several `type` keywords join to one number. */
export const TYPE_BITS = {
  integer: 4,
  number: 4 | 8,
  string: 16,
  boolean: 2,
  array: 32,
  object: 64,
  null: 1,
} as const;

/** The bit of values that JSON cannot express, such as `undefined` and `NaN`. */
const NOT_JSON = 128;

/** The forms of serialized values: a list, pairs of names and values, or one text. */
export type Form = 'array' | 'object' | 'text';

/** Returns the form of the texts of values that may have the types. */
export function formOf(types: number): Form {
  if ((types & SCALARS) !== 0) return 'text';
  if ((types & TYPE_BITS.array) !== 0) return 'array';
  return (types & TYPE_BITS.object) === 0 ? 'text' : 'object';
}

/** The types of values in a form. */
export const typesIn = (form: Form): number =>
  form === 'text' ? SCALARS | TYPE_BITS.null : TYPE_BITS[form];

export const SCALARS = TYPE_BITS.string | TYPE_BITS.number | TYPE_BITS.boolean;

/** Allows every value. */
export const ANY_TYPE = 255;

export function typeBitOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TYPE_BITS.string;
    case 'number':
      if (Number.isInteger(value)) return TYPE_BITS.integer;
      return Number.isFinite(value) ? 8 : NOT_JSON;
    case 'object':
      if (value === null) return TYPE_BITS.null;
      return Array.isArray(value) ? TYPE_BITS.array : TYPE_BITS.object;
    case 'boolean':
      return TYPE_BITS.boolean;
    case 'bigint':
      return TYPE_BITS.integer;
    default:
      return NOT_JSON;
  }
}

/** Joins type names to bits. Ignores unknown names: the check of the document reports them. */
export function typeBits(names: readonly unknown[]): number {
  let bits = 0;
  for (const name of names)
    if (typeof name === 'string' && Object.hasOwn(TYPE_BITS, name))
      bits |= TYPE_BITS[name as TypeName];
  return bits;
}

/** Lists the types in a mask. `number` includes `integer`. */
export function typeNames(mask: number): TypeName[] {
  const names = (Object.keys(TYPE_BITS) as TypeName[]).filter(
    (name) => (mask & TYPE_BITS[name]) === TYPE_BITS[name],
  );
  return names.includes('number') ? names.filter((name) => name !== 'integer') : names;
}
