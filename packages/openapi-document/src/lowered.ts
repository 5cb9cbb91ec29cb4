import { misfitOf } from './checks/fits.ts';
import type { Json } from './document/document.ts';
import { createLowering, type Direction, type LoweredSchemas } from './document/lower.ts';

const lowerings: Readonly<Record<Direction, WeakMap<Json, LoweredSchemas>>> = {
  request: new WeakMap(),
  response: new WeakMap(),
};

/**
 * Lowers the schemas of a document for one direction. The result is cached for each document, so
 * validation, types, samples and tests share it.
 */
export function lowerSchemas(root: Json, direction: Direction): LoweredSchemas {
  const cached = lowerings[direction].get(root);
  if (cached !== undefined) return cached;
  const fits = (property: Json, value: unknown) => misfitOf(root, property, value) === undefined;
  const lowered = createLowering(root, direction, direction === 'request' ? fits : undefined);
  lowerings[direction].set(root, lowered);
  return lowered;
}
