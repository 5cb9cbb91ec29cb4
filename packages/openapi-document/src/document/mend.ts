import {
  asArray,
  asObject,
  DocumentError,
  escapePointerToken,
  type Finding,
  type Json,
  resolveRef,
} from './document.ts';
import { walk } from './kinds.ts';
import { operationObjects } from './operations.ts';
import { positionsOf } from './parse.ts';
import { pathTemplate } from './path-template.ts';

/**
 * Upgrades a document of OpenAPI 3.0 to 3.1, and writes what its authors mean as OpenAPI has it, in place; `mended` names it.
 * @throws {DocumentError} if it is another version.
 */
export async function mend(file: string, source: Json): Promise<{ readonly root: Json; readonly mended: Finding[] }> {
  const { openapi, swagger } = source;
  if (typeof openapi !== 'string' || !/^3\.[012]\.\d/.test(openapi)) {
    const message =
      typeof swagger === 'string'
        ? `Swagger ${swagger} is not served. Convert the document to OpenAPI 3: npx swagger2openapi ${file} --outfile openapi.json`
        : `openapi must be 3.1.x, 3.0.x or 3.2.x, but it is ${openapi ?? 'missing'}`;
    const [place] = positionsOf([{ file, pointer: swagger === undefined ? '/openapi' : '/swagger' }]);
    throw new DocumentError(`${place} ${message}`);
  }
  let root = source;
  if (openapi.startsWith('3.0')) {
    const { upgradeFromThreeToThreeOne } = await import('@scalar/openapi-upgrader/3.0-to-3.1');
    root = { ...upgradeFromThreeToThreeOne({ ...source }) };
  }
  const mended: Finding[] = [];
  walk(root, 'document', '', (object, kind, pointer) => {
    if (kind !== 'schema') return;
    for (const key of SIZES) if (typeof object[key] === 'bigint') Reflect.set(object, key, Number(object[key]));
    allowNull(object);
    requireMembers(object, pointer, mended);
  });
  declareParameters(root, mended);
  return { root, mended };
}

/** Keywords that bound a size. No size is beyond 2^53. */
const SIZES = ['Length', 'Items', 'Properties', 'Contains'].flatMap((of) => [`min${of}`, `max${of}`]);

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

/** A property with `required: true` in itself, as drafts before JSON Schema 4 had it, is one that the object requires. */
function requireMembers(schema: Json, pointer: string, mended: Finding[]): void {
  for (const [name, property] of Object.entries(asObject(schema.properties))) {
    const { required } = asObject(property);
    if (typeof required !== 'boolean') continue;
    Reflect.deleteProperty(asObject(property), 'required');
    if (required) Reflect.set(schema, 'required', [...new Set([...asArray(schema.required), name])]);
    const message = `required is a list of names, beside properties: ${name} is read as ${required ? 'required' : 'optional'}`;
    mended.push({ pointer: `${pointer}/properties/${escapePointerToken(name)}`, message });
  }
}

/** A parameter that a path template has and the document does not declare is a text. */
function declareParameters(root: Json, mended: Finding[]): void {
  for (const { path, source, shared, pointer } of operationObjects(root, root.paths)) {
    const declared = [shared, source.parameters].flatMap(asArray).map((parameter) => resolveRef(root, parameter));
    for (const name of pathTemplate(path).names) {
      if (declared.some((parameter) => parameter?.in === 'path' && parameter.name === name)) continue;
      const parameter = { name, in: 'path', required: true, schema: { type: 'string' } };
      Reflect.set(source, 'parameters', [...asArray(source.parameters), parameter]);
      const message = `the path has {${name}}, but no path parameter of that name is declared: it is read as a text`;
      mended.push({ pointer, message });
    }
  }
}
