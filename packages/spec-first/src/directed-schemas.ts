import {
  asArray,
  asObject,
  decoded,
  escapePointerToken,
  isObject,
  type Json,
  resolveRef,
  schemas,
  valueAt,
} from 'openapi-document';

/** In the schema of a file in a form: `File` or `Blob`. */
export const FILE = 'x-file';
/** Marks a list whose items arrive one after the other. */
export const STREAM = 'x-stream';

/** Which way a value goes: a request has no `readOnly` properties, a reply has no `writeOnly` ones. */
export type Direction = 'request' | 'reply';

/** Keywords that say nothing about a TypeScript type, and what is drawn out of its place. */
const OMITTED = new Set([
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'dependentSchemas', 'unevaluatedProperties'],
  ...['$defs', 'readOnly', 'writeOnly'],
]);

/**
 * Rewrites the schemas of a document for one direction each, and so that openapi-typescript reads them as a validator does.
 * Take those of replies first: they keep the names of the document.
 *
 * @param fillsDefaults whether a property with a default is always present in a request.
 */
export function directedSchemas(root: Json, fillsDefaults: boolean) {
  const declared = asObject(asObject(root.components).schemas);
  const names = new Map<string, string>();
  const found = new Map<string, unknown>();
  const differs = new Map<unknown, boolean>();

  const isOneWay = (property: unknown, keyword: 'readOnly' | 'writeOnly') =>
    schemas.allOf(root, property).some((part) => part[keyword] === true);
  const hasDefault = (property: unknown) =>
    fillsDefaults && schemas.allOf(root, property).some((part) => part.default !== undefined);

  /** Whether a schema, or one that it references, is another in requests than in replies. */
  function differsByDirection(schema: unknown): boolean {
    const seen = new Set<unknown>([schema]);
    let result = false;
    for (const next of seen) {
      if (differs.get(next) === false) continue;
      result ||= differs.get(next) === true;
      schemas.each(next, '', (part) => {
        result ||= Object.values(asObject(part.properties)).some(
          (item) => isOneWay(item, 'readOnly') || isOneWay(item, 'writeOnly') || hasDefault(item),
        );
        if (typeof part.$ref === 'string') seen.add(valueAt(root, part.$ref));
      });
      if (result) break;
    }
    for (const each of result ? [schema] : seen) differs.set(each, result);
    return result;
  }

  function reference(ref: string, direction: Direction): string {
    const target = valueAt(root, ref);
    const variant = direction === 'request' && differsByDirection(target) ? 'request' : 'reply';
    let name = names.get(`${variant} ${ref}`);
    if (name === undefined) {
      name = freeName(ref, variant === 'request' && names.has(`reply ${ref}`));
      names.set(`${variant} ${ref}`, name);
      found.set(name, undefined);
      found.set(name, rewrite(target, variant));
    }
    return refTo(name);
  }

  /** A schema keeps its name. One at another place is named after the place. */
  function freeName(ref: string, isSecond: boolean): string {
    const [own = '', ...inside] = ref
      .replace(/^#\/(components\/schemas\/)?/, '')
      .split('/')
      .map(unescaped);
    const words = inside.filter((token) => !/^(\$defs|properties|schema)$/.test(token));
    const base = own + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    const name = isSecond ? `${base}Writable` : base;
    let free = name;
    if (inside.length === 0 && !isSecond) return free;
    for (let n = 2; Object.hasOwn(declared, free) || found.has(free); n++) free = `${name}${n}`;
    return free;
  }

  /**
   * A schema as it is in a direction. Its references lead to `components`.
   *
   * @param encoding that of a form, whose properties may be files (OpenAPI 3.1 §4.8.14.3 and §4.8.15).
   * @param around the schemas of the form around this one: it may contain itself.
   */
  function rewrite(source: unknown, direction: Direction, encoding?: Json, around: readonly unknown[] = []): unknown {
    const form = encoding && resolveRef(root, source);
    if (form !== undefined && around.includes(form)) return rewrite(source, direction);
    const schema = form ?? source;
    if (!isObject(schema)) return schema;
    const dropped = direction === 'request' ? 'readOnly' : 'writeOnly';
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (OMITTED.has(key)) continue;
      if (key === '$ref') copy[key] = reference(String(value), direction);
      else if (schemas.SUBSCHEMAS.one.includes(key)) copy[key] = rewrite(value, direction);
      else if (schemas.SUBSCHEMAS.list.includes(key))
        copy[key] = asArray(value).map((item) =>
          rewrite(notNull(schema, item), direction, encoding, [...around, schema]),
        );
      else if (schemas.SUBSCHEMAS.named.includes(key)) {
        const all = Object.entries(asObject(value));
        const kept = all.filter(([, item]) => key !== 'properties' || !isOneWay(item, dropped));
        copy[key] = Object.fromEntries(
          kept.map(([name, item]) => [name, rewrite(encoding ? asField(item, encoding[name]) : item, direction)]),
        );
      } else if (key === 'discriminator') copy[key] = discriminator(schema, direction);
      else if (key === FILE) copy[key] = direction === 'request' ? 'File' : 'Blob';
      else copy[key] = /^(default|examples?)$/.test(key) ? printable(value) : value;
    }
    const properties = direction === 'request' ? asObject(schema.properties) : {};
    const filled = Object.keys(properties).filter((name) => hasDefault(properties[name]));
    if (filled.length > 0) copy.required = [...new Set([...asArray(schema.required), ...filled])];
    if ([copy.const, ...asArray(copy.enum)].some((value) => typeof value === 'bigint')) {
      for (const key of ['const', 'enum']) delete copy[key];
      Object.assign(copy, { type: 'integer', format: 'int64' });
    }
    moveToAllOf(copy);
    return copy;
  }

  /** An object beside required properties is no null. openapi-typescript cannot require properties of a type with null. */
  function notNull({ required }: Json, item: unknown): unknown {
    const target = asArray(required).length > 0 ? resolveRef(root, item) : undefined;
    const types = asArray(target?.type);
    return types.includes('null') ? { ...target, type: types.filter((type) => type !== 'null') } : item;
  }

  /** The values of the property that tells alternatives apart. openapi-typescript gives one to each: the default has none. */
  function discriminator({ discriminator: value, oneOf, anyOf }: Json, direction: Direction): Json | undefined {
    const { mapping, ...rest } = asObject(value);
    const alternatives = [...asArray(oneOf), ...asArray(anyOf)];
    const union = schemas.unionOf(root, alternatives, value);
    if (alternatives.length > 0 && (union === undefined || union.fallback !== undefined)) return undefined;
    const all = union
      ? union.choices.flatMap(({ values, schema }) => values.map((key) => [key, asObject(schema).$ref]))
      : Object.entries(asObject(mapping)).map(([key, to]) => [
          key,
          /^#|[/.]/.test(String(to)) ? to : refTo(String(to)),
        ]);
    const known = all.filter(([, ref]) => valueAt(root, String(ref)) !== undefined);
    const entries = known.map(([key, ref]) => [key, reference(String(ref), direction)]);
    return { ...rest, mapping: Object.fromEntries(entries) };
  }

  /** A field of a form, marked if it is a file, or a list of files. */
  function asField(field: unknown, encoding: unknown, isItem = false): unknown {
    const source = resolveRef(root, field);
    if (schemas.isFile(root, field, asObject(encoding).contentType)) return { ...source, type: 'string', [FILE]: true };
    const items = isItem ? source?.items : asField(source?.items, encoding, true);
    return items === source?.items ? field : { ...source, items };
  }

  return {
    schema: rewrite,
    /** The schemas by name. What differs in a request has the suffix `Writable`, if replies have it as well. */
    components(): Json {
      for (const ref of Object.keys(declared).map(refTo)) if (!names.has(`request ${ref}`)) reference(ref, 'reply');
      const own = Object.keys(declared).filter((name) => found.has(name));
      return Object.fromEntries([...new Set([...own, ...found.keys()])].map((name) => [name, found.get(name)]));
    },
  };
}

const refTo = (name: string): string => `#/components/schemas/${escapePointerToken(name)}`;

/** The name that a token of a pointer stands for (RFC 6901 §4 and §6). */
export const unescaped = (token: string): string => decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');

/** A value that JSON.stringify writes exactly. */
export function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (Array.isArray(value)) return value.map(printable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, printable(item)]));
}

/** Moves keywords into `allOf`. openapi-typescript combines only these with the keywords beside them. */
function moveToAllOf(schema: Record<string, unknown>): void {
  for (const key of schema.discriminator === undefined ? ['$ref', 'anyOf'] : ['$ref']) {
    if (schema[key] === undefined || Object.keys(schema).length < 2) continue;
    schema.allOf = [...asArray(schema.allOf), { [key]: schema[key] }];
    delete schema[key];
  }
}
