import { isDeepStrictEqual } from 'node:util';
import {
  asArray,
  asObject,
  escapePointerToken,
  freeName,
  isObject,
  type Json,
  mapMembers,
  memoized,
  onFirstUse,
  resolveRef,
  schemas,
} from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { memberOf } from './type-nodes.ts';

const { factory } = ts;
const INT64 = factory.createTypeReferenceNode('Int64');
const DATE = factory.createTypeReferenceNode('Date');
const RECORD = openapi.tsRecord(openapi.STRING, openapi.UNKNOWN);

/** The types of values without members. */
const SIMPLE: Readonly<Record<string, ts.TypeNode>> = {
  string: openapi.STRING,
  number: openapi.NUMBER,
  integer: openapi.NUMBER,
  boolean: openapi.BOOLEAN,
  null: openapi.NULL,
};

/** The direction of a value: a handler receives requests and returns replies. */
export type TypeDirection = 'request' | 'reply';

/** The kind of a type: that of a direction, or `plain` for a reply whose dates are strings. */
type TypeKind = TypeDirection | 'plain';

/** The type of a definition. */
export interface NamedType {
  /** The name of the definition, with a suffix if its types differ. */
  readonly name: string;
  /** The name of the type in TypeScript. */
  readonly alias: string;
  readonly definition: string;
  readonly schema: unknown;
  readonly typeKind: TypeKind;
  /** Undefined until `makeTypes` completes it. */
  type?: ts.TypeNode;
}

/** The context of a schema. */
interface TypeContext {
  readonly typeKind: TypeKind;
  /** The enclosing schemas that apply to the same value. */
  readonly around: readonly Json[];
  /** The Encoding Objects, if the schema is that of a form. They decide which parts are files. */
  readonly encoding?: Json | undefined;
}

/**
 * Makes types of TypeScript from the lowered schemas of a document, which validators use, too. Make
 * the types of replies first: they keep the names of the document.
 *
 * @param isServer true for a server, which fills defaults in requests and accepts a `Date` in a
 *   reply.
 */
export function schemaTypes(root: Json, isServer: boolean) {
  const replies = schemas.lower(root, 'response');
  const lowered = { request: schemas.lower(root, 'request'), reply: replies, plain: replies };
  const declared = Object.keys(asObject(asObject(root.components).schemas));
  /** The types of definitions, by kind and definition. */
  const types = new Map<string, NamedType>();
  const aliases = new Map<string, string>();
  const suffixedNames = new Set<string>();
  const takenAliases = new Set(RESERVED_NAMES);
  for (const name of declared) aliasOf(name);
  /** Returns true if a definition is the same in requests and in replies. */
  const isEqual = onFirstUse((definition: string): boolean => {
    const [request, reply] = [lowered.request, replies].map(({ $defs }) => $defs[definition]);
    return isDeepStrictEqual(comparable(request, isServer), comparable(reply, false));
  });
  /** Returns true if a schema of replies contains dates, also in schemas that it references. */
  const hasDates = memoized((_root: Json, schema: unknown): boolean => {
    const reached = [...schemas.reachedFrom(replies.$defs, schema)];
    const parts = [schema, ...reached.map((name) => replies.$defs[name])];
    return isServer && parts.some((part) => containsDate(root, part));
  });

  return {
    /**
     * @param encoding the Encoding Objects of a form. Its properties may be files (OpenAPI 3.1
     *   §4.8.14.3 and §4.8.15).
     */
    typeOf(source: unknown, direction: TypeDirection, encoding?: Json): ts.TypeNode {
      const typeKind = direction === 'reply' && !isServer ? 'plain' : direction;
      const type = typeIn(lowered[typeKind].lower(source), { typeKind, around: [], encoding });
      makeTypes();
      return type;
    },

    /**
     * Returns the types of definitions. A definition that differs between requests and replies has
     * a second type with the suffix `Writable`. A definition with dates has a second type with the
     * suffix `Reply`.
     */
    namedTypes(): NamedType[] {
      for (const name of declared) {
        const $ref = `#/components/schemas/${escapePointerToken(name)}`;
        const isNamed = types.get(`request ${name}`)?.name === name;
        if (!isNamed) typeIn(replies.lower({ $ref }), { typeKind: 'plain', around: [] });
      }
      makeTypes();
      const byName = Map.groupBy(types.values(), ({ name }) => name);
      const ordered = new Set([...declared, ...byName.keys()]);
      return [...ordered].flatMap((name) => byName.get(name)?.[0] ?? []);
    },
  };

  /** Completes the named types. A loop, since recursion could exceed the stack on a long chain. */
  function makeTypes(): void {
    for (const named of types.values()) {
      named.type ??= typeIn(named.schema, { typeKind: named.typeKind, around: [] });
    }
  }

  function typeIn(schema: unknown, context: TypeContext): ts.TypeNode {
    if (!isObject(schema)) return schema === false ? openapi.NEVER : openapi.UNKNOWN;
    const { typeKind, around, encoding } = context;
    const { $ref, allOf, anyOf, oneOf } = schema;
    if (encoding !== undefined && $ref !== undefined) {
      const form = targetOf(typeKind, schema);
      if (form !== undefined && !around.includes(form)) return typeIn(form, context);
    }
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (Array.isArray(values)) return openapi.tsUnion([...new Set(values.map(literalOf))]);

    const inside = { ...context, around: [...around, schema] };
    const typesIn = (parts: unknown) => asArray(parts).map((part) => typeIn(part, inside));
    const composed = [
      ...(typeof $ref === 'string' ? [referenceTo($ref, inside)] : []),
      ...typesIn(allOf),
      ...[anyOf, oneOf].filter(Array.isArray).map((parts) => openapi.tsUnion(typesIn(parts))),
    ];
    const parts = [...coreTypes(schema, inside, composed.length > 0), ...composed].filter(
      (type) => type !== openapi.UNKNOWN,
    );
    return parts.length > 0 ? openapi.tsIntersection(parts) : openapi.UNKNOWN;
  }

  /**
   * Returns the type that `type` and the members of a schema describe, or an empty list if they
   * describe none.
   *
   * @param isComposed true if other schemas describe the same value.
   */
  function coreTypes(schema: Json, context: TypeContext, isComposed: boolean): ts.TypeNode[] {
    const hasMembers = MEMBERS.some((key) => (schema[key] ?? false) !== false);
    const implied = schema.type ?? (hasMembers ? 'object' : []);
    const names = [implied].flat();
    const isEmpty = !hasMembers && names.every((name) => name === 'object' || name === 'null');
    if (names.length === 0 || (isComposed && isEmpty)) return [];
    const types = names.flatMap((name): ts.TypeNode | ts.TypeNode[] => {
      if (name === 'array') return arrayType(schema, context);
      if (name === 'object') return hasMembers ? objectType(schema, context) : RECORD;
      if (name === 'string' && context.typeKind === 'reply' && isDate(schema))
        return [openapi.STRING, DATE];
      if (name === 'integer' && !isSafe(schema)) return INT64;
      return SIMPLE[String(name)] ?? openapi.UNKNOWN;
    });
    return [openapi.tsUnion(types)];
  }

  function arrayType(schema: Json, { typeKind }: TypeContext): ts.TypeNode {
    const { prefixItems, items, unevaluatedItems, minItems = 0, maxItems = Infinity } = schema;
    const typeOf = (item: unknown) => typeIn(item, { typeKind, around: [] });
    const rest = factory.createArrayTypeNode(typeOf(items));
    if (!Array.isArray(prefixItems)) return rest;
    const elements = prefixItems.map((item, index) =>
      index < Number(minItems) ? typeOf(item) : factory.createOptionalTypeNode(typeOf(item)),
    );
    const isFull = Number(maxItems) <= elements.length;
    if (!isFull && items !== false && unevaluatedItems !== false)
      elements.push(factory.createRestTypeNode(rest));
    return factory.createTupleTypeNode(elements);
  }

  function objectType(schema: Json, { typeKind, around, encoding }: TypeContext): ts.TypeNode {
    const { $defs } = lowered[typeKind];
    const properties = asObject(schema.properties);
    const required = requiredOf(schema, typeKind === 'request' && isServer);
    const typeOf = (member: unknown) => typeIn(member, { typeKind, around: [] });
    const members = Object.entries(properties).map(([name, property]) => {
      const file = encoding && fileType(property, asObject(encoding[name]).contentType, typeKind);
      const isOptional = !required.has(name);
      return memberOf(name, file ?? typeOf(property), { source: asObject(property), isOptional });
    });
    // Another schema for the same value may declare a required member.
    const others = around.flatMap((part) => schemas.allOf({ $defs }, part));
    for (const name of required) {
      if (Object.hasOwn(properties, name)) continue;
      const declarations = others.map((part) => asObject(part.properties));
      const declaration = declarations.find((part) => Object.hasOwn(part, name));
      members.push(memberOf(name, typeOf(declaration?.[name]), { source: {} }));
    }
    return factory.createTypeLiteralNode([...members, ...indexSignatures(schema, members, typeOf)]);
  }

  /** Returns the type of a property of a form, if it is a file or a list of files. */
  function fileType(property: unknown, contentType: unknown, typeKind: TypeKind) {
    const { $defs } = lowered[typeKind];
    const isFile = (field: unknown) => schemas.isFile({ $defs }, field, contentType);
    const file = factory.createTypeReferenceNode(typeKind === 'request' ? 'File' : 'Blob');
    if (isFile(property)) return file;
    const items = targetOf(typeKind, property)?.items;
    return items !== undefined && isFile(items) ? factory.createArrayTypeNode(file) : undefined;
  }

  function targetOf(typeKind: TypeKind, schema: unknown): Json | undefined {
    const { $defs } = lowered[typeKind];
    return resolveRef({ $defs }, schema);
  }

  function referenceTo($ref: string, { typeKind, around }: TypeContext): ts.TypeNode {
    const definition = schemas.definitionName($ref);
    const { $defs } = lowered[typeKind];
    // A type cannot contain itself. The checks report such a schema.
    const contained = schemas.alternatives({ $defs }, $defs[definition]);
    const [outermost] = around;
    if (outermost !== undefined && contained.includes(outermost)) return openapi.UNKNOWN;
    return factory.createTypeReferenceNode(namedType(definition, typeKind).alias);
  }

  /** Returns the named type of a definition. `makeTypes` completes it. */
  function namedType(definition: string, typeKind: TypeKind): NamedType {
    const key = `${typeKind} ${definition}`;
    const existingType = types.get(key);
    if (existingType !== undefined) return existingType;
    const isPlain =
      (typeKind === 'request' && isInReplies(definition) && hasEqualTypes(definition)) ||
      (typeKind === 'reply' && !hasDates(root, replies.$defs[definition]));
    const named = isPlain ? namedType(definition, 'plain') : newType(definition, typeKind);
    types.set(key, named);
    return named;
  }

  function isInReplies(definition: string): boolean {
    return types.has(`plain ${definition}`) || types.has(`reply ${definition}`);
  }

  /** Makes a named type. A name with a suffix never equals the name of another definition. */
  function newType(definition: string, typeKind: TypeKind): NamedType {
    const suffix = {
      request: isInReplies(definition) ? 'Writable' : '',
      reply: 'Reply',
      plain: '',
    }[typeKind];
    const isTaken = (text: string) =>
      suffix === ''
        ? suffixedNames.has(text)
        : aliases.has(text) || Object.hasOwn(replies.$defs, text);
    const name = freeName(definition + suffix, isTaken);
    if (suffix !== '') suffixedNames.add(name);
    const schema = lowered[typeKind].$defs[definition];
    return { name, alias: aliasOf(name), definition, schema, typeKind };
  }

  /** Returns the name of a type in TypeScript. It differs only if TypeScript forbids the name. */
  function aliasOf(name: string): string {
    const existingAlias = aliases.get(name);
    if (existingAlias !== undefined) return existingAlias;
    const words = name.replaceAll(/[^\p{ID_Continue}]+(.?)/gu, (_, next: string) =>
      next.toUpperCase(),
    );
    const base = /^[\p{ID_Start}_]/u.test(words) ? words : `Schema${words}`;
    const alias = freeName(base, (text) => takenAliases.has(text));
    takenAliases.add(alias);
    aliases.set(name, alias);
    return alias;
  }

  /** Returns true if the type of a definition is the same in requests and in replies. */
  function hasEqualTypes(definition: string): boolean {
    const requests = lowered.request.$defs;
    const reached = schemas.reachedFrom(requests, requests[definition]);
    return [definition, ...reached].every(isEqual);
  }
}

/** Keywords that declare members of an object. */
const MEMBERS = ['properties', 'additionalProperties', 'patternProperties', 'required'];

const isDate = ({ format }: Json): boolean => /^date(-time)?$/.test(String(format));

/** Returns true if a schema contains a date. Does not follow references. */
const containsDate = memoized(
  (root, value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (isDate(asObject(value)) || Object.values(value).some((part) => containsDate(root, part))),
);

/** Returns true if a JavaScript number holds every value exactly. */
function isSafe(schema: Json): boolean {
  const { minimum = schema.exclusiveMinimum, maximum = schema.exclusiveMaximum } = schema;
  return (
    !schemas.isWide(schema) || [minimum, maximum].every((bound) => Number.isSafeInteger(bound))
  );
}

const literalOf = (value: unknown): ts.TypeNode =>
  typeof value === 'bigint' ? INT64 : Object(openapi.tsLiteral(value));

/** Returns the names of required members, and of members with a default if those are filled in. */
function requiredOf({ required, properties }: Json, fillsDefaults: boolean): Set<string> {
  const filled = Object.entries(asObject(properties)).filter(([, property]) =>
    Object.hasOwn(asObject(property), 'default'),
  );
  const names = fillsDefaults ? filled.map(([name]) => name) : [];
  return new Set([...asArray(required).map(String), ...names]);
}

/** Returns the index signature of an object. TypeScript requires that all members fit its type. */
function indexSignatures(
  { additionalProperties = false, patternProperties }: Json,
  members: readonly ts.PropertySignature[],
  typeOf: (schema: unknown) => ts.TypeNode,
): ts.IndexSignatureDeclaration[] {
  const indexed = [additionalProperties, ...Object.values(asObject(patternProperties))].filter(
    (schema) => schema !== false,
  );
  if (indexed.length === 0) return [];
  const types = [...indexed.map(typeOf), ...members.flatMap(({ type }) => type ?? [])];
  if (members.some(({ questionToken }) => questionToken)) types.push(openapi.UNDEFINED);
  const type = types.includes(openapi.UNKNOWN) ? openapi.UNKNOWN : openapi.tsUnion(types);
  const key = factory.createParameterDeclaration(
    undefined,
    undefined,
    'key',
    undefined,
    openapi.STRING,
  );
  return [factory.createIndexSignature(undefined, [key], type)];
}

/** Returns the parts of a schema that decide its type. The value of a default does not matter. */
function comparable(schema: unknown, fillsDefaults: boolean): unknown {
  const inside = (part: unknown) => comparable(part, fillsDefaults);
  if (!isObject(schema)) return mapMembers(schema, inside);
  const { default: _, properties, ...others } = schema;
  return {
    ...asObject(mapMembers(others, inside)),
    properties: mapMembers(properties, inside),
    required: requiredOf(schema, fillsDefaults),
  };
}

/** Names that have another meaning in the generated file or in TypeScript. */
const RESERVED_NAMES = [
  'Handlers RequestTo ReplyTo Around AroundOf HandlersOf RequestOf ReplyOf Verifiers Int64',
  'File Blob Record Extract AsyncIterable Date Client ClientOptions Route Readable Promise',
  'components operations webhooks security defaults contract routes createClient clientOf',
  'any bigint boolean never null number object string symbol undefined unknown void type interface',
  'break case catch class const continue debugger default delete do else enum export extends false',
  'finally for function if import in instanceof new return super switch this throw true try typeof',
  'var while with implements let package private protected public static yield await async as',
  'infer intrinsic keyof readonly unique',
].flatMap((names) => names.split(' '));
