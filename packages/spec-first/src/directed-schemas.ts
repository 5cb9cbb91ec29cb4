import { isDeepStrictEqual } from 'node:util';
import {
  asArray,
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  resolveRef,
  schemas,
} from 'openapi-document';

/** In the schema of a file in a form: `File` or `Blob`. */
export const FILE = 'x-file';
/** The place of a schema or an operation in the document: `file:line`. */
export const LINE = 'x-line';
/** Marks a list whose items arrive one after the other. */
export const STREAM = 'x-stream';
/** Marks a date of a reply, which may be a `Date`. */
export const DATE = 'x-date';
/** The type of an optional member beside an index signature. */
export const MISSING = 'x-missing';

/** A handler receives requests and returns replies. */
export type Direction = 'request' | 'reply';

/** A type of one direction, or of a reply whose dates are strings. */
type Variant = Direction | 'plain';

/** Keywords that do not affect a TypeScript type, and those of the lowering. */
const OMITTED = new Set([
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'dependentSchemas'],
  ...['unevaluatedProperties', 'x-tag', 'x-dropped'],
]);

export interface TypeOptions {
  /** True if a property with a default is always present in a request. */
  readonly fillsDefaults: boolean;
  /** True if a date of a reply may be a `Date`. */
  readonly acceptsDates: boolean;
}

/**
 * Converts the lowered schemas of a document for openapi-typescript, so that types and validators
 * agree. Convert the schemas of replies first, since they keep the names of the document.
 */
export function directedSchemas(root: Json, { fillsDefaults, acceptsDates }: TypeOptions) {
  const replies = schemas.lower(root, 'response');
  const lowered = { request: schemas.lower(root, 'request'), reply: replies, plain: replies };
  const components = new Map<string, unknown>();
  const names = new Map<string, string>();
  const alike = new Map<string, boolean>();
  const dated = new Map<string, boolean>();

  return {
    /**
     * Returns a schema for a direction. Its references lead to `components`.
     *
     * @param encoding that of a form, whose properties may be files (OpenAPI 3.1 §4.8.14.3 and
     *   §4.8.15).
     */
    schema: (source: unknown, direction: Direction, encoding?: Json): unknown =>
      convert(lowered[direction].lower(source), { ...placeIn(direction), encoding }),

    /**
     * Returns the schemas by name. A schema that differs in requests has the suffix `Writable`, if
     * replies have it as well. A schema of a reply with dates has the suffix `Reply`.
     */
    components(): Json {
      const declared = Object.keys(asObject(asObject(root.components).schemas));
      for (const name of declared) {
        const isPlain = names.get(`request ${name}`) === name;
        const $ref = `#/components/schemas/${escapePointerToken(name)}`;
        if (!isPlain) convert(replies.lower({ $ref }), placeIn('plain'));
      }
      const first = declared.filter((name) => components.has(name));
      const ordered = new Set([...first, ...components.keys()]);
      return Object.fromEntries([...ordered].map((name) => [name, components.get(name)]));
    },
  };

  interface Place {
    readonly direction: Variant;
    readonly encoding?: Json | undefined;
    /** The schemas around, for the same value. */
    readonly around: readonly Json[];
    /** Returns the reference that another one becomes. */
    readonly refer: (ref: string) => string;
  }

  function placeIn(direction: Variant): Place {
    return { direction, around: [], refer: (ref) => reference(ref, direction) };
  }

  function convert(source: unknown, place: Place): unknown {
    const { direction, encoding, around, refer } = place;
    const alone = { direction, around: [], refer };
    const root = lowered[direction];
    const form = encoding && resolveRef({ $defs: root.$defs }, source);
    if (form !== undefined && around.includes(form)) return convert(source, alone);
    const original = form ?? source;
    if (!isObject(original)) return original;
    const schema = withHoistedNames(original);
    const inside = [...around, original];
    const member = (part: unknown) => convert(part, alone);
    const sameValue = (part: unknown) =>
      convert(notNull(schema, part, root), { ...place, around: inside });

    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (OMITTED.has(key)) continue;
      if (key === '$ref') copy.$ref = refer(String(value));
      else if (key === FILE) copy[FILE] = direction === 'request' ? 'File' : 'Blob';
      else if (schemas.SUBSCHEMAS.one.includes(key)) copy[key] = member(value);
      else if (key === 'prefixItems') copy[key] = asArray(value).map(member);
      else if (schemas.SUBSCHEMAS.list.includes(key)) copy[key] = asArray(value).map(sameValue);
      else if (schemas.SUBSCHEMAS.named.includes(key))
        copy[key] = members(value, root, encoding, member);
      else copy[key] = /^(default|examples?)$/.test(key) ? printable(value) : value;
    }
    requireMembers(copy, schema, inside, root, member);
    if (direction === 'request' && fillsDefaults) requireDefaults(copy, schema);
    if (direction === 'reply' && acceptsDates && isDate(schema)) copy[DATE] = true;
    widenIndex(copy);
    withoutBigints(copy);
    moveToAllOf(copy);
    return copy;
  }

  /** Returns the reference to the schema of a direction. The first call converts the schema. */
  function reference(ref: string, direction: Variant): string {
    const name = schemas.definitionName(ref);
    const variant = direction === 'reply' && !hasDates(name) ? 'plain' : direction;
    const key = `${variant} ${name}`;
    const used = names.get(key) ?? nameFor(name, variant);
    names.set(key, used);
    if (!components.has(used)) {
      components.set(used, undefined);
      components.set(used, convert(lowered[variant].$defs[name], placeIn(variant)));
    }
    return `#/components/schemas/${escapePointerToken(used)}`;
  }

  function nameFor(name: string, variant: Variant): string {
    if (variant === 'plain') return name;
    const isInReplies = names.has(`plain ${name}`) || names.has(`reply ${name}`);
    if (variant === 'request' && (!isInReplies || isAlike(name))) return name;
    const base = `${name}${variant === 'reply' ? 'Reply' : 'Writable'}`;
    let free = base;
    for (let count = 2; components.has(free) || Object.hasOwn(replies.$defs, free); count += 1)
      free = `${base}${count}`;
    return free;
  }

  /** Returns true if a definition, or one that it references, has dates in a reply. */
  function hasDates(name: string): boolean {
    const cachedResult = dated.get(name);
    if (cachedResult !== undefined) return cachedResult;
    dated.set(name, false);
    const result = acceptsDates && findDates(replies.$defs[name], hasDates);
    dated.set(name, result);
    return result;
  }

  /** Returns true if a definition, and those that it references, are the same both ways. */
  function isAlike(name: string): boolean {
    const cachedResult = alike.get(name);
    if (cachedResult !== undefined) return cachedResult;
    // Ends the recursion for a schema that contains itself.
    alike.set(name, true);
    const refs = new Set<string>();
    const refer = (ref: string) => {
      refs.add(ref);
      return ref;
    };
    const [request, reply] = (['request', 'plain'] as const).map((direction) =>
      withoutDefaults(convert(lowered[direction].$defs[name], { direction, around: [], refer })),
    );
    const inside = [...refs].map((ref) => schemas.definitionName(ref));
    const result = isDeepStrictEqual(request, reply) && inside.every(isAlike);
    alike.set(name, result);
    return result;
  }
}

const isDate = ({ format }: Json): boolean => /^date(-time)?$/.test(String(format));

/** @param hasDates returns true if a definition has dates. */
function findDates(schema: unknown, hasDates: (name: string) => boolean): boolean {
  if (Array.isArray(schema)) return schema.some((part) => findDates(part, hasDates));
  if (!isObject(schema)) return false;
  const { $ref } = schema;
  return (
    isDate(schema) ||
    (typeof $ref === 'string' && hasDates(schemas.definitionName($ref))) ||
    Object.values(schema).some((part) => findDates(part, hasDates))
  );
}

/** Removes defaults, which are only comments in types. A property may be named `default`. */
function withoutDefaults(schema: unknown, isNamed = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withoutDefaults(part));
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).filter(([key]) => isNamed || key !== 'default');
  return Object.fromEntries(
    members.map(([key, part]) => [key, withoutDefaults(part, key === 'properties' && !isNamed)]),
  );
}

/** Returns a value that `JSON.stringify` writes exactly. */
export function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (Array.isArray(value)) return value.map(printable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, printable(item)]));
}

type Lowered = schemas.LoweredSchemas;

function members(
  named: unknown,
  root: Lowered,
  encoding: Json | undefined,
  convert: (schema: unknown) => unknown,
): Json {
  const converted = Object.entries(asObject(named)).map(([name, schema]) => {
    const field = encoding === undefined ? schema : asField(root, schema, encoding[name]);
    return [name, convert(field)];
  });
  return Object.fromEntries(converted);
}

/** Returns a field of a form, marked if it is a file or a list of files. */
function asField(
  { $defs }: Pick<Lowered, '$defs'>,
  field: unknown,
  encoding: unknown,
  isItem = false,
): unknown {
  const root = { $defs };
  const source = resolveRef(root, field);
  if (schemas.isFile(root, field, asObject(encoding).contentType))
    return { ...source, type: 'string', [FILE]: true };
  const items = isItem ? source?.items : asField({ $defs }, source?.items, encoding, true);
  return items === source?.items ? field : { ...source, items };
}

/**
 * Removes `null` from the types of a part of a schema with required properties. openapi-typescript
 * cannot require properties of a type with null.
 */
function notNull({ required }: Json, item: unknown, { $defs }: Lowered): unknown {
  const target = asArray(required).length > 0 ? resolveRef({ $defs }, item) : undefined;
  const types = asArray(target?.type);
  return types.includes('null')
    ? { ...target, type: types.filter((type) => type !== 'null') }
    : item;
}

/** Moves the names that a part of an `allOf` requires, and does not declare, beside the `allOf`. */
function withHoistedNames(schema: Json): Json {
  const names: unknown[] = [];
  const parts = asArray(schema.allOf).map((part) => {
    const { required, ...others } = asObject(part);
    const isDeclared = (name: unknown) => Object.hasOwn(asObject(others.properties), String(name));
    const hoisted = asArray(required).filter((name) => !isDeclared(name));
    if (hoisted.length === 0) return part;
    names.push(...hoisted);
    return { ...others, required: asArray(required).filter(isDeclared) };
  });
  if (names.length === 0) return schema;
  return {
    ...schema,
    allOf: parts,
    required: [...new Set([...asArray(schema.required), ...names])],
  };
}

/** Declares the members that a schema requires, as the schemas around it do. */
function requireMembers(
  copy: Record<string, unknown>,
  { required, properties, type, allOf }: Json,
  around: readonly Json[],
  { $defs }: Lowered,
  convert: (schema: unknown) => unknown,
): void {
  const root = { $defs };
  const isObjectOrNone = type === undefined || [type].flat().includes('object');
  // openapi-typescript requires the properties of the parts of an allOf by itself.
  const direct = [properties, ...asArray(allOf).map((part) => resolveRef(root, part)?.properties)];
  const missing = asArray(required)
    .map(String)
    .filter((name) => !direct.some((named) => Object.hasOwn(asObject(named), name)));
  if (missing.length === 0 || !isObjectOrNone) return;
  const parts = around.flatMap((schema) => schemas.allOf(root, schema));
  const declared = missing.map((name) => {
    const part = parts.find((each) => Object.hasOwn(asObject(each.properties), name));
    return [name, part === undefined ? {} : convert(asObject(part.properties)[name])];
  });
  copy.properties = { ...asObject(copy.properties), ...Object.fromEntries(declared) };
}

function requireDefaults(copy: Record<string, unknown>, { properties, required }: Json): void {
  const filled = Object.entries(asObject(properties))
    .filter(([, property]) => Object.hasOwn(asObject(property), 'default'))
    .map(([name]) => name);
  if (filled.length > 0) copy.required = [...new Set([...asArray(required), ...filled])];
}

/** Adds the types of all members to the index signature, as TypeScript requires. */
function widenIndex(copy: Record<string, unknown>): void {
  const declared = Object.entries(asObject(copy.properties));
  const isTyped = isObject(copy.additionalProperties) || isObject(copy.patternProperties);
  if (!isTyped || declared.length === 0) return;
  const patterns = Object.values(asObject(copy.patternProperties));
  const others = isObject(copy.additionalProperties) ? [copy.additionalProperties] : [];
  const isOptional = declared.some(([name]) => !asArray(copy.required).includes(name));
  const alternatives = [...others, ...patterns, ...declared.map(([, schema]) => schema)];
  if (alternatives.some((schema) => schema === true || Object.keys(asObject(schema)).length === 0))
    copy.additionalProperties = {};
  else
    copy.additionalProperties = {
      anyOf: [...alternatives, ...(isOptional ? [{ type: MISSING }] : [])],
    };
  delete copy.patternProperties;
}

/** Replaces bigints, which openapi-typescript does not support, by their type. */
function withoutBigints(copy: Record<string, unknown>): void {
  if (![copy.const, ...asArray(copy.enum)].some((value) => typeof value === 'bigint')) return;
  for (const key of ['const', 'enum']) delete copy[key];
  Object.assign(copy, { type: 'integer', format: 'int64' });
}

/**
 * Moves keywords into `allOf`. openapi-typescript combines only these with the keywords beside
 * them.
 */
function moveToAllOf(schema: Record<string, unknown>): void {
  for (const key of ['$ref', 'anyOf']) {
    if (schema[key] === undefined || Object.keys(schema).length < 2) continue;
    schema.allOf = [...asArray(schema.allOf), { [key]: schema[key] }];
    delete schema[key];
  }
}
