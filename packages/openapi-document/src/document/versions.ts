import { DocumentError, type Json } from './document.ts';
import { positionsOf } from './positions.ts';
import { eachObject } from './references.ts';

/**
 * The document as OpenAPI 3.1. OpenAPI 3.0 is upgraded; of OpenAPI 3.2 is served what 3.1 has as well.
 *
 * @throws {DocumentError} if it is another version.
 */
export async function toOpenApi31(file: string, root: Json): Promise<Json> {
  const { openapi, swagger } = root;
  if (typeof openapi === 'string' && /^3\.[12]\.\d/.test(openapi)) {
    eachObject(root, allowNull);
    return root;
  }
  if (typeof openapi === 'string' && /^3\.0\.\d/.test(openapi)) {
    const { upgradeFromThreeToThreeOne } = await import('@scalar/openapi-upgrader/3.0-to-3.1');
    const upgraded: Json = { ...upgradeFromThreeToThreeOne({ ...root }) };
    eachObject(upgraded, allowNull);
    return upgraded;
  }
  const message =
    typeof swagger === 'string'
      ? `Swagger ${swagger} is not served. Convert the document to OpenAPI 3: npx swagger2openapi ${file} --outfile openapi.json`
      : `openapi must be 3.1.x, 3.0.x or 3.2.x, but it is ${openapi ?? 'missing'}`;
  const [place] = positionsOf([{ file, pointer: swagger === undefined ? '/openapi' : '/swagger' }]);
  throw new DocumentError(`${place} ${message}`);
}

/** Schemas by name, of which one may be named `nullable`. */
const NAMED = /\/(properties|patternProperties|dependentSchemas|\$defs|schemas)$/;

/** Writes `nullable` as OpenAPI 3.1 does. Many documents have it there as well, and their authors mean it. */
function allowNull(schema: Json, at: string): void {
  const { nullable, type, anyOf, oneOf, $ref } = schema;
  if (typeof nullable !== 'boolean' || NAMED.test(at)) return;
  Reflect.deleteProperty(schema, 'nullable');
  if (!nullable) return;
  if (type !== undefined) Reflect.set(schema, 'type', [...new Set([type, 'null'].flat())]);
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum.push(null);
  for (const list of [anyOf, oneOf]) if (Array.isArray(list)) list.push({ type: 'null' });
  if (typeof $ref !== 'string') return;
  Reflect.deleteProperty(schema, '$ref');
  Reflect.set(schema, 'anyOf', [{ $ref }, { type: 'null' }]);
}
