import type { BodyFormat } from '../codecs/codec.ts';
import type { MediaType } from '../operations/media.ts';
import type { Operation } from '../operations/operations.ts';
import type { ServerPath } from '../operations/servers.ts';
import type { Styled } from '../parameters/write-value.ts';

/** The parts of an operation that a client needs to call it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** Set if the operation has servers of its own. */
  readonly serverPath?: ServerPath;
  readonly parameters: readonly RouteParameter[];
  /** The media types of its body. */
  readonly media: readonly BodyFormat[];
  /** Its responses, if any of them has items. A client reads other bodies by their media type. */
  readonly responses: readonly RouteResponse[];
  /** True if responses may have integers of 64 bits. Otherwise all numbers are doubles. */
  readonly int64?: boolean;
}

interface RouteResponse {
  readonly key: string;
  readonly media: readonly BodyFormat[];
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
    operations.map(
      ({ id, method, path, serverPath, parameters, requestBody, responses }): [string, Route] => [
        id,
        {
          method: method.toUpperCase(),
          path,
          ...(serverPath && { serverPath }),
          parameters: parameters.map(
            ({
              in: where,
              name,
              style,
              explode,
              json,
              allowReserved,
              required,
              outline,
              form,
              media,
            }) => ({
              ...{ in: where, name, style, explode, json, allowReserved },
              ...((required || outline.defaults.some((value) => value !== null)) &&
                where !== 'path' && { mustBeSent: true }),
              ...(form && { form }),
              media: media && { type: media.type, encoding: media.encoding },
            }),
          ),
          media: (requestBody?.media ?? []).map(formatOf),
          responses: responses.some(({ media }) => media.some(({ items }) => items))
            ? responses.map(({ key, media }) => ({ key, media: media.map(formatOf) }))
            : [],
          ...(responses.some(({ media }) => media.some(mayHaveInt64)) && { int64: true }),
        },
      ],
    ),
  ) as { readonly [Key in Id]: Route };

const mayHaveInt64 = ({ items, outline }: MediaType): boolean =>
  items !== undefined || outline.mayHaveInt64;

function formatOf({ type, encoding, items }: MediaType): BodyFormat {
  return {
    type,
    ...(Object.keys(encoding).length > 0 && { encoding }),
    ...(items && { items: { data: items.data } }),
  };
}
