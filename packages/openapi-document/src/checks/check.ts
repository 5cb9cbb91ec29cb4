import {
  asObject,
  decoded,
  escapePointerToken,
  type Finding,
  isObject,
  pointersTo,
  valueAt,
} from '../document/document.ts';
import { type MemberKind, walk } from '../document/kinds.ts';
import type { Document } from '../document/load.ts';
import type { Operation } from '../document/operations.ts';
import { tagOfBase } from '../schema/discriminator.ts';
import type { Formats } from '../schema/formats.ts';
import { createSchemas } from '../schema/schemas.ts';
import type { SchemaTree } from '../schema/tree.ts';
import { checkOperations } from './check-operations.ts';
import { checkSchemas } from './check-schemas.ts';
import { checkStructure, type Report } from './check-structure.ts';

interface CheckResult {
  /** Reasons why the document cannot be served. */
  readonly problems: readonly Finding[];
  /** Reasons why operations cannot be served, by operation id. */
  readonly broken: ReadonlyMap<string, readonly Finding[]>;
  /** Parts that are not served or not checked as written. */
  readonly notices: readonly Finding[];
}

/**
 * Checks the structure of a document (OpenAPI 3.1 or 3.2), its schemas (JSON Schema 2020-12) and
 * its operations.
 *
 * @param options.formats the formats that the service validates itself.
 */
export function checkDocument(
  document: Document,
  { formats }: { readonly formats?: Formats | undefined } = {},
): CheckResult {
  const { root, operations, unresolved, corrections } = document;
  const faults: Finding[] = [];
  // Removing a reference causes further errors at its pointer. They are not reported.
  const removed = new Set(unresolved.map(({ pointer }) => pointer));
  const notices = corrections.filter(({ pointer }) => !removed.has(pointer));
  for (const finding of unresolved) {
    const isMissingPath = /^\/(paths|webhooks)\/[^/]+$/.test(finding.pointer);
    if (isMissingPath) {
      notices.push({ ...finding, message: `${finding.message}: the path is not served` });
    } else faults.push(finding);
  }
  const report: Report = {
    problem(pointer, message) {
      if (!removed.has(pointer)) faults.push({ pointer, message });
    },
    notice(pointer, message) {
      if (!removed.has(pointer)) notices.push({ pointer, message });
    },
  };
  checkStructure(root, report);
  checkOperations(document, report);
  const schemas = createSchemas(root, { formats });
  checkSchemas(schemas, report);
  const problems: Finding[] = [];
  const broken = new Map<string, Finding[]>();
  const dependencies =
    faults.length === 0
      ? []
      : operations.map((operation) => dependenciesOf(schemas.tree, operation));
  for (const finding of faults) {
    const affected = dependencies.filter((candidate) => dependsOn(candidate, finding.pointer));
    for (const { operation } of affected)
      broken.set(operation.id, [...(broken.get(operation.id) ?? []), finding]);
    // Skips shared path items: their copies under `paths` are reported.
    if (affected.length > 0 || finding.pointer.startsWith('/components/pathItems/')) continue;
    // A mistake in another part, such as `security`, may affect any operation.
    const isUnused = /^\/(components|webhooks|paths\/[^/]+)\//.test(finding.pointer);
    if (isUnused)
      notices.push({ ...finding, message: `${finding.message} (no operation uses it)` });
    else problems.push(finding);
  }
  return { problems, broken, notices };
}

interface Dependencies {
  readonly operation: Operation;
  /** The pointer of its path item. */
  readonly pathItem: string;
  /** The pointers of the operation and of all parts that it references. */
  readonly parts: ReadonlySet<string>;
}

function dependenciesOf(tree: SchemaTree, operation: Operation): Dependencies {
  const { root } = tree;
  const { path, pointer, security } = operation;
  const parts = new Set<string>();
  const visit = (part: string, kind: MemberKind) => {
    if (parts.has(part)) return;
    parts.add(part);
    walk(valueAt(root, part), kind, part, ({ $ref }, targetKind) => {
      if (typeof $ref === 'string') visit(decoded($ref.slice(1)), targetKind);
    });
    // A schema with a discriminator depends on the schemas that extend it.
    const value = valueAt(root, part);
    const tag = isObject(value) ? tagOfBase(tree, value) : undefined;
    for (const child of tag?.values.values() ?? []) {
      const name = tree.componentNames.get(child);
      if (name !== undefined) visit(`/components/schemas/${escapePointerToken(name)}`, 'schema');
    }
  };
  const pathItem = `/paths/${escapePointerToken(path)}`;
  visit(pointer, 'operation');
  visit(`${pathItem}/parameters`, ['parameter']);
  for (const name of security.flatMap((alternative) => Object.keys(asObject(alternative))))
    parts.add(`/components/securitySchemes/${escapePointerToken(name)}`);
  return { operation, pathItem, parts };
}

const dependsOn = ({ pathItem, parts }: Dependencies, pointer: string): boolean =>
  pointer === pathItem || pointersTo(pointer).some((outer) => parts.has(outer));
