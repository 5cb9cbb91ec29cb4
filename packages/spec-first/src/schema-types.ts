import {
  asArray,
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  onFirstUse,
  resolveRef,
  schemas,
  stringifyJson,
} from 'openapi-document';
import {
  aliasMaker,
  definitionOf,
  kindOf,
  referencesIn,
  referenceTo,
  replaceReferences,
  type TypeKey,
  type TypeKind,
} from './type-names.ts';
import { grouped, intersection, memberOf, objectOf, union } from './type-text.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

interface NamedType {
  /** The name of the definition. A second type has a suffix, such as `Writable`. */
  readonly name: string;
  /** The name of the type in TypeScript. */
  readonly alias: string;
  readonly definition: string;
  readonly schema: unknown;
  readonly type: string;
}

interface TypeContext {
  readonly typeKind: TypeKind;
  /** The enclosing schemas that apply to the same value. */
  readonly enclosing: readonly Json[];
  /** The Encoding Objects, if the schema is that of a form. They decide which parts are files. */
  readonly encoding?: Json | undefined;
}

/**
 * Makes TypeScript types from the lowered schemas of a document. Validators use the same schemas.
 *
 * @param isServer true for a server, which fills defaults in requests and accepts a `Date` in a
 *   response.
 */
export function schemaTypes(root: Json, isServer: boolean) {
  const response = schemas.lower(root, 'response');
  const lowered = { request: schemas.lower(root, 'request'), response, plain: response };
  const schemaOf = (key: TypeKey) => lowered[kindOf(key)].$defs[definitionOf(key)];
  const typeOfKey = onFirstUse((key: TypeKey) =>
    typeIn(schemaOf(key), { typeKind: kindOf(key), enclosing: [] }),
  );
  const referencesOf = onFirstUse((key: TypeKey) => referencesIn(typeOfKey(key)));
  /** Returns true if a type has the same text as the type of the kind `plain`. */
  const hasPlainText = onFirstUse(
    (key: TypeKey) => comparable(typeOfKey(key)) === comparable(typeOfKey(plainOf(key))),
  );

  return {
    /**
     * Returns a type with references, which `nameTypes` replaces.
     *
     * @param encoding the Encoding Objects of a form. Its properties may be files (OpenAPI 3.1
     *   §4.8.14.3 and §4.8.15).
     */
    typeOf(source: unknown, direction: schemas.Direction, encoding?: Json): string {
      const typeKind = direction === 'response' && !isServer ? 'plain' : direction;
      return typeIn(lowered[typeKind].lower(source), { typeKind, enclosing: [], encoding });
    },

    /**
     * Replaces the references in a text by names, and returns the named types. A definition that
     * differs between requests and responses has a second type with the suffix `Writable`. A
     * definition with dates has a second type with the suffix `Reply`.
     */
    nameTypes(text: string): { readonly types: NamedType[]; readonly text: string } {
      const used = reachedFrom(text);
      const inResponses = new Set(
        [...used].filter((key) => kindOf(key) !== 'request').map(definitionOf),
      );
      /**
       * Merges equal types of a definition. Returns the key of the kind `request` if only requests
       * contain the definition. Returns the key of the kind `plain` if the type of `key`, and each
       * type that it references, has the same text as its `plain` type. Otherwise returns `key`.
       */
      const mergedKey = onFirstUse((key: TypeKey): TypeKey => {
        const requestKey: TypeKey = `request ${definitionOf(key)}`;
        if (!inResponses.has(definitionOf(key))) return used.has(requestKey) ? requestKey : key;
        const reached = [key, ...reachedFrom(typeOfKey(key))];
        return reached.every(hasPlainText) ? plainOf(key) : key;
      });
      const suffixOf = (key: TypeKey): string => {
        if (kindOf(key) === 'response') return 'Reply';
        return kindOf(key) === 'request' && inResponses.has(definitionOf(key)) ? 'Writable' : '';
      };

      const declared = Object.keys(asObject(asObject(root.components).schemas)).map((name) => {
        const $ref = `#/components/schemas/${escapePointerToken(name)}`;
        return typeIn(response.lower({ $ref }), { typeKind: 'plain', enclosing: [] });
      });
      const keys = new Set(referencesIn(declared.join('') + text).map(mergedKey));
      for (const key of keys) {
        for (const next of referencesOf(key)) keys.add(mergedKey(next));
      }
      const newAlias = aliasMaker();
      // Names without a suffix come first, since the document has these names.
      const inOrder = [...keys].sort((one, other) => suffixOf(one).length - suffixOf(other).length);
      const aliases = new Map(
        inOrder.map((key) => [key, newAlias(definitionOf(key) + suffixOf(key))]),
      );
      const aliasOf = (key: TypeKey) => aliases.get(mergedKey(key)) ?? 'unknown';
      const withNames = (type: string) => replaceReferences(type, aliasOf);
      const types = [...keys].map((key) => ({
        name: suffixOf(key) === '' ? definitionOf(key) : aliasOf(key),
        alias: aliasOf(key),
        definition: definitionOf(key),
        schema: schemaOf(key),
        type: withNames(typeOfKey(key)),
      }));
      return { types, text: withNames(text) };
    },
  };

  /** Lists the references in a text and, recursively, in the types that it references. */
  function reachedFrom(text: string): Set<TypeKey> {
    const keys = new Set(referencesIn(text));
    for (const key of keys) {
      for (const next of referencesOf(key)) keys.add(next);
    }
    return keys;
  }

  function typeIn(schema: unknown, context: TypeContext): string {
    if (!isObject(schema)) return schema === false ? 'never' : 'unknown';
    const { typeKind, enclosing, encoding } = context;
    const { $ref, allOf, anyOf, oneOf } = schema;
    if (encoding !== undefined && $ref !== undefined) {
      const form = resolved(typeKind, schema);
      if (form !== undefined && !enclosing.includes(form)) return typeIn(form, context);
    }
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (Array.isArray(values)) return union(values.map(literalOf));

    const innerContext = { ...context, enclosing: [...enclosing, schema] };
    const typesIn = (parts: unknown) => asArray(parts).map((part) => typeIn(part, innerContext));
    const composed = [
      ...(typeof $ref === 'string' ? [definitionType($ref, innerContext)] : []),
      ...typesIn(allOf),
      ...[anyOf, oneOf].filter(Array.isArray).map((parts) => union(typesIn(parts))),
    ];
    return intersection([coreType(schema, innerContext, composed.length > 0), ...composed]);
  }

  /**
   * Returns the type that `type` and the members of a schema describe.
   *
   * @param isComposed true if other schemas describe the same value.
   */
  function coreType(schema: Json, context: TypeContext, isComposed: boolean): string {
    const hasMembers = MEMBERS.some((key) => (schema[key] ?? false) !== false);
    const names = [schema.type ?? (hasMembers ? 'object' : [])].flat();
    const isEmpty = !hasMembers && names.every((name) => name === 'object' || name === 'null');
    if (names.length === 0 || (isComposed && isEmpty)) return 'unknown';
    const types = names.flatMap((name): string | string[] => {
      if (name === 'array') return arrayType(schema, context);
      if (name === 'object')
        return hasMembers ? objectType(schema, context) : 'Record<string, unknown>';
      if (name === 'string' && context.typeKind === 'response' && isDate(schema))
        return ['string', 'Date'];
      if (name === 'integer' && !isSafe(schema)) return 'Int64';
      return SIMPLE[String(name)] ?? 'unknown';
    });
    return union(types);
  }

  function arrayType(schema: Json, { typeKind }: TypeContext): string {
    const { prefixItems, items, unevaluatedItems, minItems = 0, maxItems = Infinity } = schema;
    const itemType = (item: unknown) => grouped(typeIn(item, { typeKind, enclosing: [] }));
    const rest = `${itemType(items)}[]`;
    if (!Array.isArray(prefixItems)) return rest;
    const elements = prefixItems.map(
      (item, index) => `${itemType(item)}${index < Number(minItems) ? '' : '?'}`,
    );
    const isFull = Number(maxItems) <= elements.length;
    if (!isFull && items !== false && unevaluatedItems !== false) elements.push(`...${rest}`);
    return `[${elements.join(', ')}]`;
  }

  function objectType(schema: Json, { typeKind, enclosing, encoding }: TypeContext): string {
    const { $defs } = lowered[typeKind];
    const properties = asObject(schema.properties);
    const required = requiredOf(schema, typeKind === 'request' && isServer);
    const memberType = (member: unknown) => typeIn(member, { typeKind, enclosing: [] });
    const types = Object.entries(properties).map(([name, property]): [string, string] => {
      const file = encoding && fileType(property, asObject(encoding[name]).contentType, typeKind);
      return [name, file ?? memberType(property)];
    });
    // Another schema for the same value may declare a required member.
    const others = enclosing.flatMap((part) => schemas.allOf({ $defs }, part));
    for (const name of required) {
      if (Object.hasOwn(properties, name)) continue;
      const declarations = others.map((part) => asObject(part.properties));
      const declaration = declarations.find((part) => Object.hasOwn(part, name));
      types.push([name, memberType(declaration?.[name])]);
    }
    const members = types.map(([name, type]) =>
      memberOf(name, type, { source: asObject(properties[name]), isOptional: !required.has(name) }),
    );

    const { additionalProperties = false, patternProperties } = schema;
    const indexed = [additionalProperties, ...Object.values(asObject(patternProperties))].filter(
      (part) => part !== false,
    );
    if (indexed.length === 0) return objectOf(members);
    // TypeScript requires that all members fit the type of the index signature.
    const fitting = [...indexed.map(memberType), ...types.map(([, type]) => type)];
    if (types.some(([name]) => !required.has(name))) fitting.push('undefined');
    const indexType = fitting.includes('unknown') ? 'unknown' : union(fitting);
    return objectOf([...members, `[key: string]: ${indexType};`]);
  }

  function fileType(property: unknown, contentType: unknown, typeKind: TypeKind) {
    const { $defs } = lowered[typeKind];
    const isFile = (field: unknown) => schemas.isFile({ $defs }, field, contentType);
    const file = typeKind === 'request' ? 'File' : 'Blob';
    if (isFile(property)) return file;
    const items = resolved(typeKind, property)?.items;
    return items !== undefined && isFile(items) ? `${file}[]` : undefined;
  }

  function resolved(typeKind: TypeKind, schema: unknown): Json | undefined {
    const { $defs } = lowered[typeKind];
    return resolveRef({ $defs }, schema);
  }

  function definitionType($ref: string, { typeKind, enclosing }: TypeContext): string {
    const definition = schemas.definitionName($ref);
    const { $defs } = lowered[typeKind];
    // A union or an intersection cannot contain itself. The checks report such a schema.
    const contained = schemas.alternatives({ $defs }, $defs[definition]);
    const [outermost] = enclosing;
    if (outermost !== undefined && contained.includes(outermost)) return 'unknown';
    return referenceTo(`${typeKind} ${definition}`);
  }
}

const plainOf = (key: TypeKey): TypeKey => `plain ${definitionOf(key)}`;

/** Removes comments, and sets the kind of each reference to `plain`. */
const comparable = (type: string): string =>
  replaceReferences(type.replaceAll(COMMENT, ''), (key) => referenceTo(plainOf(key)));

/** Matches a comment. A string cannot look like one, since comments begin lines. */
const COMMENT = /^\/\*\*.*?\*\/\n/gms;

/** Keywords that declare members of an object. */
const MEMBERS = ['properties', 'additionalProperties', 'patternProperties', 'required'];

const isDate = ({ format }: Json): boolean => /^date(-time)?$/.test(String(format));

/** Returns true if a JavaScript number holds every value exactly. */
function isSafe(schema: Json): boolean {
  const { minimum = schema.exclusiveMinimum, maximum = schema.exclusiveMaximum } = schema;
  return (
    !schemas.isWide(schema) || [minimum, maximum].every((bound) => Number.isSafeInteger(bound))
  );
}

/** JSON is also valid as a TypeScript type. */
const literalOf = (value: unknown): string =>
  typeof value === 'bigint' ? 'Int64' : (stringifyJson(value) ?? 'unknown');

function requiredOf({ required, properties }: Json, fillsDefaults: boolean): Set<string> {
  const filled = Object.entries(asObject(properties)).filter(([, property]) =>
    Object.hasOwn(asObject(property), 'default'),
  );
  const names = fillsDefaults ? filled.map(([name]) => name) : [];
  return new Set([...asArray(required).map(String), ...names]);
}
