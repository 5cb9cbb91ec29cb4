import { createConfig } from '@redocly/openapi-core';
import { isObject, type Json } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';

/** Marks the schema of a file in a form. */
export const FILE = 'x-file';

/**
 * Generates the TypeScript types `paths`, `components` and `operations` of a document without other files, as text. This is
 * the only module that uses openapi-typescript and TypeScript's compiler API.
 *
 * @param document may be changed.
 * @param readWriteMarkers whether a property is `readOnly` or `writeOnly`.
 */
export async function typesOf(document: Json, readWriteMarkers: boolean): Promise<string> {
  if (!isDocument(document)) throw new Error('An OpenAPI document is expected');
  // The default export would resolve, lint and bundle the document first: two thirds of the time for a large one.
  const nodes = openapi.transformSchema(document, {
    additionalProperties: false,
    alphabetize: false,
    arrayLength: false,
    conditionalEnums: false,
    dedupeEnums: false,
    defaultNonNullable: true,
    discriminators: openapi.scanDiscriminators(document, { silent: true }),
    emptyObjectsUnknown: true,
    enum: false,
    enumValues: false,
    excludeDeprecated: false,
    exportType: false,
    generatePathParams: false,
    immutable: false,
    injectFooter: [],
    makePathsEnum: false,
    pathParamsAsTypes: false,
    postTransform: undefined,
    propertiesRequiredByDefault: false,
    readWriteMarkers,
    redoc: await createConfig({}),
    resolve: (ref) => openapi.resolveRef(document, ref, { silent: true }),
    rootTypes: false,
    rootTypesKeepCasing: false,
    rootTypesNoSchemaPrefix: false,
    silent: true,
    transform: schemaType,
    transformProperty: undefined,
  });
  const own = nodes.filter((node) => !(ts.isTypeAliasDeclaration(node) && /^(Read|Writ)able$/.test(node.name.text)));
  return openapi
    .astToString(own)
    .replace('export type operations = Record<string, never>;', 'export interface operations {\n}');
}

const isDocument = (document: object): document is openapi.OpenAPI3 => 'openapi' in document;

type Transform = NonNullable<openapi.OpenAPITSOptions['transform']>;

/** Types integers, tuples and files, which openapi-typescript types too narrow or not at all. */
const schemaType: Transform = (schema, options) => {
  // A property comes here as it is written: openapi-typescript types references and enumerations.
  if (typeof schema !== 'object' || '$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
  const { factory } = ts;
  const source: Json = { ...schema };
  if (source.type === 'integer') return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
  if (source.type === 'string' && source[FILE] === true) return factory.createTypeReferenceNode('Blob');
  if (!('type' in schema) || schema.type !== 'array' || !('prefixItems' in schema)) return undefined;

  const typeOf = openapi.transformSchemaObject;
  const prefix = schema.prefixItems ?? [];
  const minimum = typeof source.minItems === 'number' ? source.minItems : 0;
  const elements: ts.TypeNode[] = prefix.map((item, index) => {
    const type = typeOf(item, options);
    return index < minimum ? type : factory.createOptionalTypeNode(type);
  });
  const full = typeof source.maxItems === 'number' && source.maxItems <= prefix.length;
  if (!full && source.items !== false && source.unevaluatedItems !== false) {
    const { items } = schema;
    const unknown = factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword);
    const rest = isObject(items) && !Array.isArray(items) ? typeOf(items, options) : unknown;
    elements.push(factory.createRestTypeNode(factory.createArrayTypeNode(rest)));
  }
  return factory.createTupleTypeNode(elements);
};

/** Whether a JavaScript number holds every value exactly. */
function isSafe(schema: Json): boolean {
  const within = (...bounds: unknown[]) =>
    bounds.some((bound) => typeof bound === 'number' && Math.abs(bound) <= Number.MAX_SAFE_INTEGER);
  return (
    schema.format === 'int32' ||
    (within(schema.minimum, schema.exclusiveMinimum) && within(schema.maximum, schema.exclusiveMaximum))
  );
}
