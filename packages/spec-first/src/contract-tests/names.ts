import { type MediaType, onFirstUse, pathTemplate } from 'openapi-document';

/** Normalizes a name for comparison: `orderid` for `order_id` and `orderId`. */
export const normalizedName = (name: string): string =>
  name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns true for the name of an id: `id`, `orderId`, `order_id`, `order-id` or `orderID`. */
export const isIdName = (name: string): boolean => /(?:^|[_-])id$|Id$|(?<!\p{Lu})ID$/u.test(name);

/** Returns the name of the ids in a collection: `orderid` for `/customers/{id}/orders`. */
export function idNameOfPath(path: string): string {
  const collection = path.split('/').findLast((segment) => /^[^{}]+$/.test(segment)) ?? '';
  return `${normalizedName(collection).replace(/ies$/, 'y').replace(/s$/, '')}id`;
}

/**
 * Returns the name of the ids of a path parameter: `roomid` for `{roomId}`, and for `{id}` in
 * `/rooms/{id}`.
 */
export function idNameOfParameter(path: string, parameterName: string): string {
  const name = normalizedName(parameterName);
  return name === 'id' ? idNameOfPath(path.slice(0, path.indexOf(`{${parameterName}}`))) : name;
}

/** Returns the id names of a body: `paymentid` for a `$ref` to `Payment`, none without a `$ref`. */
export function idNamesOfSchema({ outline }: Pick<MediaType, 'outline'>): string[] {
  const { componentName } = outline;
  return componentName === undefined ? [] : [`${normalizedName(componentName)}id`];
}

/** Returns a path up to its last parameter: `/rooms/{roomId}` of `/rooms/{roomId}/close`. */
export const resourcePathOf = (path: string): string => path.slice(0, path.lastIndexOf('}') + 1);

/** Returns the path of the collection that a resource belongs to: `/rooms` of `/rooms/{roomId}`. */
export const collectionPathOf = (resource: string): string => resource.replace(/\/[^/]*$/, '');

export const templateOf = onFirstUse(pathTemplate);

/** Returns the names of the parameters of a path. */
export const namesOf = (template: string): readonly string[] => templateOf(template).names;

/** Returns the name of the last parameter of a path, which is the id of a resource. */
export const idParameterOf = (template: string): string => namesOf(template).at(-1) ?? '';
