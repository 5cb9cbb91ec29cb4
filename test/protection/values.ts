import fc from 'fast-check';
import {
  BIG,
  FORMATS,
  json,
  type Keywords,
  NAMES,
  NUMBERS,
  ROOT,
  type Schema,
  TEXTS,
} from './schemas.ts';

export type Draw = fc.GeneratorValue;

const pick = <T>(draw: Draw, values: readonly T[]): T => draw(() => fc.constantFrom(...values));

/** Returns a value that a schema accepts or nearly accepts. */
export function valueNear(root: Schema, draw: Draw): unknown {
  const value = sample([root], 0);
  return draw(fc.boolean) ? value : mutate(value, draw);

  /** Returns a value near several schemas at once. */
  function sample(schemas: readonly Schema[], depth: number): unknown {
    const parts = schemas.flatMap((schema) => partsOf(schema, depth));
    const constants = parts.flatMap((part) => ('const' in part ? [part.const] : (part.enum ?? [])));
    if (constants.length > 0) return pick(draw, constants);
    const [type] = parts.flatMap((part) => part.type ?? []);
    if (type === 'object') return sampleObject(parts, depth + 1);
    if (type === 'array') return sampleArray(parts, depth + 1);
    if (type === 'boolean') return draw(fc.boolean);
    if (type === 'integer' || type === 'number') return sampleNumber(parts);
    const texts = parts.flatMap(({ format }) => FORMATS[String(format)] ?? []);
    if (type === 'string') return pick(draw, texts.length > 0 ? texts : TEXTS);
    return draw(() => json);
  }

  /** Lists a schema and the schemas beside it that may describe the same value. */
  function partsOf(schema: Schema | undefined, depth: number): Keywords[] {
    if (typeof schema !== 'object') return [];
    if (schema.$ref === ROOT.$ref) return depth < 4 ? partsOf(root, depth) : [];
    const { allOf = [], anyOf = [], oneOf = anyOf, dependentSchemas = {} } = schema;
    const chosen = oneOf.length > 0 ? [pick(draw, oneOf)] : [];
    const condition = draw(fc.boolean) ? [schema.if, schema.then] : [schema.else];
    const dependent = draw(fc.boolean) ? Object.values(dependentSchemas) : [];
    const others = [...allOf, ...chosen, ...condition, ...dependent];
    return [schema, ...others.flatMap((part) => partsOf(part, depth))];
  }

  function sampleNumber(parts: readonly Keywords[]): unknown {
    const bounds = parts.flatMap(({ minimum, exclusiveMaximum }) => [minimum, exclusiveMaximum]);
    const near = bounds.flatMap((bound): (number | bigint)[] => {
      if (typeof bound === 'bigint') return [bound, bound + 1n];
      return typeof bound === 'number' ? [bound, bound + 1, bound - 1] : [];
    });
    const others = parts.some(({ format }) => format === 'int64') ? BIG : NUMBERS;
    return pick<unknown>(draw, [...near, ...others]);
  }

  function sampleObject(parts: readonly Keywords[], depth: number): unknown {
    const required = parts.flatMap((part) => part.required ?? []);
    const declared = parts.flatMap(({ properties = {} }) => Object.keys(properties));
    const chosen = declared.filter(() => draw(fc.nat, 3) > 0);
    const others = draw(fc.nat, 3) === 0 ? draw(() => fc.subarray(NAMES)) : [];
    const names = [...new Set([...required, ...chosen, ...others])];
    const limit = Math.min(...parts.map((part) => Number(part.maxProperties ?? 9)));
    const members = names.slice(0, limit).map((name) => {
      const schemas = parts.flatMap((part) => schemasOfMember(part, name));
      return [name, sample(schemas, depth)] as const;
    });
    return Object.fromEntries(members);
  }

  function sampleArray(parts: readonly Keywords[], depth: number): unknown {
    const length = draw(fc.nat, 3);
    const items = Array.from({ length }, (_, index) => {
      const schemas = parts.map(({ prefixItems = [], items = true, contains }) => {
        const declared = prefixItems[index] ?? items;
        return draw(fc.boolean) ? declared : (contains ?? declared);
      });
      return sample(schemas, depth);
    });
    return draw(fc.nat, 4) === 0 ? [...items, ...items] : items;
  }
}

function schemasOfMember(part: Keywords, name: string): Schema[] {
  const { properties = {}, patternProperties = {}, additionalProperties = true } = part;
  const own = Object.hasOwn(properties, name) ? [properties[name] ?? true] : [];
  const patterns = Object.entries(patternProperties).filter(([key]) => RegExp(key).test(name));
  const all = [...own, ...patterns.map(([_pattern, schema]) => schema)];
  return all.length > 0 ? all : [additionalProperties];
}

/** Changes one place of a value. */
function mutate(value: unknown, draw: Draw): unknown {
  if (typeof value !== 'object' || value === null || draw(fc.nat, 3) === 0) return draw(() => json);
  if (Array.isArray(value)) {
    const index = draw(fc.nat, value.length);
    const item = value[index];
    const items = pick(draw, [[], [item, item], [mutate(item, draw)]]);
    return value.toSpliced(index, 1, ...items.filter((each) => each !== undefined));
  }
  const name = pick(draw, [...Object.keys(value), 'other']);
  const { [name]: member, ...rest } = Object(value);
  return draw(fc.nat, 2) === 0 ? rest : { ...rest, [name]: mutate(member, draw) };
}
