import type { Operation, Outline } from 'openapi-document';
import {
  collectionPathOf,
  idNameOfPath,
  idNamesOfSchema,
  idNameTestFor,
  normalizedName,
  resourcePathOf,
} from './resource-names.ts';

/** Matches verbs that end a resource, as in `/orders/{orderId}/cancel`. */
const ENDING = new RegExp(
  '^(abort|archive|cancel|close|complete|deactivate|delete|disable|end|expire|finish|refund|' +
    'remove|return|revoke|stop|terminate|void|withdraw)',
  'i',
);

/** The maximum depth of the members of a body that are searched for ids. */
const MAX_LEVELS = 4;

/**
 * Orders operations by the ids they need: first those that create resources, then those that use
 * them, last those that end them.
 */
export function orderOperations(operations: readonly Operation[]): Operation[] {
  const others = operations.filter((operation) => !isEnding(operation));
  const endings = operations.filter((operation) => isEnding(operation) && !isDeletion(operation));
  const deletions = operations.filter(isDeletion);
  const isQualifiedIdName = idNameTestFor(operations);
  const needsOf = (operation: Operation) => neededIds(operation, isQualifiedIdName);
  return [
    ...orderByNeededIds(others, needsOf),
    ...orderByNeededIds(endings, needsOf),
    ...deletions.sort((a, b) => depthOf(b) - depthOf(a)),
  ];
}

const isDeletion = ({ method }: Operation): boolean => method === 'delete';

/**
 * Puts each operation after the operations that produce the ids it needs. Operations that need each
 * other are ordered by rank.
 */
function orderByNeededIds(
  operations: readonly Operation[],
  needsOf: (operation: Operation) => ReadonlySet<string>,
): Operation[] {
  const remaining = operations
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((operation) => ({
      operation,
      needs: needsOf(operation),
      produces: producedIds(operation, operations),
    }));
  /** The number of remaining operations that produce each id. */
  const producers = new Map<string, number>();
  const count = (ids: ReadonlySet<string>, change: number) => {
    for (const id of ids) producers.set(id, (producers.get(id) ?? 0) + change);
  };
  for (const { produces } of remaining) count(produces, 1);
  const ordered: Operation[] = [];
  while (remaining.length > 0) {
    const ready = remaining.findIndex(({ needs, produces }) =>
      needs.values().every((id) => (producers.get(id) ?? 0) === Number(produces.has(id))),
    );
    for (const { operation, produces } of remaining.splice(Math.max(0, ready), 1)) {
      ordered.push(operation);
      count(produces, -1);
    }
  }
  return ordered;
}

/** Returns the rank of an operation: POST, PUT, then short paths before long paths. */
const rankOf = (operation: Operation): number =>
  ({ post: 0, put: 100 })[operation.method] ?? 200 + depthOf(operation);

const depthOf = ({ path }: Operation): number => path.split('/').length;

/**
 * Returns true if an operation ends a resource. Such an operation succeeds only once for each
 * resource.
 */
export function isEnding(operation: Operation): boolean {
  const { id, method, path } = operation;
  if (isDeletion(operation)) return true;
  const last = path.split('/').at(-1) ?? '';
  return method !== 'get' && (ENDING.test(last) || ENDING.test(id));
}

/** Returns the normalized names of the ids that an operation needs. */
function neededIds(
  { parameters, requestBody }: Operation,
  isQualifiedIdName: (name: string) => boolean,
): Set<string> {
  const parameterNames = parameters
    .filter(({ in: where, name }) => where === 'path' || isQualifiedIdName(name))
    .map(({ name }) => name);
  const bodies = (requestBody?.media ?? []).flatMap(({ outline }) => memberNames(outline));
  return new Set([...parameterNames, ...bodies.filter(isQualifiedIdName)].map(normalizedName));
}

function memberNames(outline: Outline, level = 0): string[] {
  if (level > MAX_LEVELS || !outline.isDescribed) return [];
  const names = [...outline.names];
  return [
    ...names,
    ...names.flatMap((name) => memberNames(outline.member(name), level + 1)),
    ...memberNames(outline.item(0), level + 1),
  ];
}

/** Returns the normalized names of the ids that the responses may contain. */
function producedIds(operation: Operation, operations: readonly Operation[]): Set<string> {
  const { path, method, responses } = operation;
  if (method !== 'post' && method !== 'put' && method !== 'get') return new Set();
  const childIdNames = operations.flatMap(({ path: other, template }) => {
    const name = template.names.at(-1) ?? '';
    return other.startsWith(`${path}/{${name}}`) ? [name] : [];
  });
  const schemaIdNames = responses.flatMap(({ media }) => media.flatMap(idNamesOfSchema));
  const collectionIdNames = path.endsWith('}') ? [] : [idNameOfPath(path)];
  return new Set([...childIdNames.map(normalizedName), ...schemaIdNames, ...collectionIdNames]);
}

/** Returns the operation that creates the resource of another operation. */
export function creatorOf(
  { path }: Operation,
  operations: readonly Operation[],
): Operation | undefined {
  const collection = collectionPathOf(resourcePathOf(path));
  return operations.find((other) => other.method === 'post' && other.path === collection);
}
