import { allOfSchemas, asArray, asObject, eachSchema, escapePointerToken, type Json, valueAt } from 'openapi-document';
import { FILE } from './generator.ts';

/** Keywords that do not change a value's type. */
const ANNOTATIONS = new Set([
  ...['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'example', 'examples', 'externalDocs'],
  ...['$comment', '$anchor', 'xml', 'summary', FILE],
]);

/**
 * Rewrites the schemas of a document that openapi-typescript reads in another way than a validator.
 *
 * @returns whether a property is `readOnly` or `writeOnly`.
 */
export function simplifySchemas(root: Json): boolean {
  moveDefinitions(root);
  let oneWay = false;
  eachSchemaIn(root, (schema) => {
    for (const property of Object.values(asObject(schema.properties))) {
      for (const keyword of ['readOnly', 'writeOnly']) {
        if (!allOfSchemas(root, property).some((part) => part[keyword] === true)) continue;
        Object.assign(asObject(property), { [keyword]: true });
        oneWay = true;
      }
    }
    const mapping = asObject(asObject(schema.discriminator).mapping);
    for (const [value, target] of Object.entries(mapping)) {
      if (valueAt(root, String(target)) === undefined) Reflect.deleteProperty(mapping, value);
    }
    moveToAllOf(schema);
  });
  return oneWay;
}

/** Moves `$defs` to the components. openapi-typescript makes them a property of the object around them. */
function moveDefinitions(root: Json): void {
  const moved = new Map<string, string>();
  const schemas: Record<string, unknown> = { ...asObject(asObject(root.components).schemas) };
  eachSchemaIn(root, (schema, at) => {
    for (const [name, definition] of Object.entries(asObject(schema.$defs))) {
      let free = name;
      for (let n = 2; Object.hasOwn(schemas, free); n++) free = `${name}${n}`;
      schemas[free] = definition;
      moved.set(`#${at}/$defs/${escapePointerToken(name)}`, `#/components/schemas/${escapePointerToken(free)}`);
    }
  });
  if (moved.size === 0) return;
  const longestFirst = [...moved].sort(([a], [b]) => b.length - a.length);
  const target = (ref: unknown) => {
    const [from, to] = longestFirst.find(([old]) => ref === old || String(ref).startsWith(`${old}/`)) ?? [];
    return from === undefined ? ref : `${to}${String(ref).slice(from.length)}`;
  };
  eachSchemaIn(root, (schema) => {
    if (typeof schema.$ref === 'string') Object.assign(schema, { $ref: target(schema.$ref) });
    const mapping = asObject(asObject(schema.discriminator).mapping);
    for (const [value, ref] of Object.entries(mapping)) Object.assign(mapping, { [value]: target(ref) });
  });
  eachSchemaIn(root, (schema) => void Reflect.deleteProperty(schema, '$defs'));
  Object.assign(root, { components: { ...asObject(root.components), schemas } });
}

/** Moves keywords into `allOf`. openapi-typescript combines only these with the keywords beside them. */
function moveToAllOf(schema: Json): void {
  const move = (keys: string[], list: unknown[]) => {
    for (const key of keys) Reflect.deleteProperty(schema, key);
    Object.assign(schema, { allOf: [...asArray(schema.allOf), ...list] });
  };
  const meaningful = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key) && !key.startsWith('x-'));
  if (typeof schema.$ref === 'string' && meaningful.length > 1) move(['$ref'], [{ $ref: schema.$ref }]);
  const groups = ['anyOf', 'oneOf'].filter((key) => Array.isArray(schema[key]));
  if (schema.type === 'integer' && (groups.length > 0 || Array.isArray(schema.allOf))) {
    const keys = ['type', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
    const own = Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)));
    move([...keys, ...groups], [own, ...groups.map((key) => ({ [key]: schema[key] }))]);
  } else if (Array.isArray(schema.anyOf) && meaningful.length > 1 && schema.discriminator === undefined) {
    move(['anyOf'], [{ anyOf: schema.anyOf }]);
  }
}

/** Calls `visit` on each schema of a document, with its JSON pointer. */
function eachSchemaIn(root: Json, visit: (schema: Json, pointer: string) => void): void {
  const walk = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      const at = `${pointer}/${escapePointerToken(key)}`;
      if (key === 'schema' || pointer === '/components/schemas') eachSchema(item, at, visit);
      else if (key !== 'example' && key !== 'examples' && !key.startsWith('x-')) walk(item, at);
    }
  };
  walk({ paths: root.paths, components: root.components }, '');
}
