import type { Checked, CheckedDocument, Document, Finding, Json } from '../document/document.ts';
import type { Operation } from '../document/operations.ts';
import { checkExamples } from './check-examples.ts';
import { checkOnce } from './check-once.ts';
import { checkOperations } from './check-operations.ts';
import { checkSchemas } from './check-schemas.ts';
import { checkSecurity } from './check-security.ts';
import { checkStructure } from './check-structure.ts';
import type { Report } from './report.ts';

/**
 * Checks that a document can be served: its structure is that of OpenAPI 3.1, its schemas are JSON Schema 2020-12, and
 * its operations have distinct names and URLs.
 */
export const checkDocument = (document: Document, operations: readonly Operation[]): CheckedDocument => ({
  ...checkOnce(document.root, () => check(document.root, operations)),
  examples: () => checkExamples(document, operations),
});

function check(root: Json, operations: readonly Operation[]): Checked {
  const problems: Finding[] = [];
  const notices: Finding[] = [];
  const report: Report = {
    problem: (pointer, message) => problems.push({ pointer, message }),
    notice: (pointer, message) => notices.push({ pointer, message }),
  };
  checkStructure(root, report);
  if (problems.length > 0) return { problems, notices: [] };
  checkOperations(root, operations, report);
  checkSecurity(root, operations, report);
  checkSchemas(root, operations, report);
  return { problems, notices };
}
