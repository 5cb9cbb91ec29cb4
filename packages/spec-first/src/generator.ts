import { createConfig } from '@redocly/openapi-core';
import { asObject, isObject, type Json, schemas } from 'openapi-document';
import * as openapi from 'openapi-typescript';
import ts from 'typescript';
import { DATE, FILE, LINE, MISSING, STREAM } from './directed-schemas.ts';

/**
 * Generates the TypeScript types `components`, `operations` and `webhooks`, as text. This is the
 * only module that uses openapi-typescript and TypeScript's compiler API.
 *
 * @param schemas Schema Objects of OpenAPI 3.1 by name, to which each `$ref` leads. They may be
 *   changed.
 * @param operations Operation Objects by operationId.
 * @param webhooks Operation Objects by method, by the name of the webhook.
 */
export async function typesOf(schemas: Json, operations: Json, webhooks: Json): Promise<string> {
  // Its default export would resolve, lint and bundle a document first: two thirds of the time for
  // a large one.
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
    // The lowered alternatives require their values of the discriminator.
    discriminators: { objects: {}, refsHandled: [] },
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
    postTransform: (type) => named(type),
    propertiesRequiredByDefault: false,
    readWriteMarkers: false,
    redoc: await createConfig({}),
    resolve: (ref) => openapi.resolveRef(document, ref, { silent: true }),
    rootTypes: false,
    rootTypesKeepCasing: false,
    rootTypesNoSchemaPrefix: false,
    silent: true,
    transform: (schema, options) => {
      const { $ref } = asObject(schema);
      return typeof $ref === 'string' ? named(openapi.oapiRef($ref)) : schemaType(schema, options);
    },
    transformProperty: undefined,
  };
  const { factory } = ts;
  const identifiers = identifiersOf(Object.keys(schemas));
  const members = (parts: Json, typeOf: (source: unknown, name: string) => ts.TypeNode) =>
    Object.entries(parts).map(([name, source]) => {
      const type = typeOrUnknown(() => typeOf(source, name));
      const member = factory.createPropertySignature(
        undefined,
        openapi.tsPropertyIndex(name),
        undefined,
        type,
      );
      openapi.addJSDocComment(Object(source), member);
      addLine(member, asObject(source)[LINE]);
      return member;
    });
  const operationTypes = (sources: Json) =>
    members(sources, (operation, name) => {
      const path = `#/operations/${name}`;
      return factory.createTypeLiteralNode(
        openapi.transformOperationObject(Object(operation), { ctx, path }),
      );
    });
  const exported = openapi.tsModifiers({ export: true });
  const aliases = Object.entries(schemas).map(([name, schema]) => {
    const type = openapi.transformSchemaObject(Object(schema), {
      ctx,
      path: `#/components/schemas/${name}`,
    });
    const identifier = identifiers.get(name) ?? name;
    const alias = factory.createTypeAliasDeclaration(exported, identifier, undefined, type);
    openapi.addJSDocComment(Object(schema), Object(alias));
    addLine(alias, asObject(schema)[LINE]);
    return alias;
  });
  const byName = members(Object.fromEntries(identifiers), (identifier) =>
    factory.createTypeReferenceNode(String(identifier)),
  );
  const sections = {
    components: members({ schemas: {} }, () => factory.createTypeLiteralNode(byName)),
    operations: operationTypes(operations),
    webhooks: members(webhooks, (methods) =>
      factory.createTypeLiteralNode(operationTypes(asObject(methods))),
    ),
  };
  const interfaces = Object.entries(sections).map(([name, inside]) =>
    factory.createInterfaceDeclaration(exported, name, undefined, undefined, inside),
  );
  return openapi.astToString([...aliases, ...interfaces, ...ctx.injectFooter]);

  /** Replaces `components["schemas"]["Name"]` by the name: only a name may contain itself. */
  function named(type: ts.TypeNode): ts.TypeNode {
    if (!ts.isIndexedAccessTypeNode(type) || !ts.isLiteralTypeNode(type.indexType)) return type;
    const { literal } = type.indexType;
    const identifier = ts.isStringLiteral(literal) ? identifiers.get(literal.text) : undefined;
    return identifier === undefined ? type : factory.createTypeReferenceNode(identifier);
  }
}

/** Names that have another meaning in the generated file or in TypeScript. */
const TAKEN = [
  'Handlers RequestTo ReplyTo Around AroundOf HandlersOf RequestOf ReplyOf Verifiers Int64',
  'WithRequired File Blob Record Omit',
  'Extract AsyncIterable Date Client ClientOptions Route Readable Promise',
  'components operations webhooks security defaults contract routes createClient clientOf',
  'any bigint boolean never null number object string symbol undefined unknown void type interface',
  'break case catch class const continue debugger default delete do else enum export extends false',
  'finally for function if import in instanceof new return super switch this throw true try typeof',
  'var while with implements let package private protected public static yield await async',
].flatMap((names) => names.split(' '));

/** Returns a TypeScript name for each schema: the name of the schema, if TypeScript allows it. */
function identifiersOf(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(TAKEN);
  const identifiers = new Map<string, string>();
  for (const name of names) {
    const joined = name.replaceAll(/[^\p{ID_Continue}]+(.?)/gu, (_, next: string) =>
      next.toUpperCase(),
    );
    const base = /^[\p{ID_Start}_]/u.test(joined) ? joined : `Schema${joined}`;
    let free = base;
    for (let count = 2; taken.has(free); count += 1) free = `${base}${count}`;
    taken.add(free);
    identifiers.set(name, free);
  }
  return identifiers;
}

/**
 * Returns `unknown` for a part that openapi-typescript cannot convert. The checks report it.
 */
function typeOrUnknown(typeOf: () => ts.TypeNode): ts.TypeNode {
  try {
    return typeOf();
  } catch {
    return openapi.UNKNOWN;
  }
}

/** Adds the line of the document to the comment of a member. */
function addLine(member: ts.Node, line: unknown): void {
  if (typeof line !== 'string') return;
  const [comment] = ts.getSyntheticLeadingComments(member) ?? [];
  const lines = (comment?.text ?? '')
    .split('\n')
    .map((text) => text.replace(/^ ?\*+ ?/, '').trimEnd())
    .filter((text, index, texts) => text !== '' || (index > 0 && index < texts.length - 1));
  const text = [...lines, `@see ${line}`].map((text) => ` * ${text}`.trimEnd()).join('\n');
  ts.setSyntheticLeadingComments(member, undefined);
  const kind = ts.SyntaxKind.MultiLineCommentTrivia;
  ts.addSyntheticLeadingComment(member, kind, `*\n${text}\n `, true);
}

type Transform = NonNullable<openapi.OpenAPITSOptions['transform']>;

/** Types integers, tuples and files, which openapi-typescript does not type or types narrowly. */
const schemaType: Transform = (schema, options) => {
  if (typeof schema !== 'object') return undefined;
  const { factory } = ts;
  const source: Json = { ...schema };
  // openapi-typescript types references and enumerations itself.
  if ('$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
  if (source.type === 'integer')
    return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
  if (source.type === MISSING) return openapi.UNDEFINED;
  if (source[DATE] === true) {
    const date = factory.createTypeReferenceNode('Date');
    const isNullable = [source.type].flat().includes('null');
    return openapi.tsUnion([openapi.STRING, date, ...(isNullable ? [openapi.NULL] : [])]);
  }
  const file = source[FILE];
  if (typeof file === 'string') return factory.createTypeReferenceNode(file);
  // An object without a property in this direction.
  if (isObject(source.properties) && Object.keys(source.properties).length === 0)
    return factory.createTypeLiteralNode([]);
  if (!('type' in schema) || schema.type !== 'array') return undefined;
  const { items } = schema;
  const itemType = () =>
    isObject(items) && !Array.isArray(items)
      ? openapi.transformSchemaObject(items, options)
      : openapi.UNKNOWN;
  if (source[STREAM] === true)
    return factory.createTypeReferenceNode('AsyncIterable', [itemType()]);
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

/** Returns true if a JavaScript number holds every value exactly. */
function isSafe(schema: Json): boolean {
  const { minimum = schema.exclusiveMinimum, maximum = schema.exclusiveMaximum } = schema;
  return (
    !schemas.isWide(schema) || [minimum, maximum].every((bound) => Number.isSafeInteger(bound))
  );
}
