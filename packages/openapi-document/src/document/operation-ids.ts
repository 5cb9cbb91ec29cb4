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
  const taken = new Set<unknown>();
  const seen = new Set<Json>();
  const declared = operations.map(({ source }) => {
    const { operationId } = source;
    const isFirst = operationId !== undefined && !seen.has(source) && !taken.has(operationId);
    seen.add(source);
    if (isFirst) taken.add(operationId);
    return isFirst ? String(operationId) : undefined;
  });
  return operations.map(({ method, path, source: { operationId } }, index) => {
    const name = String(operationId ?? nameOf(method, path));
    let free = declared[index] ?? name;
    for (let count = 2; declared[index] === undefined && taken.has(free); count++) free = `${name}${count}`;
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
