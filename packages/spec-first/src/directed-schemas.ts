import {
  asArray,
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  resolveRef,
  schemas,
  valueAt,
} from 'openapi-document';
import { EMPTY, FILE, VALUES } from './generator.ts';

/** Which way a value goes: a request has no `readOnly` properties, a reply has no `writeOnly` ones. */
export type Direction = 'request' | 'reply';

export interface DirectedSchemas {
  /** A schema as it is in a direction. Its references lead to {@link components}. */
  schema(schema: unknown, direction: Direction): unknown;
  /** The schema of a form, with its files (OpenAPI 3.1 §4.8.14.3 and §4.8.15). */
  form(schema: unknown, encoding: unknown, direction: Direction): unknown;
  /** The schemas by name. What differs in a request has the suffix `Writable`, if replies have it as well. */
  components(): Json;
}

const ONE = ['items', 'additionalProperties'];
const LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties'];
/** Keywords that say nothing about a TypeScript type, and what is drawn out of its place. */
const OMITTED = new Set([
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'dependentSchemas', 'unevaluatedProperties'],
  ...['$defs', 'readOnly', 'writeOnly'],
]);
/** Keywords that do not change a value's type. */
const ANNOTATIONS = new Set([
  ...['title', 'description', 'default', 'deprecated', 'example', 'examples', 'externalDocs', '$comment', '$anchor'],
  ...['xml', 'summary'],
]);

/**
 * Rewrites the schemas of a document for one direction each, and so that openapi-typescript reads them as a validator does.
 * Take those of replies first: they keep the names of the document.
 *
 * @param fillsDefaults whether a property with a default is always present in a request.
 */
export function directedSchemas(root: Json, fillsDefaults: boolean): DirectedSchemas {
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
        const properties = Object.values(asObject(part.properties));
        result ||= properties.some(
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
    return `#/components/schemas/${escapePointerToken(name)}`;
  }

  /** A schema keeps its name. One at another place is named after the place. */
  function freeName(ref: string, isSecond: boolean): string {
    const tokens = ref.replace(/^#\/(components\/schemas\/)?/, '').split('/');
    const words = decodeURIComponent(tokens.filter((token) => !/^(\$defs|properties|schema)$/.test(token)).join('/'));
    const [first = '', ...others] = words.split('/').map((word) => word.replaceAll('~1', '/').replaceAll('~0', '~'));
    const isOwn = tokens.length === 1;
    const base = `${first}${others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
    const name = isSecond ? `${base}Writable` : base;
    if (isOwn && !isSecond) return name;
    let free = name;
    for (let n = 2; Object.hasOwn(declared, free) || found.has(free); n++) free = `${name}${n}`;
    return free;
  }

  function rewrite(schema: unknown, direction: Direction): unknown {
    if (!isObject(schema)) return schema;
    const dropped = direction === 'request' ? 'readOnly' : 'writeOnly';
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (OMITTED.has(key)) continue;
      if (key === '$ref') copy[key] = reference(String(value), direction);
      else if (ONE.includes(key)) copy[key] = rewrite(value, direction);
      else if (LIST.includes(key)) copy[key] = asArray(value).map((item) => rewrite(notNull(schema, item), direction));
      else if (NAMED.includes(key)) {
        const all = Object.entries(asObject(value));
        const kept = all.filter(([, item]) => key !== 'properties' || !isOneWay(item, dropped));
        if (kept.length === 0 && all.length > 0) copy[EMPTY] = true;
        copy[key] = Object.fromEntries(kept.map(([name, item]) => [name, rewrite(item, direction)]));
      } else if (key === 'discriminator') copy[key] = discriminator(schema, direction);
      else if (key === FILE) copy[key] = direction === 'request' ? 'File' : 'Blob';
      else copy[key] = /^(default|examples?)$/.test(key) ? printable(value) : value;
    }
    if (direction === 'request') {
      const filled = Object.entries(asObject(schema.properties)).filter(([, item]) => hasDefault(item));
      if (filled.length > 0)
        copy.required = [...new Set([...asArray(schema.required), ...filled.map(([name]) => name)])];
    }
    if (copy.discriminator === undefined) delete copy.discriminator;
    const values = Object.hasOwn(copy, 'const') ? [copy.const] : asArray(copy.enum);
    if (values.some((value) => typeof value === 'bigint')) {
      for (const key of ['const', 'enum']) delete copy[key];
      Object.assign(copy, { type: 'integer', [VALUES]: values });
    }
    moveToAllOf(copy);
    return copy;
  }

  /** An object beside required properties is no null. openapi-typescript cannot require properties of a type with null. */
  function notNull({ required }: Json, item: unknown): unknown {
    if (asArray(required).length === 0 || !isObject(item) || item.$ref === undefined) return item;
    const target = resolveRef(root, item);
    return target !== undefined && asArray(target.type).includes('null')
      ? { ...target, type: asArray(target.type).filter((type) => type !== 'null') }
      : item;
  }

  /** The values of the property that tells alternatives apart. openapi-typescript gives one to each: the default has none. */
  function discriminator({ discriminator: value, oneOf, anyOf }: Json, direction: Direction): Json | undefined {
    const { mapping, ...rest } = asObject(value);
    const declared = Object.entries(asObject(mapping)).map(([key, target]) => {
      const ref = /^#|[/.]/.test(String(target)) ? String(target) : `#/components/schemas/${target}`;
      return [key, ref] as const;
    });
    const alternatives = [...asArray(oneOf), ...asArray(anyOf)];
    const union = schemas.unionOf(root, alternatives, value);
    if (alternatives.length > 0 && (union === undefined || union.fallback !== undefined)) return undefined;
    const chosen = union?.choices.flatMap(({ values, schema }) =>
      values.map((key) => [String(key), String(asObject(schema).$ref)] as const),
    );
    const all = (chosen ?? declared).filter(([, ref]) => valueAt(root, ref) !== undefined);
    return { ...rest, mapping: Object.fromEntries(all.map(([key, ref]) => [key, reference(ref, direction)])) };
  }

  function markFiles(schema: unknown, encoding: Json, seen: ReadonlySet<unknown>): unknown {
    const source = resolveRef(root, schema);
    if (source === undefined || seen.has(source)) return schema;
    const inside = new Set([...seen, source]);
    const copy: Record<string, unknown> = { ...source };
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      if (Array.isArray(source[key])) copy[key] = source[key].map((item) => markFiles(item, encoding, inside));
    }
    const properties = Object.entries(asObject(source.properties));
    const fields = properties.map(([name, field]) => [name, markField(field, asObject(encoding[name]).contentType)]);
    if (fields.length > 0) copy.properties = Object.fromEntries(fields);
    return copy;
  }

  function markField(field: unknown, contentType: unknown): unknown {
    if (schemas.isFile(root, field, contentType))
      return { ...asObject(resolveRef(root, field)), type: 'string', [FILE]: true };
    const source = resolveRef(root, field);
    return source?.items !== undefined && schemas.isFile(root, source.items, contentType)
      ? { ...source, items: { ...resolveRef(root, source.items), type: 'string', [FILE]: true } }
      : field;
  }

  return {
    schema: rewrite,
    form: (schema, encoding, direction) => rewrite(markFiles(schema, asObject(encoding), new Set()), direction),
    components() {
      for (const name of Object.keys(declared)) {
        const ref = `#/components/schemas/${escapePointerToken(name)}`;
        if (!names.has(`request ${ref}`)) reference(ref, 'reply');
      }
      const order = Object.keys(declared);
      const own = order.filter((name) => found.has(name)).map((name) => [name, found.get(name)]);
      return Object.fromEntries([...own, ...[...found].filter(([name]) => !Object.hasOwn(declared, name))]);
    },
  };
}

/** A value that JSON.stringify writes exactly. */
function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (Array.isArray(value)) return value.map(printable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, printable(item)]));
}

/** Moves keywords into `allOf`. openapi-typescript combines only these with the keywords beside them. */
function moveToAllOf(schema: Record<string, unknown>): void {
  const move = (keys: string[], list: unknown[]) => {
    for (const key of keys) Reflect.deleteProperty(schema, key);
    schema.allOf = [...asArray(schema.allOf), ...list];
  };
  const meaningful = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key) && !key.startsWith('x-'));
  if (typeof schema.$ref === 'string' && meaningful.length > 1) move(['$ref'], [{ $ref: schema.$ref }]);
  const groups = ['anyOf', 'oneOf'].filter((key) => Array.isArray(schema[key]));
  if (schema.type === 'integer' && (groups.length > 0 || Array.isArray(schema.allOf))) {
    const keys = ['type', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
    const own = Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)));
    move([...keys, ...groups], [own, ...groups.map((key) => ({ [key]: schema[key] }))]);
  } else if (Array.isArray(schema.anyOf) && meaningful.length > 1 && schema.discriminator === undefined) {
    move(['anyOf'], [{ anyOf: schema.anyOf }]);
  }
}
