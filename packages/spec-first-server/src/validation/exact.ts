import type { Json } from '../document/document.ts';
import { itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
import type { StandIns } from '../json/exact.ts';

/**
 * A value that was checked with stand-ins, with what they stood for: the exact integer where a schema admits integers,
 * the nearest double where it admits only numbers.
 *
 * @param schemas the schemas that may hold of the value.
 */
export function restoreExact(root: Json, schemas: readonly unknown[], value: unknown, standIns: StandIns): unknown {
  if (typeof value === 'number') {
    const original = standIns.original(value);
    if (typeof original !== 'bigint') return original ?? value;
    const types = new Set(schemas.flatMap((schema) => [...typesOf(root, schema)]));
    return types.has('integer') || !types.has('number') ? original : Number(original);
  }
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      restoreExact(
        root,
        schemas.flatMap((schema) => itemSchemas(root, schema, index)),
        item,
        standIns,
      ),
    );
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      restoreExact(
        root,
        schemas.flatMap((schema) => propertySchemas(root, schema, key)),
        item,
        standIns,
      ),
    ]),
  );
}
