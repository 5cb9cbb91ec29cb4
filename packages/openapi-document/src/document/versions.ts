import { DocumentError, type Json } from './document.ts';
import { positionsOf } from './positions.ts';

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
    allowNull(upgraded);
    return upgraded;
  }
  if (typeof swagger === 'string') {
    const [place] = positionsOf([{ file, pointer: '/swagger' }]);
    throw new DocumentError(
      `${place} Swagger ${swagger} is not served. Convert the document to OpenAPI 3: npx swagger2openapi ${file} --outfile openapi.json`,
    );
  }
  const [place] = positionsOf([{ file, pointer: '/openapi' }]);
  throw new DocumentError(`${place} openapi must be 3.1.x, 3.0.x or 3.2.x, but it is ${openapi}`);
}

/** Upgrades `nullable` beside `anyOf` and `oneOf`, which the library leaves as it is. */
function allowNull(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { nullable, anyOf, oneOf } = value as Json;
  if (nullable === true) {
    if (Array.isArray(anyOf)) anyOf.push({ type: 'null' });
    if (Array.isArray(oneOf)) oneOf.push({ type: 'null' });
  }
  if (typeof nullable === 'boolean') Reflect.deleteProperty(value, 'nullable');
  for (const item of Object.values(value)) allowNull(item);
}
