import type { Operation } from 'openapi-document';
import type { Route } from '../templates/client/client.ts';

/** How each operation is called, for a client, by its operationId. */
export const routesOf = <Id extends PropertyKey = string>(operations: readonly Operation[]) =>
  Object.fromEntries(
    operations
      .filter(({ template }) => template.isReachable)
      .map(({ id, method, path, parameters, requestBody }): [string, Route] => [
        id,
        {
          method: method.toUpperCase(),
          path,
          media: (requestBody?.media ?? []).map(({ type }) => type),
          parameters: parameters.map(({ in: where, name, style, explode, json }) => ({
            in: where,
            name,
            style,
            explode,
            json,
          })),
        },
      ]),
  ) as { readonly [Key in Id]: Route };
