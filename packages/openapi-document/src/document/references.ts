import { dirname, join, relative } from 'node:path';
import { asObject, decoded, escapePointerToken, type Json, type Location } from './document.ts';

/** Where a reference leads, seen from a place. */
export function targetOf(ref: string, from: Location): Location {
  const [path = '', fragment = ''] = ref.split('#');
  return {
    file: path === '' ? from.file : join(dirname(from.file), decoded(path)),
    pointer: decoded(fragment),
  };
}

/** Whether a reference is a URL of another host or scheme. */
export const isUrl = (ref: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(ref);

/** Makes the references by URL relative that lead to the document, or beside it (`$self`, OpenAPI 3.2 §4.1.2.2.2). */
export function relativizeReferences(value: unknown, file: string, document: string, self: unknown): void {
  const base = typeof self === 'string' ? URL.parse(self) : null;
  const own = base && new URL(relative(dirname(document), file), base);
  if (own === null) return;
  eachObject(value, (object) => {
    const target = typeof object.$ref === 'string' ? URL.parse(object.$ref) : null;
    if (target === null || target.origin !== own.origin) return;
    const path = target.pathname === own.pathname ? '' : relative(dirname(own.pathname), target.pathname);
    Object.assign(object, { $ref: path + target.hash });
  });
}

/** Maps from names to what they name, in which `default` or `example` is a name like any other. */
const NAMES =
  /\/(properties|patternProperties|dependentSchemas|\$defs|responses|examples|headers|paths|components\/[^/]+)$/;

/** Members that hold data of the API's own, in which a `$ref` is not a reference. */
const DATA = new Set(['default', 'const', 'enum', 'example', 'value']);

/** Whether a member of the object at a pointer holds data, in which nothing is a reference. */
export const isData = (key: string, value: unknown, at: string): boolean =>
  (DATA.has(key) || key.startsWith('x-') || (key === 'examples' && Array.isArray(value))) && !NAMES.test(at);

/** The values of a discriminator's mapping that are references, not names of schemas (OpenAPI 3.1 §4.8.25.4). */
const isMappedFile = (target: unknown): target is string =>
  typeof target === 'string' && /\.(ya?ml|json)(#|$)/.test(target);

/** Calls `visit` with a value and each object inside it, with their pointers, but with no data. */
export function eachObject(value: unknown, visit: (object: Json, at: string) => void, at = ''): void {
  if (typeof value !== 'object' || value === null) return;
  visit(value as Json, at);
  for (const [key, item] of Object.entries(value)) {
    if (!isData(key, item, at)) eachObject(item, visit, `${at}/${escapePointerToken(key)}`);
  }
}

/** The references to other files in a value: in each `$ref`, and in the mappings of discriminators. */
export function externalReferences(value: unknown): string[] {
  const found: string[] = [];
  eachObject(value, ({ $ref, mapping, defaultMapping }) => {
    if (typeof $ref === 'string' && !$ref.startsWith('#') && !isUrl($ref)) found.push($ref);
    found.push(...[...Object.values(asObject(mapping)), defaultMapping].filter(isMappedFile));
  });
  return found;
}

/** The pointers of the schemas in a file by `$anchor` and `$dynamicAnchor` (JSON Schema 2020-12 §8.2.2). */
export function anchorsIn(value: unknown): Map<string, string> {
  const found = new Map<string, string>();
  eachObject(value, ({ $anchor, $dynamicAnchor }, at) => {
    for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') found.set(name, at);
  });
  return found;
}

/** Where a schema stands. */
const SCHEMA = new RegExp(
  [
    '/(schema|itemSchema|items|contains|not|if|then|else|propertyNames|(additional|unevaluated)(Properties|Items))$',
    '/(properties|patternProperties|dependentSchemas|\\$defs|schemas|mapping)/[^/]+$',
    '/(allOf|anyOf|oneOf|prefixItems)/\\d+$',
  ].join('|'),
);

/** The group of `components` in which an object that is referenced at a pointer belongs, if there is one. */
export function componentGroup(at: string): string | undefined {
  if (SCHEMA.test(at)) return 'schemas';
  if (at.endsWith('/requestBody')) return 'requestBodies';
  const [container = ''] = at.split('/').slice(-2);
  if (container === 'paths' || container === 'webhooks') return 'pathItems';
  if (container === 'content') return 'mediaTypes';
  return ['parameters', 'responses', 'headers', 'examples', 'links'].includes(container) ? container : undefined;
}
