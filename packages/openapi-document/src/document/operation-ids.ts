import type { Json } from './document.ts';

interface Named {
  readonly method: string;
  readonly path: string;
  /** The Operation Object. Paths that reference the same path item share it. */
  readonly source: Json;
}

/**
 * The operationId of each operation. One without it is named by method and path: `GET /books/{id}` is `getBooksById`. A
 * number is added where the name is taken, also for an operation that another path has already.
 */
export function operationIds(operations: readonly Named[]): string[] {
  const taken = new Set(operations.map(({ source }) => source.operationId));
  const used = new Set<unknown>();
  const paths = new Map<Json, string>();
  return operations.map(({ method, path, source }) => {
    const { operationId } = source;
    const first = paths.get(source) ?? path;
    paths.set(source, first);
    if (operationId !== undefined && first === path && !used.has(operationId)) {
      used.add(operationId);
      return String(operationId);
    }
    const name = String(operationId ?? nameOf(method, path));
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
    taken.add(free);
    return free;
  });
}

const nameOf = (method: string, path: string): string =>
  method +
  path
    .replaceAll('{', ' by ')
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
