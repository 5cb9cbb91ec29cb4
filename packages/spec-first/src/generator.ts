import { createConfig } from '@redocly/openapi-core';
import { asObject, isObject, type Json, schemas } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { FILE, STREAM } from './directed-schemas.ts';

/**
 * Generates the TypeScript types `components`, `operations` and `webhooks`, as text. This is the only module that uses
 * openapi-typescript and TypeScript's compiler API.
 *
 * @param schemas Schema Objects of OpenAPI 3.1 by name, to which each `$ref` leads. They may be changed.
 * @param operations Operation Objects by operationId.
 * @param webhooks Operation Objects by method, by the name of the webhook.
 */
export async function typesOf(schemas: Json, operations: Json, webhooks: Json): Promise<string> {
  // Its default export would resolve, lint and bundle a document first: two thirds of the time for a large one.
  const document: openapi.OpenAPI3 = {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    components: { schemas: Object(schemas) },
    'x-other': [operations, webhooks],
  };
  const ctx: openapi.GlobalContext = {
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
  const members = (all: Json, typeOf: (source: unknown, name: string) => ts.TypeNode) =>
    Object.entries(all).map(([name, source]) => {
      const type = typeOf(source, name);
      const member = factory.createPropertySignature(undefined, openapi.tsPropertyIndex(name), undefined, type);
      openapi.addJSDocComment(Object(source), member);
      return member;
    });
  const operationTypes = (all: Json) =>
    members(all, (operation, name) => {
      const path = `#/operations/${name}`;
      return factory.createTypeLiteralNode(openapi.transformOperationObject(Object(operation), { ctx, path }));
    });
  const schemaTypes = (all: Json) =>
    members(all, (schema, name) =>
      openapi.transformSchemaObject(Object(schema), { ctx, path: `#/components/schemas/${name}` }),
    );
  const sections = {
    components: members({ schemas: {} }, () => factory.createTypeLiteralNode(schemaTypes(schemas))),
    operations: operationTypes(operations),
    webhooks: members(webhooks, (methods) => factory.createTypeLiteralNode(operationTypes(asObject(methods)))),
  };
  const exported = openapi.tsModifiers({ export: true });
  const interfaces = Object.entries(sections).map(([name, inside]) =>
    factory.createInterfaceDeclaration(exported, name, undefined, undefined, inside),
  );
  return openapi.astToString([...interfaces, ...ctx.injectFooter]);
}

type Transform = NonNullable<openapi.OpenAPITSOptions['transform']>;

/** Types integers, tuples and files, which openapi-typescript types too narrow or not at all. */
const schemaType: Transform = (schema, options) => {
  if (typeof schema !== 'object') return undefined;
  const { factory } = ts;
  const source: Json = { ...schema };
  // A property comes here as it is written: openapi-typescript types references and enumerations.
  if ('$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
  if (source.type === 'integer') return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
  const file = source[FILE];
  if (typeof file === 'string') return factory.createTypeReferenceNode(file);
  // All of its properties are those of the other direction.
  if (isObject(source.properties) && Object.keys(source.properties).length === 0)
    return factory.createTypeLiteralNode([]);
  if (!('type' in schema) || schema.type !== 'array') return undefined;
  const { items } = schema;
  const itemType = () =>
    isObject(items) && !Array.isArray(items) ? openapi.transformSchemaObject(items, options) : openapi.UNKNOWN;
  if (source[STREAM] === true) return factory.createTypeReferenceNode('AsyncIterable', [itemType()]);
  if (!('prefixItems' in schema)) return undefined;

  const prefix = schema.prefixItems ?? [];
  const elements: ts.TypeNode[] = prefix.map((item, index) => {
    const type = openapi.transformSchemaObject(item, options);
    return index < Number(source.minItems ?? 0) ? type : factory.createOptionalTypeNode(type);
  });
  const isFull = Number(source.maxItems ?? Number.POSITIVE_INFINITY) <= prefix.length;
  if (!isFull && source.items !== false && source.unevaluatedItems !== false)
    elements.push(factory.createRestTypeNode(factory.createArrayTypeNode(itemType())));
  return factory.createTupleTypeNode(elements);
};

/** Whether a JavaScript number holds every value exactly. A schema that is not wide says so. */
function isSafe(schema: Json): boolean {
  const { minimum = schema.exclusiveMinimum, maximum = schema.exclusiveMaximum } = schema;
  return !schemas.isWide(schema) || [minimum, maximum].every((bound) => Number.isSafeInteger(bound));
}
