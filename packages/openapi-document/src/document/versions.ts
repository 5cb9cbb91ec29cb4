import { DocumentError, type Json } from './document.ts';
import { walk } from './kinds.ts';
import { positionsOf } from './positions.ts';

/**
 * The document as OpenAPI 3.1 or 3.2. OpenAPI 3.0 is upgraded.
 *
 * @throws {DocumentError} if it is another version.
 */
export async function toOpenApi31(file: string, root: Json): Promise<Json> {
  const { openapi, swagger } = root;
  if (typeof openapi === 'string' && /^3\.[012]\.\d/.test(openapi)) {
    const isOld = openapi.startsWith('3.0');
    const upgrade = isOld && (await import('@scalar/openapi-upgrader/3.0-to-3.1')).upgradeFromThreeToThreeOne;
    const upgraded: Json = upgrade ? { ...upgrade({ ...root }) } : root;
    walk(upgraded, 'document', '', (object, kind) => kind === 'schema' && allowNull(object));
    return upgraded;
  }
  const message =
    typeof swagger === 'string'
      ? `Swagger ${swagger} is not served. Convert the document to OpenAPI 3: npx swagger2openapi ${file} --outfile openapi.json`
      : `openapi must be 3.1.x, 3.0.x or 3.2.x, but it is ${openapi ?? 'missing'}`;
  const [place] = positionsOf([{ file, pointer: swagger === undefined ? '/openapi' : '/swagger' }]);
  throw new DocumentError(`${place} ${message}`);
}

/** Writes `nullable` as OpenAPI 3.1 does. Many documents have it there as well, and their authors mean it. */
function allowNull(schema: Json): void {
  const { nullable, type, anyOf, oneOf, $ref } = schema;
  if (typeof nullable !== 'boolean') return;
  Reflect.deleteProperty(schema, 'nullable');
  if (!nullable) return;
  if (type !== undefined) Reflect.set(schema, 'type', [...new Set([type, 'null'].flat())]);
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum.push(null);
  for (const list of [anyOf, oneOf]) if (Array.isArray(list)) list.push({ type: 'null' });
  if (typeof $ref !== 'string') return;
  Reflect.deleteProperty(schema, '$ref');
  Reflect.set(schema, 'anyOf', [{ $ref }, { type: 'null' }]);
}
