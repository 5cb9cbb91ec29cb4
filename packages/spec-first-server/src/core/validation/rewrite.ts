import { isDate } from 'node:util/types';
import type { schemas } from 'openapi-document';
import type { Shape, ShapeOf } from './shapes.ts';

export interface Rewriting {
  readonly shapeOf: ShapeOf;
  /** True if strings may be files, which are not rewritten. Otherwise bytes become objects. */
  readonly files: boolean;
  readonly onDrop?: ((name: string) => void) | undefined;
}

/**
 * Returns a value as the handler receives it, or as JSON writes it:
 *
 * - A request gets defaults. A `bigint` becomes a number if the schema has the type `number`.
 * - A reply loses undeclared members. The method `toJSON` converts values that have it. Functions
 *   and symbols become `undefined`.
 * - A request loses `readOnly` members, and a reply loses `writeOnly` members.
 *
 * Values without changes are not copied.
 */
export function rewrite(
  rewriting: Rewriting,
  schema: schemas.LoweredSchema,
  source: unknown,
): unknown {
  if (typeof source === 'function' || typeof source === 'symbol') return undefined;
  const isBigint = typeof source === 'bigint';
  if (!isBigint && (typeof source !== 'object' || source === null)) return source;
  if (rewriting.files && isBytes(source)) return source;
  const value = isBigint ? source : toJson(source);
  if (typeof schema === 'boolean') return value;
  const shape = rewriting.shapeOf(schema, value);
  if (typeof value === 'bigint') return shape.isDouble ? Number(value) : value;
  // `toJSON` of a date includes the time.
  if (typeof value === 'string' && shape.isDay)
    return isDate(source) ? dayOf(source) : value.replace(/T.*/, '');
  if (Array.isArray(value)) return rewriteItems(rewriting, shape, value);
  if (typeof value !== 'object' || value === null) return value;
  return rewriteMembers(rewriting, shape, enumerable(value));
}

/**
 * Returns an object with the members that JSON writes. Ajv also accepts others, such as the message
 * of an `Error`.
 */
function enumerable(object: object): Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(object);
  const isPlain = prototype === Object.prototype || prototype === null;
  return isPlain ? (object as Record<string, unknown>) : { ...object };
}

function rewriteItems(rewriting: Rewriting, shape: Shape, items: readonly unknown[]): unknown {
  const rewritten = items.map(
    // JSON has no `undefined` items.
    (item, index) => rewrite(rewriting, shape.item(index), item) ?? null,
  );
  return rewritten.every((item, index) => item === items[index]) ? items : rewritten;
}

function rewriteMembers(
  rewriting: Rewriting,
  shape: Shape,
  object: Readonly<Record<string, unknown>>,
): unknown {
  let changes: Map<string, unknown> | undefined;
  for (const name in object) {
    const member = object[name];
    const schema = shape.member(name);
    if (schema === undefined) rewriting.onDrop?.(name);
    const rewritten = schema === undefined ? undefined : rewrite(rewriting, schema, member);
    if (rewritten === member && rewritten !== undefined) continue;
    changes ??= new Map();
    changes.set(name, rewritten);
  }
  for (const [name, preset] of shape.defaults) {
    if (Object.hasOwn(object, name) && object[name] !== undefined) continue;
    changes ??= new Map();
    // Scalars are not cloned: `structuredClone` takes a microsecond.
    const copy: unknown = typeof preset === 'object' ? structuredClone(preset) : preset;
    changes.set(name, rewrite(rewriting, shape.member(name) ?? true, copy));
  }
  if (changes === undefined) return object;
  const members = new Map([...Object.entries(object), ...changes]);
  return Object.fromEntries([...members].filter(([, member]) => member !== undefined));
}

/**
 * Returns the day of a date. Some drivers, such as pg, read a day as its start in local time,
 * others as its start in UTC. If a date is the start of a day in both, the day is the same, since
 * time zones differ from UTC by less than a day.
 */
function dayOf(date: Date): string {
  const start = new Date(date);
  // The day starts later if summer time skips midnight.
  start.setHours(0, 0, 0, 0);
  const day = new Date(date);
  if (start.getTime() === date.getTime())
    day.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
  return day.toISOString().replace(/T.*/, '');
}

export const isBytes = (value: unknown): boolean =>
  ArrayBuffer.isView(value) || value instanceof Blob;

export const toJson = (value: object): unknown =>
  'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON('') : value;

/** Returns a value as JSON writes it. Keeps files and bytes. */
export function plainJson(source: unknown): unknown {
  if (typeof source !== 'object' || source === null || isBytes(source)) return source;
  const value = toJson(source);
  if (Array.isArray(value)) return value.map(plainJson);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, plainJson(member)]));
}
