import {
  asArray,
  asObject,
  declaredFor,
  decoded,
  isObject,
  type Json,
  type Operation,
  pathTemplate,
  resolveRef,
  stringifyJson,
  valueAt,
} from 'openapi-document';
import { parsedBody } from './check-response.ts';
import type { ReceivedResponse } from './client.ts';
import { nextCursor } from './paging.ts';
import { type RequestValues, valuesByName } from './request-parts.ts';
import {
  collectionPathOf,
  idNameOfParameter,
  idNameOfPath,
  idNamesOfSchema,
  idNameTestFor,
  isIdName,
  normalizedName,
  resourcePathOf,
} from './resource-names.ts';

/** The maximum number of tracked resources of one path template, and of ids of one name. */
const MAX_RESOURCES = 50;

export type Resources = ReturnType<typeof trackResources>;

/** Tracks resources by the ids in responses. Later requests use these ids. */
export function trackResources(root: Json, operations: readonly Operation[]) {
  /** Path parameters of resources, newest first, by the path template of the resource. */
  const pathsByTemplate = new Map<string, Json[]>();
  /**
   * Ids, newest first, by the normalized name of a path parameter or a member. The name `paymentid`
   * has the values of `paymentId` and the `id` of each payment. The name `id` has no values, since
   * each resource may have an `id`.
   */
  const ids = new Map<string, unknown[]>();
  /** Entity tags, by path template and path parameters. */
  const etags = new Map<string, string>();
  /** The last cursor of a next page, by the id of the operation. */
  const cursors = new Map<string, unknown>();
  /** The ids that the option `seed` returned, by normalized name. */
  const seededIds = new Map<string, unknown>();
  const isQualifiedIdName = idNameTestFor(operations);
  const pathsOf = ({ path }: Operation) => pathsByTemplate.get(resourcePathOf(path)) ?? [];

  function rememberId(name: string, id: unknown): void {
    if (name === 'id' || typeof id === 'object' || id === undefined || id === '') return;
    const distinct = new Set([id, ...(ids.get(name) ?? [])]);
    ids.set(name, [...distinct].slice(0, MAX_RESOURCES));
  }

  /**
   * Remembers the resource in the path of an operation. Returns its path parameters in the types of
   * their schemas, such as 7 for the text `7`. Returns `undefined` if one is missing.
   */
  function rememberResource(resourceOperation: Operation, values: Json): Json | undefined {
    const resource = resourcePathOf(resourceOperation.path);
    const { names } = pathTemplate(resource);
    const typed = names.flatMap((name) => {
      const parameter = resourceOperation.parameters.find(
        (candidate) => candidate.in === 'path' && candidate.name === name,
      );
      const value = values[name];
      if (parameter === undefined || value === undefined || isObject(value)) return [];
      return [[name, parameter.read(parameter.write(value))] as const];
    });
    if (names.length === 0 || typed.length < names.length) return undefined;
    const path = Object.fromEntries(typed);
    for (const [name, value] of typed) rememberId(idNameOfParameter(resource, name), value);
    const others = pathsOf(resourceOperation);
    const isNew = others.every((other) => stringifyJson(other) !== stringifyJson(path));
    if (isNew) pathsByTemplate.set(resource, [path, ...others].slice(0, MAX_RESOURCES));
    return path;
  }

  /**
   * Remembers the resources of the Link Objects of a response (OpenAPI 3.1 §4.8.20). Ignores links
   * with `operationRef`.
   */
  function followLinks(
    links: unknown,
    path: Json,
    values: RequestValues,
    response: ReceivedResponse,
  ): void {
    for (const link of Object.values(asObject(links))) {
      const { operationId, parameters } = resolveRef(root, link) ?? {};
      const linkedIds = Object.entries(asObject(parameters)).map(([name, expression]) => [
        name.replace(/^path\./, ''),
        evaluate(expression, values, response),
      ]);
      const resourceOperation = operations.find(({ id }) => id === operationId);
      if (resourceOperation !== undefined)
        rememberResource(resourceOperation, { ...path, ...Object.fromEntries(linkedIds) });
    }
  }

  function rememberIdsIn(
    { path, responses }: Operation,
    { status }: ReceivedResponse,
    body: unknown,
  ): void {
    const declared = declaredFor({ responses }, status)?.media ?? [];
    const isList = Array.isArray(body) || Object.values(asObject(body)).some(Array.isArray);
    const names = new Set([
      idNameOfPath(path),
      ...(isList ? [] : declared.flatMap(idNamesOfSchema)),
    ]);
    for (const entity of entitiesIn(body)) {
      for (const [name, value] of Object.entries(entity)) {
        if (isQualifiedIdName(name)) rememberId(normalizedName(name), value);
      }
      // A list in a resource contains other resources.
      if (entity !== body && asObject(body).id !== undefined) continue;
      for (const name of names) rememberId(name, entity.id);
    }
  }

  /** Forgets the resource that an operation deleted, and the resources below its path. */
  function forgetDeleted(operation: Operation, path: Json): void {
    const isOther = (resource: Json) =>
      Object.entries(path).some(([name, value]) => resource[name] !== value);
    for (const [resource, paths] of pathsByTemplate) {
      if (`${resource}/`.startsWith(`${operation.path}/`))
        pathsByTemplate.set(resource, paths.filter(isOther));
    }
    const name = operation.template.names.at(-1) ?? '';
    if (!operation.path.endsWith(`{${name}}`)) return;
    for (const idName of idNamesOf(operation.path, name)) {
      const others = ids.get(idName)?.filter((id) => id !== path[name]) ?? [];
      ids.set(idName, others);
      if (seededIds.get(idName) === path[name]) seededIds.delete(idName);
    }
  }

  /** Adds the resources of `Location`. It takes precedence over members of the body. */
  function addLocation(
    { url, headers: { location } }: ReceivedResponse,
    addResource: (resourceOperation: Operation, idsByName: Json) => void,
  ): void {
    const resource = location === undefined ? null : URL.parse(location, url);
    if (resource === null) return;
    for (const resourceOperation of operations) {
      const { names, match } = pathTemplate(resourcePathOf(resourceOperation.path));
      const texts = match(resource.pathname);
      if (texts === undefined) continue;
      const located = names.map((name, index) => [name, decoded(texts[index] ?? '')]);
      addResource(resourceOperation, Object.fromEntries(located));
    }
  }

  /** Returns the names of the ids of a resource, from its paths and from its responses. */
  function idNamesOf(resource: string, parameterName: string): ReadonlySet<string> {
    const paths = [resource, collectionPathOf(resource)];
    const media = operations
      .filter(({ path }) => paths.includes(path))
      .flatMap(({ responses }) => responses.flatMap((response) => response.media));
    return new Set([
      idNameOfParameter(resource, parameterName),
      idNameOfPath(resource),
      ...media.flatMap(idNamesOfSchema),
    ]);
  }

  return {
    /**
     * Remembers the ids, the cursor and the entity tag of a successful response. Ids come from the
     * path of the request, from links, from `Location`, and from members such as `id` and `roomId`.
     * Forgets the resource that a DELETE request deleted.
     *
     * @returns the path parameters of each resource of the response, by the path template. Omits
     *   the items of lists.
     */
    addResponse(
      operation: Operation,
      values: RequestValues,
      response: ReceivedResponse,
    ): ReadonlyMap<string, Json> {
      const resourcePaths = new Map<string, Json>();
      if (response.status < 200 || response.status > 299) return resourcePaths;
      const path = valuesByName(values, 'path');
      if (operation.method === 'delete') {
        forgetDeleted(operation, path);
        return resourcePaths;
      }
      const addResource = (resourceOperation: Operation, idsByName: Json) => {
        const resourcePath = rememberResource(resourceOperation, idsByName);
        if (resourcePath !== undefined)
          resourcePaths.set(resourcePathOf(resourceOperation.path), resourcePath);
      };
      addResource(operation, path);
      followLinks(declaredFor(operation, response.status)?.source.links, path, values, response);

      const body = parsedBody(response);
      for (const resourceOperation of operations) {
        const resource = resourcePathOf(resourceOperation.path);
        const { names } = pathTemplate(resource);
        // Only responses of the resource or of its collection have its ids as members.
        if (operation.path !== resource && operation.path !== collectionPathOf(resource)) continue;
        const name = names.at(-1) ?? '';
        // `roomid` of `/rooms/{roomid}` is an id without a capital letter.
        const isId = isIdName(name) || normalizedName(name) === idNameOfPath(resource);
        const idOf = (entity: Json) => entity[name] ?? (isId ? entity.id : undefined);
        // A list in a resource contains other resources.
        const isResource = idOf(asObject(body)) !== undefined;
        for (const entity of isResource ? [asObject(body)] : entitiesIn(body)) {
          const idsByName = { ...path, [name]: idOf(entity) };
          if (entity === body) addResource(resourceOperation, idsByName);
          else rememberResource(resourceOperation, idsByName);
        }
      }
      addLocation(response, addResource);
      rememberIdsIn(operation, response, body);

      const { etag } = response.headers;
      if (etag !== undefined) {
        for (const [resource, resourcePath] of resourcePaths)
          etags.set(etagKey(resource, resourcePath), etag);
      }
      const cursor = nextCursor(body);
      if (cursor !== undefined) cursors.set(operation.id, cursor);
      return resourcePaths;
    },

    /**
     * Adds the ids that the option `seed` returned, by name. In paths, they take precedence over
     * the ids in responses.
     */
    addSeededIds(idsByName: Json): void {
      for (const [name, id] of Object.entries(idsByName)) {
        seededIds.set(normalizedName(name), id);
        rememberId(normalizedName(name), id);
      }
    },

    /** Returns true if a resource with exactly the path of an operation is known. */
    isKnown: (operation: Operation): boolean =>
      operation.path === resourcePathOf(operation.path) && pathsOf(operation).length > 0,

    etagOf: ({ path }: Operation, resourcePath: Json): string | undefined =>
      etags.get(etagKey(resourcePathOf(path), resourcePath)),

    cursorOf: ({ id }: Operation): unknown => cursors.get(id),

    /**
     * Returns the path parameters of an existing resource. Omits parameters without a known id.
     *
     * @param fraction selects the resource: 0 the newest, just below 1 the oldest.
     */
    pathOf(operation: Operation, fraction: number): Json {
      const paths = pathsOf(operation);
      const path = paths[Math.floor(fraction * paths.length)] ?? {};
      const { names } = pathTemplate(resourcePathOf(operation.path));
      const entries = names.map((name) => {
        const idName = idNameOfParameter(operation.path, name);
        const seededId = seededIds.get(idName) ?? seededIds.get(normalizedName(name));
        return [name, seededId ?? path[name] ?? ids.get(idName)?.[0]];
      });
      return Object.fromEntries(entries.filter(([, id]) => id !== undefined));
    },

    /** Returns the ids for a parameter or a member, such as `roomId`, newest first. */
    idsOf: (name: string): unknown[] => ids.get(normalizedName(name)) ?? [],
  };
}

const etagKey = (resource: string, path: Json): string =>
  `${resource} ${Object.values(path).join(' ')}`;

/**
 * Returns the value of a runtime expression such as `$response.body#/id` (OpenAPI 3.1 §4.8.20.4).
 * Returns constants unchanged, and also `$url`, `$method` and `$statusCode`.
 */
function evaluate(expression: unknown, values: RequestValues, response: ReceivedResponse): unknown {
  const [, message, where, name = ''] =
    /^\$(request|response)\.(\w+)[.#]?(.*)$/.exec(String(expression)) ?? [];
  if (message === undefined) return expression;
  if (message === 'response')
    return where === 'header'
      ? response.headers[name.toLowerCase()]
      : valueAt(parsedBody(response), name);
  if (where === 'body') return valueAt(valuesByName(values, 'body')[''], name);
  // The case of names matters, except in headers.
  const keyOf = (text: string) => (where === 'header' ? text.toLowerCase() : text);
  const sent = [...values].find(([part]) => part.in === where && keyOf(part.name) === keyOf(name));
  return sent?.[1];
}

/**
 * Returns at most five objects of a response that may have an id: the body, its items, and the
 * items of its lists.
 */
const entitiesIn = (body: unknown): Json[] =>
  [body, ...asArray(body), ...Object.values(asObject(body)).flatMap(asArray)]
    .filter(isObject)
    .slice(0, 5);
