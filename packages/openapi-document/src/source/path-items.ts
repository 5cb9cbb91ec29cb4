import { asObject, entriesOf, escapePointerToken, isObject, type Json } from './document.ts';
import { memberKind } from './kinds.ts';

const METHODS = 'get put post delete options head patch trace query'.split(' ');

/** A Path Item Object (`item`) with its path. */
export interface PathItem {
  readonly path: string;
  readonly item: unknown;
  readonly pointer: string;
}

/** An Operation Object (`source`), and the Path Item Object that contains it (`item`). */
export interface OperationObject {
  readonly method: string;
  readonly path: string;
  readonly source: Json;
  readonly pointer: string;
  readonly item: Json;
  readonly itemPointer: string;
}

export const pathItemsIn = (root: Json, member: 'paths' | 'webhooks'): PathItem[] =>
  entriesOf(root[member]).flatMap(([path, item]) => {
    const isPathItem = memberKind(memberKind('document', member), path) !== undefined;
    return isPathItem ? [{ path, item, pointer: `/${member}/${escapePointerToken(path)}` }] : [];
  });

export const operationObjects = (items: readonly PathItem[]): OperationObject[] =>
  items.flatMap(({ path, item: value, pointer: itemPointer }) => {
    const item = asObject(value);
    const named = METHODS.map((method) => [method, item[method], method] as const);
    // Other methods, such as `LINK` (OpenAPI 3.2 §4.9.1).
    const additional = entriesOf(item.additionalOperations).map(
      ([name, source]) =>
        [name, source, `additionalOperations/${escapePointerToken(name)}`] as const,
    );
    return [...named, ...additional].flatMap(([method, source, key]) =>
      isObject(source)
        ? [{ method, path, source, pointer: `${itemPointer}/${key}`, item, itemPointer }]
        : [],
    );
  });
