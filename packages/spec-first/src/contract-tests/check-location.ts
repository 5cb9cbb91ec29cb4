import type { Operation } from 'openapi-document';
import { CheckError } from './check-response.ts';
import type { ReceivedResponse } from './client.ts';

export interface LocationContext {
  /** The operations of the document. */
  readonly operations: readonly Operation[];
  /** The paths of the servers, without a trailing slash. */
  readonly basePaths: readonly string[];
  /** The GET operation of the created resource. */
  readonly reader: { readonly operation: Operation } | undefined;
}

/**
 * Checks that the path of `Location` in a response 201 is that of a GET operation (RFC 9110
 * §10.2.2). Ignores URLs of other origins, and resources without a GET operation.
 *
 * @throws {CheckError}
 */
export function checkLocation(
  { operations, basePaths, reader }: LocationContext,
  { status, url, headers: { location } }: ReceivedResponse,
): void {
  if (reader === undefined || status !== 201 || location === undefined) return;
  const resource = URL.parse(location, url);
  if (resource === null || resource.origin !== new URL(url).origin) return;
  const { pathname } = resource;
  const isReadable = basePaths
    .filter((basePath) => pathname.startsWith(`${basePath}/`))
    .map((basePath) => pathname.slice(basePath.length))
    .some((path) => operations.some((operation) => isPathOfGet(operation, path)));
  if (isReadable) return;
  throw new CheckError(
    'Location is the URL of a resource',
    `Location "${location}" is the path ${pathname}, which has no GET operation: ` +
      `return the URL of GET ${reader.operation.path}`,
  );
}

/** Compares the number of segments, since `match` ignores segments before those of the template. */
const isPathOfGet = ({ method, template }: Operation, path: string): boolean =>
  method === 'get' &&
  template.segments.length === path.split('/').length &&
  template.match(path) !== undefined;
