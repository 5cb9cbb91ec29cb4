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

/** The types of JSON Schema that have the same name in TypeScript. */
const SIMPLE: readonly string[] = ['string', 'number', 'boolean', 'null'];

/**
 * Makes TypeScript types from the lowered schemas of a document. Validators use the same schemas.
 *
 * @param isServer true for a server, which fills defaults in requests and accepts a `Date` in a
 *   response.
 */
export function schemaTypes(root: Json, isServer: boolean) {
  const response = schemas.lower(root, 'response');
  const lowered = { request: schemas.lower(root, 'request'), response, plain: response };
  const makers = {
    request: typeMaker('request', lowered.request, isServer),
    response: typeMaker('response', response),
    plain: typeMaker('plain', response),
  };
  const schemaOf = (key: TypeKey) => lowered[kindOf(key)].$defs[definitionOf(key)];
  const typeOfKey = onFirstUse((key: TypeKey) => makers[kindOf(key)](schemaOf(key)));
  const referencesOf = onFirstUse((key: TypeKey) => referencesIn(typeOfKey(key)));
  /** Returns true if a type has the same text as the type of the kind `plain`. */
  const hasPlainText = onFirstUse(
    (key: TypeKey) => comparable(typeOfKey(key)) === comparable(typeOfKey(plainOf(key))),
  );

  /**
   * Lists the references in a text and, recursively, in the types that it references.
   *
   * @param merged returns the key that replaces a key.
   */
  function reachedFrom(text: string, merged = (key: TypeKey) => key): Set<TypeKey> {
    const keys = new Set(referencesIn(text).map(merged));
    for (const key of keys) {
      for (const next of referencesOf(key)) keys.add(merged(next));
    }
    return keys;
  }

  return {
    /**
     * Returns a type with references, which `nameTypes` replaces.
     *
     * @param encoding the Encoding Objects of a form. Its properties may be files (OpenAPI 3.1
     *   §4.8.14.3 and §4.8.15).
     */
    typeOf(source: unknown, direction: schemas.Direction, encoding?: Json): string {
      const typeKind = direction === 'response' && !isServer ? 'plain' : direction;
      return makers[typeKind](lowered[typeKind].lower(source), encoding);
    },

    /**
     * Replaces the references in a text by names, and returns the named types. A definition that
     * differs between requests and responses has a second type with the suffix `Writable`. A
     * definition with dates has a second type with the suffix `Reply`.
     *
     * The `name` of a type is that of its definition, with the suffix. Its `alias` is its name in
     * TypeScript.
     */
    nameTypes(text: string) {
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
        return reachedFrom(referenceTo(key)).values().every(hasPlainText) ? plainOf(key) : key;
      });
      const suffixOf = (key: TypeKey): string => {
        if (kindOf(key) === 'response') return 'Reply';
        return kindOf(key) === 'request' && inResponses.has(definitionOf(key)) ? 'Writable' : '';
      };

      const declared = Object.keys(asObject(asObject(root.components).schemas)).map((name) => {
        const $ref = `#/components/schemas/${escapePointerToken(name)}`;
        return makers.plain(response.lower({ $ref }));
      });
      const keys = [...reachedFrom(declared.join('') + text, mergedKey)];
      const newAlias = aliasMaker();
      // Names without a suffix come first, since the document has these names.
      const inOrder = keys.toSorted((one, other) => suffixOf(one).length - suffixOf(other).length);
      const aliases = new Map(
        inOrder.map((key) => [key, newAlias(definitionOf(key) + suffixOf(key))]),
      );
      const aliasOf = (key: TypeKey) => aliases.get(mergedKey(key)) ?? 'unknown';
      const withNames = (type: string) => replaceReferences(type, aliasOf);
      const types = keys.map((key) => ({
        name: suffixOf(key) === '' ? definitionOf(key) : aliasOf(key),
        alias: aliasOf(key),
        definition: definitionOf(key),
        schema: schemaOf(key),
        type: withNames(typeOfKey(key)),
      }));
      return { types, text: withNames(text) };
    },
  };
}

/**
 * Returns a function that makes the type of a lowered schema.
 *
 * @param fillsDefaults true if properties with a default are always present.
 */
function typeMaker(
  typeKind: TypeKind,
  { $defs }: schemas.LoweredSchemas,
  fillsDefaults = false,
): (schema: unknown, encoding?: Json) => string {
  return (schema, encoding) => typeIn(schema, [], encoding);

  /**
   * @param enclosing the enclosing schemas that apply to the same value.
   * @param encoding the Encoding Objects, if the schema is that of a form. They decide which parts
   *   are files.
   */
  function typeIn(schema: unknown, enclosing: readonly Json[] = [], encoding?: Json): string {
    if (!isObject(schema)) return schema === false ? 'never' : 'unknown';
    const { $ref, allOf, anyOf, oneOf } = schema;
    if (encoding !== undefined && $ref !== undefined) {
      const form = resolveRef({ $defs }, schema);
      if (form !== undefined && !enclosing.includes(form)) return typeIn(form, enclosing, encoding);
    }
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (Array.isArray(values)) return union(values.map(literalOf));

    const chain = [...enclosing, schema];
    const typesIn = (parts: unknown) => asArray(parts).map((part) => typeIn(part, chain, encoding));
    const composed = [
      ...(typeof $ref === 'string' ? [definitionType($ref, chain)] : []),
      ...typesIn(allOf),
      ...[anyOf, oneOf].filter(Array.isArray).map((parts) => union(typesIn(parts))),
    ];
    // The type that `type` and the members of the schema describe.
    const hasMembers = MEMBERS.some((key) => (schema[key] ?? false) !== false);
    const names = [schema.type ?? (hasMembers ? 'object' : [])].flat();
    const isEmpty = !hasMembers && names.every((name) => name === 'object' || name === 'null');
    if (names.length === 0 || (composed.length > 0 && isEmpty)) return intersection(composed);
    const types = names.flatMap((name): string | string[] => {
      if (name === 'array') return arrayType(schema);
      if (name === 'object')
        return hasMembers ? objectType(schema, chain, encoding) : 'Record<string, unknown>';
      if (name === 'string' && typeKind === 'response' && isDate(schema)) return ['string', 'Date'];
      if (name === 'integer') return isSafe(schema) ? 'number' : 'Int64';
      return SIMPLE.find((type) => type === name) ?? 'unknown';
    });
    return intersection([union(types), ...composed]);
  }

  function arrayType(schema: Json): string {
    const { prefixItems, items, unevaluatedItems, minItems = 0, maxItems = Infinity } = schema;
    const itemType = (item: unknown) => grouped(typeIn(item));
    const rest = `${itemType(items)}[]`;
    if (!Array.isArray(prefixItems)) return rest;
    const elements = prefixItems.map(
      (item, index) => `${itemType(item)}${index < Number(minItems) ? '' : '?'}`,
    );
    const isFull = Number(maxItems) <= elements.length;
    if (!isFull && items !== false && unevaluatedItems !== false) elements.push(`...${rest}`);
    return `[${elements.join(', ')}]`;
  }

  function objectType(schema: Json, enclosing: readonly Json[], encoding?: Json): string {
    const properties = asObject(schema.properties);
    const filled = Object.keys(properties).filter(
      (name) => fillsDefaults && Object.hasOwn(asObject(properties[name]), 'default'),
    );
    const required = new Set([...asArray(schema.required).map(String), ...filled]);
    const types = new Map(
      Object.entries(properties).map(([name, property]) => {
        const file = encoding && fileType(property, asObject(encoding[name]).contentType);
        return [name, file ?? typeIn(property)];
      }),
    );
    // Another schema for the same value may declare a required member.
    const declarations = enclosing
      .flatMap((part) => schemas.allOf({ $defs }, part))
      .map((part) => asObject(part.properties));
    for (const name of required) {
      if (types.has(name)) continue;
      const declaration = declarations.find((part) => Object.hasOwn(part, name));
      types.set(name, typeIn(declaration?.[name]));
    }
    const members = [...types].map(([name, type]) =>
      memberOf(name, type, { source: asObject(properties[name]), isOptional: !required.has(name) }),
    );

    const { additionalProperties = false, patternProperties } = schema;
    const indexed = [additionalProperties, ...Object.values(asObject(patternProperties))].filter(
      (part) => part !== false,
    );
    if (indexed.length === 0) return objectOf(members);
    // TypeScript requires that all members fit the type of the index signature.
    const fitting = [...indexed.map((part) => typeIn(part)), ...types.values()];
    if (types.keys().some((name) => !required.has(name))) fitting.push('undefined');
    const indexType = fitting.includes('unknown') ? 'unknown' : union(fitting);
    return objectOf([...members, `[key: string]: ${indexType};`]);
  }

  function fileType(property: unknown, contentType: unknown): string | undefined {
    const isFile = (field: unknown) => schemas.isFile({ $defs }, field, contentType);
    const file = typeKind === 'request' ? 'File' : 'Blob';
    if (isFile(property)) return file;
    const items = resolveRef({ $defs }, property)?.items;
    return items !== undefined && isFile(items) ? `${file}[]` : undefined;
  }

  function definitionType($ref: string, [outermost]: readonly Json[]): string {
    const definition = schemas.definitionName($ref);
    // A union or an intersection cannot contain itself. The checks report such a schema.
    const contained = schemas.alternatives({ $defs }, $defs[definition]);
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
