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
import { parsedBody } from './checks.ts';
import type { ReceivedResponse } from './client.ts';
import {
  collectionOf,
  idName,
  idNameOfPath,
  isIdName,
  isQualifiedIdName,
  resourceOf,
  schemaIdNames,
} from './order.ts';
import { nextCursor } from './pages.ts';
import { namedIn, type Values } from './parts.ts';

/** The maximum number of resources of one kind that are remembered. */
const MAX_RESOURCES = 50;

/** The resources that replies of the service contained. */
export type Resources = ReturnType<typeof trackResources>;

/** Keeps the ids in replies, so that later requests can use them. */
export function trackResources(root: Json, operations: readonly Operation[]) {
  /** Path parameters of resources, newest first, by the path template of the resource. */
  const pathsByTemplate = new Map<string, Json[]>();
  /** Ids by name: path parameters, members such as `paymentId`, and the `id` of a payment. */
  const ids = new Map<string, unknown[]>();
  /** Entity tags, by path template and path parameters. */
  const etags = new Map<string, string>();
  /** Cursors of next pages, by operation. */
  const cursors = new Map<string, unknown>();
  let seeded: Json = {};
  const pathsOf = ({ path }: Operation) => pathsByTemplate.get(resourceOf(path)) ?? [];

  function rememberId(name: string, id: unknown): void {
    if (typeof id === 'object' || id === undefined || id === '') return;
    const distinct = new Set([id, ...(ids.get(name) ?? [])]);
    ids.set(name, [...distinct].slice(0, MAX_RESOURCES));
  }

  /**
   * Keeps the path parameters of a resource. Returns them as their schemas declare, such as 7 for
   * the text `7`, or `undefined` if one is missing.
   */
  function remember(target: Operation, values: Json): Json | undefined {
    const resource = resourceOf(target.path);
    const { names } = pathTemplate(resource);
    const typed = names.flatMap((name) => {
      const parameter = target.parameters.find(
        (candidate) => candidate.in === 'path' && candidate.name === name,
      );
      const value = values[name];
      if (parameter === undefined || value === undefined || isObject(value)) return [];
      return [[name, parameter.read(parameter.write(value))] as const];
    });
    if (names.length === 0 || typed.length < names.length) return undefined;
    const path = Object.fromEntries(typed);
    for (const [name, value] of typed) if (name !== 'id') rememberId(idName(name), value);
    const others = pathsOf(target);
    const isNew = others.every((other) => stringifyJson(other) !== stringifyJson(path));
    if (isNew) pathsByTemplate.set(resource, [path, ...others].slice(0, MAX_RESOURCES));
    return path;
  }

  /** Keeps the ids that Link Objects describe (OpenAPI 3.1 §4.8.20). */
  function followLinks(links: unknown, path: Json, values: Values, answer: ReceivedResponse): void {
    for (const link of Object.values(asObject(links))) {
      const { operationId, parameters } = resolveRef(root, link) ?? {};
      const named = Object.entries(asObject(parameters)).map(([name, expression]) => [
        name.replace(/^path\./, ''),
        evaluate(expression, values, answer),
      ]);
      const target = operations.find(({ id }) => id === operationId);
      if (target !== undefined) remember(target, { ...path, ...Object.fromEntries(named) });
    }
  }

  /** Keeps ids by name, for members and parameters such as `paymentId`. */
  function rememberEntities(
    { path, responses }: Operation,
    { status }: ReceivedResponse,
    body: unknown,
  ): void {
    const declared = declaredFor({ responses }, status)?.media ?? [];
    const isList = Array.isArray(body) || Object.values(asObject(body)).some(Array.isArray);
    const names = new Set([idNameOfPath(path), ...(isList ? [] : declared.flatMap(schemaIdNames))]);
    for (const entity of entitiesIn(body)) {
      for (const [name, value] of Object.entries(entity)) {
        if (isQualifiedIdName(name)) rememberId(idName(name), value);
      }
      if (entity !== body && asObject(body).id !== undefined) continue;
      for (const name of names) rememberId(name, entity.id);
    }
  }

  /** Forgets the resources at the path of a deletion, and those below it. */
  function forget(operation: Operation, path: Json): void {
    const isOther = (resource: Json) =>
      Object.entries(path).some(([name, value]) => resource[name] !== value);
    for (const [resource, paths] of pathsByTemplate) {
      if (`${resource}/`.startsWith(`${operation.path}/`))
        pathsByTemplate.set(resource, paths.filter(isOther));
    }
    if (!operation.path.endsWith('}')) return;
    const deleted = Object.values(path).at(-1);
    for (const [name, values] of ids) {
      const others = values.filter((id) => id !== deleted);
      ids.set(name, others);
    }
  }

  return {
    /**
     * Keeps the ids, cursors and entity tags of a reply. Ids come from links, from `Location`, and
     * from members with the names of path parameters.
     *
     * @returns the path parameters of the resources in the reply, by the resource's path template.
     */
    learn(
      operation: Operation,
      values: Values,
      answer: ReceivedResponse,
    ): ReadonlyMap<string, Json> {
      const resourcePaths = new Map<string, Json>();
      if (answer.status < 200 || answer.status > 299) return resourcePaths;
      const path = namedIn(values, 'path');
      if (operation.method === 'delete') {
        forget(operation, path);
        return resourcePaths;
      }
      const addResource = (target: Operation, named: Json) => {
        const resourcePath = remember(target, named);
        if (resourcePath !== undefined) resourcePaths.set(resourceOf(target.path), resourcePath);
      };
      addResource(operation, path);
      followLinks(declaredFor(operation, answer.status)?.source.links, path, values, answer);

      const body = parsedBody(answer);
      const { pathname = '' } = URL.parse(answer.headers.location ?? '', 'http://host') ?? {};
      for (const target of operations) {
        const resource = resourceOf(target.path);
        const { names, match } = pathTemplate(resource);
        const texts = match(pathname);
        if (texts) {
          const located = names.map((name, index) => [name, decoded(texts[index] ?? '')]);
          addResource(target, Object.fromEntries(located));
        }
        // Only replies for the resource itself or for its collection have its ids as members.
        if (operation.path !== resource && operation.path !== collectionOf(resource)) continue;
        const name = names.at(-1) ?? '';
        // `roomid` of `/rooms/{roomid}` is an id without a capital letter.
        const isId = isIdName(name) || idName(name) === idNameOfPath(resource);
        const idOf = (entity: Json) => entity[name] ?? (isId ? entity.id : undefined);
        // The items in a resource have ids of their own.
        const isResource = idOf(asObject(body)) !== undefined;
        for (const entity of isResource ? [asObject(body)] : entitiesIn(body)) {
          const named = { ...path, [name]: idOf(entity) };
          if (entity === body) addResource(target, named);
          else remember(target, named);
        }
      }
      rememberEntities(operation, answer, body);

      const { etag } = answer.headers;
      if (etag !== undefined) {
        for (const [resource, resourcePath] of resourcePaths)
          etags.set(etagKey(resource, resourcePath), etag);
      }
      const cursor = nextCursor(body);
      if (cursor !== undefined) cursors.set(operation.id, cursor);
      return resourcePaths;
    },

    /** Adds ids, by name. */
    seed(named: Json): void {
      seeded = named;
      for (const [name, id] of Object.entries(named)) rememberId(idName(name), id);
    },

    /** Returns the entity tag of a resource, for the header `If-Match`. */
    etagOf: ({ path }: Operation, resourcePath: Json): string | undefined =>
      etags.get(etagKey(resourceOf(path), resourcePath)),

    /** Returns the cursor of a next page, which a reply of the operation contained. */
    cursorOf: ({ id }: Operation): unknown => cursors.get(id),

    /**
     * Returns the path parameters of an existing resource, as far as replies contained them.
     *
     * @param draw a number from 0 to 1 that selects the resource. 0 selects the newest.
     */
    pathOf(operation: Operation, draw: number): Json {
      const paths = pathsOf(operation);
      const path = paths[Math.floor(draw * paths.length)] ?? {};
      const { names } = pathTemplate(resourceOf(operation.path));
      const named = names.map((name) => [
        name,
        seeded[name] ?? path[name] ?? ids.get(idName(name))?.[0],
      ]);
      return Object.fromEntries(named.filter(([, id]) => id !== undefined));
    },

    /** Returns values for a parameter or a member, by its name, such as `roomId`. */
    valuesOf: (name: string): unknown[] => ids.get(idName(name)) ?? [],
  };
}

const etagKey = (resource: string, path: Json): string =>
  `${resource} ${Object.values(path).join(' ')}`;

/** Returns the value of a runtime expression (OpenAPI 3.1 §4.8.20.3). */
function evaluate(expression: unknown, values: Values, answer: ReceivedResponse): unknown {
  const [, message, where, name = ''] =
    /^\$(request|response)\.(\w+)[.#]?(.*)$/.exec(String(expression)) ?? [];
  if (message === undefined) return expression;
  if (where === 'header') return answer.headers[name.toLowerCase()];
  if (where !== 'body') return namedIn(values, where === 'path' ? 'path' : 'query')[name];
  return valueAt(message === 'request' ? namedIn(values, 'body')[''] : parsedBody(answer), name);
}

/**
 * Returns at most five objects of a reply that may have an id: the body, its items and the items of
 * its lists.
 */
const entitiesIn = (body: unknown): Json[] =>
  [body, ...asArray(body), ...Object.values(asObject(body)).flatMap(asArray)]
    .filter(isObject)
    .slice(0, 5);
