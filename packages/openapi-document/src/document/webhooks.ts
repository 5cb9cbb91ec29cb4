import { asObject, type Document, resolveRef, valueAt } from './document.ts';
import { operationsOf } from './operations.ts';

/**
 * A document whose paths are what a service sends: its webhooks by their names, and the callbacks of its operations as
 * `operationId.name`. Of a callback with several URLs, the first one counts.
 */
export function webhooksOf({ root }: Pick<Document, 'root'>): Pick<Document, 'root'> {
  const callbacks = operationsOf({ root }).flatMap(({ id, path, method, pointer }) => {
    // The path item may be a reference.
    const source = valueAt(root, pointer) ?? resolveRef(root, asObject(root.paths)[path])?.[method];
    return Object.entries(asObject(asObject(source).callbacks)).flatMap(([name, callback]) => {
      const [item] = Object.values(resolveRef(root, callback) ?? {});
      return item === undefined ? [] : [[`${id}.${name}`, item] as const];
    });
  });
  return { root: { ...root, paths: { ...asObject(root.webhooks), ...Object.fromEntries(callbacks) } } };
}
