import type { Operation } from '../document/operations.ts';
import type { FormEncoding, Styled } from '../parameters/write-parameter.ts';
import type { Stream } from '../sequences/read-items.ts';

/** The parts of an operation that a client needs to call it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** The declared media types of its body. */
  readonly media: readonly string[];
  /** The encoding of the fields of forms, by media type. */
  readonly encoding?: Readonly<Record<string, FormEncoding>>;
  readonly parameters: readonly Styled[];
  /** The media types of its responses that are streams of items. */
  readonly streams?: Readonly<Record<string, Stream>>;
}

/** Returns the routes of operations, by their ids. */
export const routesOf = <Id extends PropertyKey = string>(operations: readonly Operation[]) =>
  Object.fromEntries(
    operations.map(({ id, method, path, parameters, requestBody, responses }): [string, Route] => {
      const streams = responses
        .flatMap(({ media }) => media)
        .flatMap(({ type, sequence, items }) =>
          items ? [[type, { sequence, items: { data: items.data } }]] : [],
        );
      const media = requestBody?.media ?? [];
      const encodings = media.flatMap(({ type, encoding }) =>
        Object.keys(encoding).length > 0 ? [[type, encoding]] : [],
      );
      return [
        id,
        {
          method: method.toUpperCase(),
          path,
          media: media.map(({ type }) => type),
          ...(encodings.length > 0 && { encoding: Object.fromEntries(encodings) }),
          parameters: parameters.map(
            ({ in: where, name, style, explode, json, allowReserved, media: content }) => ({
              ...{ in: where, name, style, explode, json },
              ...(allowReserved && { allowReserved }),
              ...(style === 'querystring' &&
                content && { media: { kind: content.kind, encoding: content.encoding } }),
            }),
          ),
          ...(streams.length > 0 && { streams: Object.fromEntries(streams) }),
        },
      ];
    }),
  ) as { readonly [Key in Id]: Route };
