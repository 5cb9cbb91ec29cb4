import {
  asObject,
  type DeclaredResponse,
  type Json,
  type MediaType,
  type Operation,
  onFirstUse,
  type Parameter,
  schemas,
} from 'openapi-document';
import { createChecks } from './checks.ts';
import type { Formats } from './eov.ts';

export type { Formats } from './eov.ts';
export { Violations } from './violations.ts';

export type Parameters = Readonly<
  Record<'path' | 'query' | 'header' | 'cookie', Record<string, unknown>>
>;

export interface ValidatorOptions {
  /** Formats besides those of OpenAPI and JSON Schema: `{ iban: (text) => … }`. */
  readonly formats?: Formats | undefined;
  /** Called with the name of each undeclared or `writeOnly` member that is removed from a reply. */
  readonly onDrop?: ((operation: Operation, name: string) => void) | undefined;
  /**
   * Removes undeclared and `writeOnly` members from replies, and `readOnly` members from requests.
   * If false, undeclared members are validated, and `writeOnly` and `readOnly` members are
   * rejected. By default true.
   */
  readonly drops?: boolean;
}

/** Validates the requests and replies of one operation. */
export interface OperationValidator {
  /** Returns the values with defaults filled in. @throws {Violations} */
  parameters(values: Parameters): Parameters;
  /** Returns the body with defaults filled in. A stream is not validated. @throws {Violations} */
  body(media: MediaType, body: unknown): unknown;
  /** Returns an item of a request with defaults filled in. @throws {Violations} */
  item(media: MediaType, item: unknown): unknown;
  /**
   * Returns the body of a reply, or an item of one, as it is written: without undeclared and
   * `writeOnly` members.
   *
   * @throws {Violations} if it does not match the media type of the response.
   */
  response(media: MediaType, body: unknown): unknown;
  /**
   * Returns the declared headers of a reply, by name in lower case, as values of JSON.
   *
   * @throws {Violations} if they do not match the response.
   */
  responseHeaders(response: DeclaredResponse, headers: Json): Json;
}

/**
 * Returns a function that creates the validator of an operation of a document. Operations share
 * compiled schemas.
 *
 * @param root the whole document.
 */
export function createValidators(
  root: Json,
  { formats = {}, onDrop, drops = true }: ValidatorOptions = {},
): (operation: Operation) => OperationValidator {
  const options = {
    formats,
    drops,
    tracksItems: hasKey(root, 'unevaluatedItems'),
    tracksMembers: hasKey(root, 'unevaluatedProperties'),
  };
  const requests = schemas.lower(root, 'request');
  const responses = schemas.lower(root, 'response');
  const checkRequest = createChecks(requests, 'request', options);
  const checkResponse = createChecks(responses, 'response', options);

  return onFirstUse((operation: Operation) => {
    const parameters = Map.groupBy(operation.parameters, (parameter) => parameter.in);
    const located = Object.fromEntries(
      [...parameters].map(([location, group]) => [location, schemaOfMembers(requests, group)]),
    );
    const checkParameters = checkRequest(objectOf(located));
    const bodies = onFirstUse(({ kind, schema }: MediaType) =>
      checkRequest(requests.lower(schema), { files: kind === 'multipart', path: '/body' }),
    );
    const items = onFirstUse(({ items }: MediaType) =>
      checkRequest(requests.lower(items?.schema), { files: true, path: '/body' }),
    );
    const replies = onFirstUse(({ schema, items, sequence }: MediaType) => {
      const body = responses.lower(items === undefined ? schema : items.schema);
      const drop = onDrop && ((name: string) => onDrop(operation, name));
      // Only the parts of a multipart body may be bytes. JSON writes bytes as an object.
      const files = items !== undefined && sequence === 'parts';
      return checkResponse(body, { files, path: '/body', onDrop: drop });
    });
    const headers = onFirstUse((response: DeclaredResponse) =>
      checkResponse(objectOf({ headers: schemaOfMembers(responses, response.headers) })),
    );

    return {
      parameters: (values) =>
        parameters.size === 0 ? values : Object.assign(values, checkParameters(values)),
      body: (media, body) => (media.kind === 'stream' ? body : bodies(media)(body)),
      item: (media, item) => items(media)(item),
      response: (media, body) => replies(media)(body),
      responseHeaders: (response, values) =>
        asObject(asObject(headers(response)({ headers: values })).headers),
    };
  });
}

const objectOf = (properties: Json): Json => ({ type: 'object', properties });

function schemaOfMembers(
  { lower }: schemas.LoweredSchemas,
  members: readonly Pick<Parameter, 'name' | 'required' | 'schema'>[],
): Json {
  const required = members.filter((member) => member.required).map(({ name }) => name);
  const properties = members.map(({ name, schema }) => [name, lower(schema)]);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

function hasKey(value: unknown, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, key) || Object.values(value).some((item) => hasKey(item, key));
}
