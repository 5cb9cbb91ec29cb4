import { type Json, onFirstUse, pathTemplate } from 'openapi-document';

/** Normalizes a name for comparison: `orderid` for `order_id` and `orderId`. */
export const normalizedName = (name: string): string =>
  name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns true for the name of an id: `id`, `orderId`, `order_id`, `order-id` or `orderID`. */
export const isIdName = (name: string): boolean => /(?:^|[_-])id$|Id$|(?<!\p{Lu})ID$/u.test(name);

/** Returns the name of the ids in a collection: `orderid` for `/customers/{id}/orders`. */
export function idNameOfPath(path: string): string {
  const collection = path.split('/').findLast((segment) => /^[^{}]+$/.test(segment)) ?? '';
  return `${singularOf(collection)}id`;
}

/** Normalizes the name of a collection: `order` for `orders`. */
export const singularOf = (collection: string): string =>
  normalizedName(collection).replace(/ies$/, 'y').replace(/s$/, '');

/**
 * Returns the name of the ids of a path parameter: `roomid` for `{roomId}`, and for `{id}` in
 * `/rooms/{id}`.
 */
export function idNameOfParameter(path: string, parameterName: string): string {
  const name = normalizedName(parameterName);
  return name === 'id' ? idNameOfPath(path.slice(0, path.indexOf(`{${parameterName}}`))) : name;
}

/** Returns a path up to its last parameter: `/rooms/{roomId}` of `/rooms/{roomId}/close`. */
export const resourcePathOf = (path: string): string => path.slice(0, path.lastIndexOf('}') + 1);

/**
 * Returns the path of the collection that a resource belongs to: `/rooms` of `/rooms/{roomId}`, and
 * of `/rooms/{floor}/{number}`.
 */
export const collectionPathOf = (resource: string): string =>
  resource.replace(/(\/\{[^/]*)+$|\/[^/]*$/, '');

export const templateOf = onFirstUse(pathTemplate);

/** Returns the names of the parameters of a path. */
export const namesOf = (template: string): readonly string[] => templateOf(template).names;

/** Returns the names of the parameters that identify a resource in its collection. */
export const ownNamesOf = (template: string): readonly string[] =>
  namesOf(template).slice(namesOf(collectionPathOf(template)).length);

/**
 * Returns the key of a resource in its collection: the texts of its ids. `undefined` if one is
 * missing.
 */
export function keyOf(template: string, path: Json): string | undefined {
  const ids = ownNamesOf(template).map((name) => path[name]);
  return ids.length === 0 || ids.includes(undefined) ? undefined : ids.join(' ');
}

/** Returns the path parameters with some names. */
export const pick = (names: readonly string[], path: Json): Json =>
  Object.fromEntries(names.map((name) => [name, path[name]]));

/** Returns the name of the last parameter of a path, which is the id of a resource. */
export const idParameterOf = (template: string): string => namesOf(template).at(-1) ?? '';
