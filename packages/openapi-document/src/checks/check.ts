import { Codecs } from '../codecs/codecs.ts';
import type { Document } from '../operations/load.ts';
import type { Operation } from '../operations/operations.ts';
import { tagOfBase } from '../schema/discriminator.ts';
import type { SchemaTree } from '../schema/tree.ts';
import {
  decoded,
  escapePointerToken,
  type Finding,
  isObject,
  pointersTo,
  valueAt,
} from '../source/document.ts';
import { type MemberKind, walk } from '../source/kinds.ts';
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
 * @param codecs those of the service.
 */
export function checkDocument(document: Document, codecs = new Codecs()): CheckResult {
  const { root, schemas, operations, unresolved, corrections } = document;
  const faults = [...unresolved];
  // Removing a reference causes further errors at its pointer. They are not reported.
  const removed = new Set(unresolved.map(({ pointer }) => pointer));
  const notices = corrections.filter(({ pointer }) => !removed.has(pointer));
  const report: Report = {
    problem(pointer, message) {
      if (!removed.has(pointer)) faults.push({ pointer, message });
    },
    notice(pointer, message) {
      if (!removed.has(pointer)) notices.push({ pointer, message });
    },
  };
  checkStructure(root, report);
  checkOperations(document, codecs, report);
  checkSchemas(schemas, report);
  const problems: Finding[] = [];
  const broken = new Map<string, Finding[]>();
  const users = usersOf(faults.length === 0 ? [] : operations, schemas.tree);
  const byPathItem = Map.groupBy(operations, pathItemOf);
  for (const finding of faults) {
    const { pointer } = finding;
    const affected = new Set<Operation>([
      ...(byPathItem.get(pointer) ?? []),
      ...pointersTo(pointer).flatMap((outer) => users.get(outer) ?? []),
    ]);
    for (const { id } of affected) broken.set(id, [...(broken.get(id) ?? []), finding]);
    // Skips shared path items: their copies under `paths` are reported.
    if (affected.size > 0 || pointer.startsWith('/components/pathItems/')) continue;
    // A mistake in another part, such as `security`, may affect any operation.
    const isUnused = /^\/(components|webhooks|paths)\/./.test(pointer);
    if (isUnused)
      notices.push({ ...finding, message: `${finding.message} (no operation uses it)` });
    else problems.push(finding);
  }
  return { problems, broken, notices };
}

/** Parts of the document: their pointers and kinds. */
type Parts = ReadonlyMap<string, MemberKind>;

const pathItemOf = ({ path }: Operation): string => `/paths/${escapePointerToken(path)}`;

/** Lists the operations that use a part, by the pointer of the part. */
function usersOf(
  operations: readonly Operation[],
  tree: SchemaTree,
): ReadonlyMap<string, readonly Operation[]> {
  const referencesOf = createReferences(tree);
  const users = new Map<string, Operation[]>();
  for (const operation of operations) {
    const parts = new Map<string, MemberKind>([
      [operation.pointer, 'operation'],
      [`${pathItemOf(operation)}/parameters`, ['parameter']],
    ]);
    const schemes = operation.security.flatMap(Object.keys);
    for (const name of schemes)
      parts.set(`/components/securitySchemes/${escapePointerToken(name)}`, 'securityScheme');
    // The loop also visits the parts that it adds.
    for (const [part, kind] of parts) {
      const others = users.get(part);
      if (others === undefined) users.set(part, [operation]);
      else others.push(operation);
      for (const [target, targetKind] of referencesOf(part, kind))
        if (!parts.has(target)) parts.set(target, targetKind);
    }
  }
  return users;
}

/** Returns a function that lists the parts that a part references itself. */
function createReferences(tree: SchemaTree): (part: string, kind: MemberKind) => Parts {
  const known = new Map<string, Parts>();
  return (part, kind) => {
    const existing = known.get(part);
    if (existing !== undefined) return existing;
    const targets = new Map<string, MemberKind>();
    known.set(part, targets);
    const value = valueAt(tree.root, part);
    walk(value, kind, part, ({ $ref }, targetKind) => {
      if (typeof $ref === 'string') targets.set(decoded($ref.slice(1)), targetKind);
    });
    // A schema with a discriminator depends on the schemas that extend it.
    const tag = isObject(value) ? tagOfBase(tree, value) : undefined;
    for (const child of tag?.values.values() ?? []) {
      const name = tree.componentNames.get(child);
      if (name !== undefined)
        targets.set(`/components/schemas/${escapePointerToken(name)}`, 'schema');
    }
    return targets;
  };
}
