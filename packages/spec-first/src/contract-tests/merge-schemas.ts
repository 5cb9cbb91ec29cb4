import { allOfSchemas, asArray, asObject, type Json } from 'openapi-document';

/** A schema with what it references and its `allOf` in one object. Other alternatives stay as they are. */
export const flatten = (root: Json, schema: unknown): Json =>
  allOfSchemas(root, schema)
    .map(({ $ref: _reference, allOf: _parts, ...own }): Json => own)
    .reduce(mergeSchemas, {});

/** A schema for the values that both schemas describe, as far as one object can say it. */
export function mergeSchemas(a: Json, b: Json): Json {
  const out: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) out[key] = Object.hasOwn(a, key) ? both(key, a[key], value) : value;
  return out;
}

function both(key: string, a: unknown, b: unknown): unknown {
  if (/^(min|exclusiveMin)/.test(key)) return Math.max(Number(a), Number(b));
  if (/^(max|exclusiveMax)/.test(key)) return Math.min(Number(a), Number(b));
  if (key === 'required') return [...new Set([...asArray(a), ...asArray(b)])];
  if (key === 'enum') return asArray(a).filter((item) => asArray(b).includes(item));
  if (key === 'type') return commonTypes([a].flat(), [b].flat());
  if (key === 'items' || key === 'additionalProperties') return { allOf: [a, b] };
  if (key !== 'properties') return a;
  const [left, right] = [asObject(a), asObject(b)];
  const shared = Object.entries(right).map(([name, schema]) => [
    name,
    Object.hasOwn(left, name) ? { allOf: [left[name], schema] } : schema,
  ]);
  return { ...left, ...Object.fromEntries(shared) };
}

/** Each integer is a number. */
function commonTypes(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  const within = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a.filter((type) => within(b, type)), ...b.filter((type) => within(a, type))])];
}
