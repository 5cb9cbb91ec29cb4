import { createConfig } from '@redocly/openapi-core';
import { isObject, type Json, schemas } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';

/** In the schema of a file in a form: `File` or `Blob`. */
export const FILE = 'x-file';

/** Marks an object whose properties all go in the other direction. */
export const EMPTY = 'x-empty';

/** The values of an `enum` or a `const` with integers beyond 2^53, in its place. */
export const VALUES = 'x-values';

/** Marks a list whose items arrive one after the other. */
export const STREAM = 'x-stream';

/** What is typed. Each `$ref` leads to `#/components/schemas`. */
export interface Typed {
  /** Schema Objects of OpenAPI 3.1 by name. */
  readonly schemas: Json;
  /** Operation Objects by operationId. */
  readonly operations: Json;
  /** Operation Objects by method, by the name of the webhook. */
  readonly webhooks: Readonly<Record<string, Json>>;
}

/**
 * Generates the TypeScript types `components`, `operations` and `webhooks`, as text. This is the only module that uses
 * openapi-typescript and TypeScript's compiler API.
 *
 * @param typed may be changed.
 */
export async function typesOf({ schemas, operations, webhooks }: Typed): Promise<string> {
  // Its default export would resolve, lint and bundle a document first: two thirds of the time for a large one.
  const document = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    components: { schemas },
    'x-other': [operations, webhooks],
  };
  if (!isDocument(document)) throw new Error('An OpenAPI document is expected');
  const context: openapi.GlobalContext = {
    additionalProperties: false,
    alphabetize: false,
    arrayLength: false,
    conditionalEnums: false,
    dedupeEnums: false,
    defaultNonNullable: false,
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
    readWriteMarkers: false,
    redoc: await createConfig({}),
    resolve: (ref) => openapi.resolveRef(document, ref, { silent: true }),
    rootTypes: false,
    rootTypesKeepCasing: false,
    rootTypesNoSchemaPrefix: false,
    silent: true,
    transform: schemaType,
    transformProperty: undefined,
  };
  const { factory } = ts;
  const property = (name: string, type: ts.TypeNode) =>
    factory.createPropertySignature(undefined, openapi.tsPropertyIndex(name), undefined, type);
  const operationTypes = (all: Json) =>
    Object.entries(all).map(([name, operation]) => {
      const path = `#/operations/${name}`;
      const members = openapi.transformOperationObject(Object(operation), { ctx: context, path });
      const member = property(name, factory.createTypeLiteralNode(members));
      openapi.addJSDocComment(Object(operation), member);
      return member;
    });
  const components = Object.entries(schemas).map(([name, schema]) => {
    const path = `#/components/schemas/${name}`;
    const member = property(
      name,
      openapi.transformSchemaObject(Object(schema), { ctx: context, path, schema: Object(schema) }),
    );
    openapi.addJSDocComment(Object(schema), member);
    return member;
  });
  const events = Object.entries(webhooks).map(([name, methods]) =>
    property(name, factory.createTypeLiteralNode(operationTypes(methods))),
  );
  const sections = {
    components: [property('schemas', factory.createTypeLiteralNode(components))],
    operations: operationTypes(operations),
    webhooks: events,
  };
  const exported = openapi.tsModifiers({ export: true });
  const interfaces = Object.entries(sections).map(([name, members]) =>
    factory.createInterfaceDeclaration(exported, name, undefined, undefined, members),
  );
  return openapi.astToString([...interfaces, ...context.injectFooter]);
}

const isDocument = (document: object): document is openapi.OpenAPI3 => 'openapi' in document;

type Transform = NonNullable<openapi.OpenAPITSOptions['transform']>;

/** Types integers, tuples and files, which openapi-typescript types too narrow or not at all. */
const schemaType: Transform = (schema, options) => {
  if (typeof schema !== 'object') return undefined;
  const { factory } = ts;
  const source: Json = { ...schema };
  // A property comes here as it is written: openapi-typescript types references and enumerations.
  if ('$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
  if (Array.isArray(source[VALUES])) return openapi.tsUnion(source[VALUES].map(literal));
  if (source.type === 'integer') return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
  const file = source[FILE];
  if (typeof file === 'string') return factory.createTypeReferenceNode(file);
  // All of its properties are those of the other direction.
  if (isObject(source.properties) && Object.keys(source.properties).length === 0)
    return factory.createTypeLiteralNode([]);
  const typeOf = openapi.transformSchemaObject;
  if (!('type' in schema) || schema.type !== 'array') return undefined;
  if (source[STREAM] === true) {
    const item =
      isObject(schema.items) && !Array.isArray(schema.items) ? typeOf(schema.items, options) : openapi.UNKNOWN;
    return factory.createTypeReferenceNode('AsyncIterable', [item]);
  }
  if (!('prefixItems' in schema)) return undefined;

  const prefix = schema.prefixItems ?? [];
  const minimum = typeof source.minItems === 'number' ? source.minItems : 0;
  const elements: ts.TypeNode[] = prefix.map((item, index) => {
    const type = typeOf(item, options);
    return index < minimum ? type : factory.createOptionalTypeNode(type);
  });
  const full = typeof source.maxItems === 'number' && source.maxItems <= prefix.length;
  if (!full && source.items !== false && source.unevaluatedItems !== false) {
    const { items } = schema;
    const rest = isObject(items) && !Array.isArray(items) ? typeOf(items, options) : openapi.UNKNOWN;
    elements.push(factory.createRestTypeNode(factory.createArrayTypeNode(rest)));
  }
  return factory.createTupleTypeNode(elements);
};

/** The type of one value. openapi-typescript knows no bigint. */
function literal(value: unknown): ts.TypeNode {
  if (typeof value !== 'bigint') return openapi.tsLiteral(value);
  const { factory } = ts;
  const digits = factory.createBigIntLiteral(`${value < 0n ? -value : value}n`);
  const { MinusToken } = ts.SyntaxKind;
  return factory.createLiteralTypeNode(value < 0n ? factory.createPrefixUnaryExpression(MinusToken, digits) : digits);
}

/** Whether a JavaScript number holds every value exactly. A schema that is not wide says so. */
function isSafe(schema: Json): boolean {
  const within = (...bounds: unknown[]) =>
    bounds.some((bound) => typeof bound === 'number' && Math.abs(bound) <= Number.MAX_SAFE_INTEGER);
  return (
    !schemas.isWide(schema) ||
    (within(schema.minimum, schema.exclusiveMinimum) && within(schema.maximum, schema.exclusiveMaximum))
  );
}
