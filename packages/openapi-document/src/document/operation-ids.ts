import { isObject, type Json, objectAt } from './document.ts';
import { METHODS, pathItemOf } from './operations.ts';

/**
 * Gives each operation without an operationId one made of method and path: `GET /books/{id}` is `getBooksById`. A number
 * distinguishes it from others of that name.
 */
export function nameOperations(root: Json): void {
  const operations = Object.entries(objectAt(root.paths)).flatMap(([path, value]) => {
    const item = pathItemOf(root, value);
    return METHODS.flatMap((method) => {
      const operation = item[method];
      return isObject(operation) ? [{ method, path, operation }] : [];
    });
  });
  const taken = new Set(operations.map(({ operation }) => operation.operationId));
  for (const { method, path, operation } of operations) {
    if (operation.operationId !== undefined) continue;
    const name = nameOf(method, path);
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}${count}`;
    taken.add(free);
    Object.assign(operation, { operationId: free });
  }
}

const nameOf = (method: string, path: string): string =>
  method +
  path
    .replaceAll('{', ' by ')
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
