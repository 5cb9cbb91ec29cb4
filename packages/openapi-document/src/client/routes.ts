import type { Operation } from '../document/operations.ts';
import type { FormEncoding, Styled } from '../parameters/write-parameter.ts';
import type { ItemFormat } from '../sequences/read-items.ts';

/** The parts of an operation that a client needs to call it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly RouteParameter[];
  /** The media types of its body. */
  readonly media: readonly { readonly type: string; readonly encoding: FormEncoding }[];
  /** The media types of its responses that are streams of items. */
  readonly streams: readonly (ItemFormat & { readonly type: string })[];
}

interface RouteParameter extends Styled {
  /**
   * True if the server reads a missing parameter not as `null` or as an empty value: it is required
   * or has a default.
   */
  readonly mustBeSent?: boolean;
}

/** Returns the routes of operations, by their ids. */
export const routesOf = <Id extends PropertyKey = string>(operations: readonly Operation[]) =>
  Object.fromEntries(
    operations.map(({ id, method, path, parameters, requestBody, responses }): [string, Route] => [
      id,
      {
        method: method.toUpperCase(),
        path,
        parameters: parameters.map(
          ({ in: where, name, style, explode, json, allowReserved, required, outline, media }) => ({
            ...{ in: where, name, style, explode, json, allowReserved },
            ...((required || outline.defaults.some((value) => value !== null)) &&
              where !== 'path' && { mustBeSent: true }),
            media: media && { kind: media.kind, encoding: media.encoding },
          }),
        ),
        media: (requestBody?.media ?? []).map(({ type, encoding }) => ({ type, encoding })),
        streams: responses
          .flatMap(({ media }) => media)
          .flatMap(({ type, sequence, items }) =>
            items ? { type, sequence, items: { data: items.data } } : [],
          ),
      },
    ]),
  ) as { readonly [Key in Id]: Route };
