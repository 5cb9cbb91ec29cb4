import type { DeclaredResponse, Json, MediaType, Operation } from 'openapi-document';
import { type Check, checksFor } from './checks.ts';
import { createRewriter, type Reading } from './rewrite.ts';

export { Violations } from './checks.ts';

export type Parameters = Readonly<Record<'path' | 'query' | 'header' | 'cookie', Record<string, unknown>>>;

/**
 * Makes the validators for the operations of one path item.
 *
 * @param root the whole document.
 */
export function createPathValidators(root: Json, operations: readonly Operation[], reading: Reading) {
  const requests = createRewriter('request', root, reading);
  const responses = createRewriter('response', root, reading);
  const [checkRequest, checkResponse] = [checksFor(requests), checksFor(responses)];
  /** Of a media type, of its items, of the headers of a response, and of a request without a body. */
  const checks = new Map<unknown, Check>();
  const objectOf = (properties: Json): Json => ({ type: 'object', properties });
  for (const operation of operations) {
    const byLocation = Map.groupBy(operation.parameters, (parameter) => parameter.in);
    const located = Object.fromEntries([...byLocation].map(([location, all]) => [location, requests.object(all)]));
    checks.set(operation, checkRequest(objectOf(located)));
    for (const media of (operation.requestBody?.media ?? []).flatMap((each) => [each, each.asJson ?? []].flat())) {
      const { kind, schema, items } = media;
      const body = kind !== 'stream' && { body: requests.rewrite(schema, kind === 'multipart') };
      checks.set(media, checkRequest(objectOf({ ...located, ...body })));
      if (items !== undefined)
        checks.set(items, checkRequest(objectOf({ body: requests.rewrite(items.schema, true) })));
    }
    for (const response of operation.responses) {
      checks.set(response, checkResponse(objectOf({ headers: responses.object(response.headers) })));
      for (const media of response.media) {
        const schema = media.items === undefined ? media.schema : media.items.schema;
        if (schema === undefined) continue;
        checks.set(media, checkResponse(objectOf({ body: responses.rewrite(schema, media.items !== undefined) })));
      }
    }
  }
  return new Map(operations.map((operation) => [operation, validatorOf(operation, checks)]));
}

/** Validates the requests and replies of one operation. */
export type OperationValidator = ReturnType<typeof validatorOf>;

const validatorOf = (operation: Operation, checks: ReadonlyMap<unknown, Check>) => ({
  /** Returns the values with defaults filled in. @throws {Violations} */
  request({ path, query, header, cookie }: Parameters, media: MediaType | undefined, body: unknown) {
    const isStream = media?.kind === 'stream';
    const value = { path, query, header, cookie, body: isStream ? undefined : body };
    checks.get(media ?? operation)?.(value);
    if (isStream) value.body = body;
    return value;
  },

  /** Returns an item of a request with defaults filled in. @throws {Violations} */
  item({ items }: MediaType, item: unknown): unknown {
    const value = { body: item };
    checks.get(items)?.(value);
    return value.body;
  },

  /** @throws {Violations} if the body, or the item of one, does not match the media type of the response. */
  response: (media: MediaType, body: unknown): void => checks.get(media)?.({ body }),

  /** @throws {Violations} if the headers, by name in lower case, do not match the response. */
  responseHeaders: (response: DeclaredResponse, headers: Json): void => checks.get(response)?.({ headers }),
});
