import type { Operation } from '../document/operations.ts';
import type { Styled } from '../parameters/write-parameter.ts';
import type { Stream } from '../sequences/read-items.ts';

/** How an operation is called, as its document says. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** The media types of its body, as the document declares them. */
  readonly media: readonly string[];
  readonly parameters: readonly Styled[];
  /** The media types of its replies that are streams of items. */
  readonly streams?: Readonly<Record<string, Stream>>;
}

/** How each operation is called, for a client, by its operationId. */
export const routesOf = <Id extends PropertyKey = string>(operations: readonly Operation[]) =>
  Object.fromEntries(
    operations
      .filter(({ template }) => template.isReachable)
      .map(({ id, method, path, parameters, requestBody, responses }): [string, Route] => {
        const streams = responses
          .flatMap(({ media }) => media)
          .flatMap(({ type, sequence, items }) => (items ? [[type, { sequence, items: { data: items.data } }]] : []));
        return [
          id,
          {
            method: method.toUpperCase(),
            path,
            media: (requestBody?.media ?? []).map(({ type }) => type),
            parameters: parameters.map(({ in: where, name, style, explode, json, allowReserved, media }) => ({
              ...{ in: where, name, style, explode, json },
              ...(allowReserved && { allowReserved }),
              ...(style === 'querystring' && media && { media: { kind: media.kind } }),
            })),
            ...(streams.length > 0 && { streams: Object.fromEntries(streams) }),
          },
        ];
      }),
  ) as { readonly [Key in Id]: Route };
