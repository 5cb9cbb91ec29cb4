import type { Checked, Document, Json } from '../document/document.ts';
import type { Operation } from '../document/operations.ts';
import { checkOnce } from './check-once.ts';
import { checkOperations } from './check-operations.ts';
import { checkSchemas } from './check-schemas.ts';
import { checkStructure } from './check-structure.ts';

/**
 * Checks that a document can be served: its structure is that of OpenAPI 3.1, its schemas are JSON Schema 2020-12, and
 * its operations have distinct names and URLs.
 */
export const checkDocument = ({ root }: Document, operations: readonly Operation[]): Checked =>
  checkOnce(root, () => check(root, operations));

function check(root: Json, operations: readonly Operation[]): Checked {
  const structure = checkStructure(root);
  if (structure.problems.length > 0) return { problems: structure.problems, notices: [] };
  const checked = [structure, checkOperations(root, operations), checkSchemas(root, operations)];
  return {
    problems: checked.flatMap(({ problems }) => problems),
    notices: checked.flatMap(({ notices }) => notices),
  };
}
