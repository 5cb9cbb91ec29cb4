import {
  asArray,
  DocumentError,
  type Finding,
  isObject,
  type Json,
  resolveRef,
} from './document.ts';
import { SIZE_LIMITS } from './keywords.ts';
import { walk } from './kinds.ts';
import { positionReader } from './parse.ts';
import { operationObjects, pathItemsIn } from './path-items.ts';
import { pathTemplate } from './path-template.ts';

/**
 * Upgrades a document of OpenAPI 3.0 to 3.1, and corrects common mistakes in place.
 *
 * @returns the document, and a finding for each corrected mistake (`corrections`).
 * @throws {DocumentError} for a version other than 3.0, 3.1 and 3.2.
 */
export async function correct(
  file: string,
  source: Json,
): Promise<{ readonly root: Json; readonly corrections: Finding[] }> {
  const { openapi, swagger } = source;
  if (typeof openapi !== 'string' || !/^3\.[012]\.\d/.test(openapi)) {
    const message =
      typeof swagger === 'string'
        ? `Swagger ${swagger} is not supported. Convert it to OpenAPI 3: ${CONVERT_COMMAND} ${file}`
        : `openapi must be 3.1.x, 3.0.x or 3.2.x, but it is ${openapi ?? 'missing'}`;
    const [position] = positionReader()([
      { file, pointer: swagger === undefined ? '/openapi' : '/swagger' },
    ]);
    throw new DocumentError(`${position} ${message}`);
  }
  let root = openapi.startsWith('3.0') ? await upgraded(source) : source;
  const corrections: Finding[] = [];
  if (!isObject(root.info)) {
    root = { ...root, info: { title: 'API', version: '0.0.0' } };
    corrections.push({ pointer: '', message: 'info is missing: add title and version' });
  }
  walk(root, 'document', '', (object, kind, pointer) => {
    if (kind === 'parameter' || kind === 'header') readAsText(object, pointer, corrections);
    if (kind === 'parameter') requireInPath(object, pointer, corrections);
    if (kind !== 'schema') return;
    quoteNull(object, pointer, corrections);
    // No size is beyond 2^53.
    for (const key of SIZE_LIMITS)
      if (typeof object[key] === 'bigint') Reflect.set(object, key, Number(object[key]));
    allowNull(object);
  });
  declareParameters(root, corrections);
  return { root, corrections };
}

const HIDDEN_FORMAT = 'x-hidden-format';

/**
 * Upgrades a document of OpenAPI 3.0 to 3.1. Hides `format`, since the upgrade would remove `type`
 * and `format` of binary strings, and `format` of base64 strings. Both keywords are valid in 3.1.
 */
async function upgraded(source: Json): Promise<Json> {
  const { upgradeFromThreeToThreeOne } = await import('@scalar/openapi-upgrader/3.0-to-3.1');
  walk(source, 'document', '', (object, kind) => {
    if (kind !== 'schema') return;
    // The upgrade does not add null to `enum`.
    if (object.type !== undefined) allowNull(object);
    renameKeyword(object, 'format', HIDDEN_FORMAT);
  });
  const root: Json = { ...upgradeFromThreeToThreeOne({ ...source }) };
  walk(root, 'document', '', (object) => renameKeyword(object, HIDDEN_FORMAT, 'format'));
  return root;
}

function renameKeyword(object: Json, from: string, to: string): void {
  if (object[from] === undefined) return;
  Reflect.set(object, to, object[from]);
  Reflect.deleteProperty(object, from);
}

const CONVERT_COMMAND = 'npx swagger2openapi --outfile openapi.json';

/** Replaces `nullable` by `type: null`. Many documents of OpenAPI 3.1 still use `nullable`. */
function allowNull(schema: Json): void {
  const { nullable, type, anyOf, oneOf, allOf, $ref, discriminator } = schema;
  if (typeof nullable !== 'boolean') return;
  Reflect.deleteProperty(schema, 'nullable');
  if (!nullable) return;
  if (type !== undefined) Reflect.set(schema, 'type', [...new Set([type, 'null'].flat())]);
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum.push(null);
  for (const list of [anyOf, discriminator && oneOf])
    if (Array.isArray(list)) list.push({ type: 'null' });
  // A `oneOf` would reject null if an alternative is nullable too, since two would match.
  const exclusive = discriminator === undefined ? oneOf : undefined;
  if (($ref ?? allOf ?? exclusive) === undefined) return;
  // `$ref` and `allOf` would still reject null.
  const restricting = Object.entries({ $ref, allOf, anyOf, oneOf: exclusive }).filter(
    ([, value]) => value !== undefined,
  );
  for (const [keyword] of restricting) Reflect.deleteProperty(schema, keyword);
  Reflect.set(schema, 'anyOf', [Object.fromEntries(restricting), { type: 'null' }]);
}

function readAsText(parameter: Json, pointer: string, corrections: Finding[]): void {
  const { $ref, schema = null, content } = parameter;
  if ($ref !== undefined || isObject(content) || schema !== null) return;
  Reflect.set(parameter, 'schema', { type: 'string' });
  corrections.push({ pointer, message: 'schema is missing: the value is read as a string' });
}

/** A path parameter must be required (OpenAPI 3.1 §4.8.12.2.1). */
function requireInPath(parameter: Json, pointer: string, corrections: Finding[]): void {
  if (parameter.in !== 'path' || parameter.required === true) return;
  Reflect.set(parameter, 'required', true);
  corrections.push({ pointer, message: 'a path parameter is always required: add required: true' });
}

/** Corrects `type: null`: YAML needs quotation marks for the string `null`. */
function quoteNull(schema: Json, pointer: string, corrections: Finding[]): void {
  const types = [schema.type].flat();
  if (!types.includes(null)) return;
  Reflect.set(
    schema,
    'type',
    types.map((name) => name ?? 'null'),
  );
  const message = "null has no quotation marks: it is read as 'null'";
  corrections.push({ pointer: `${pointer}/type`, message });
}

function declareParameters(root: Json, corrections: Finding[]): void {
  for (const { path, source, item, pointer } of operationObjects(pathItemsIn(root, 'paths'))) {
    const declared = [item.parameters, source.parameters]
      .flatMap(asArray)
      .map((parameter) => resolveRef(root, parameter));
    for (const name of pathTemplate(path).names) {
      if (declared.some((parameter) => parameter?.in === 'path' && parameter.name === name))
        continue;
      const parameter = { name, in: 'path', required: true, schema: { type: 'string' } };
      Reflect.set(source, 'parameters', [...asArray(source.parameters), parameter]);
      const message = `path parameter ${name} is not declared: it is read as a string`;
      corrections.push({ pointer, message });
    }
  }
}
