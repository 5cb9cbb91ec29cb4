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
  if (typeof openapi === 'string' && /^3\.[12]\.\d/.test(openapi)) return root;
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

/** Upgrades `nullable` beside `anyOf` and `oneOf`, which the library leaves as it is. */
function allowNull(schema: Json): void {
  const { nullable, anyOf, oneOf } = schema;
  if (typeof nullable !== 'boolean') return;
  for (const list of [anyOf, oneOf]) if (nullable && Array.isArray(list)) list.push({ type: 'null' });
  Reflect.deleteProperty(schema, 'nullable');
}
