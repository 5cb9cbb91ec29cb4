import { misfitOf } from './checks/fits.ts';
import { type Json, memoized } from './document/document.ts';
import { createLowering, type Direction, type LoweredSchemas } from './document/lower.ts';
import { createSchemas } from './schema/schemas.ts';

const lowerings = {
  request: memoized((root) => {
    const schemas = createSchemas(root);
    const fits = (property: Json, value: unknown) =>
      misfitOf(schemas, property, value) === undefined;
    return createLowering(root, 'request', fits);
  }),
  response: memoized((root) => createLowering(root, 'response')),
};

/**
 * Lowers the schemas of a document for one direction. The result is cached for each document, so
 * validation, types, samples and tests share it.
 */
export const lowerSchemas = (root: Json, direction: Direction): LoweredSchemas =>
  lowerings[direction](root, root);
