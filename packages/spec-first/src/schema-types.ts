import { isObject, type Json } from 'openapi-document';
import type TypeScript from 'typescript';

type OpenapiTypescript = typeof import('openapi-typescript');
type Transform = NonNullable<NonNullable<Parameters<OpenapiTypescript['default']>[1]>['transform']>;

/** Marks the schema of a file in a form. */
export const FILE = 'x-file';

/** Gives openapi-typescript the types of integers, tuples and files, which it types too narrow or not at all. */
export function schemaTypes(ts: typeof TypeScript, { transformSchemaObject: typeOf }: OpenapiTypescript): Transform {
  const { factory } = ts;
  return (schema, options) => {
    // A property comes here as it is written: openapi-typescript types references and enumerations.
    if (typeof schema !== 'object' || '$ref' in schema || 'enum' in schema || 'const' in schema) return undefined;
    const source: Json = { ...schema };
    if (source.type === 'integer') return isSafe(source) ? undefined : factory.createTypeReferenceNode('Int64');
    if (source.type === 'string' && source[FILE] === true) return factory.createTypeReferenceNode('Blob');
    if (!('type' in schema) || schema.type !== 'array' || !('prefixItems' in schema)) return undefined;

    const prefix = schema.prefixItems ?? [];
    const minimum = typeof source.minItems === 'number' ? source.minItems : 0;
    const elements: TypeScript.TypeNode[] = prefix.map((item, index) => {
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
}

/** Whether a JavaScript number holds every value exactly. */
function isSafe(schema: Json): boolean {
  const within = (...bounds: unknown[]) =>
    bounds.some((bound) => typeof bound === 'number' && Math.abs(bound) <= Number.MAX_SAFE_INTEGER);
  return (
    schema.format === 'int32' ||
    (within(schema.minimum, schema.exclusiveMinimum) && within(schema.maximum, schema.exclusiveMaximum))
  );
}
