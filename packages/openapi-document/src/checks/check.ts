import { hash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { asObject, decoded, escapePointerToken, type Finding, type Json, valueAt } from '../document/document.ts';
import { type MemberKind, walk } from '../document/kinds.ts';
import type { Document } from '../document/load.ts';
import type { Operation } from '../document/operations.ts';
import { stringifyJson } from '../json/exact.ts';
import { checkOperations } from './check-operations.ts';
import { checkSchemas } from './check-schemas.ts';
import { checkStructure, type Report } from './check-structure.ts';

interface Checked {
  /** Why the document cannot be served. */
  readonly problems: readonly Finding[];
  /** Why operations cannot be served, by their ids. */
  readonly broken: ReadonlyMap<string, readonly Finding[]>;
  /** What is served otherwise than the document says, or not checked. */
  readonly notices: readonly Finding[];
}

/** The code of this package, on which the findings depend. */
const SOURCES = join(import.meta.dirname, '../**/*.{ts,js}');

/**
 * Checks that a document can be served: its structure is that of OpenAPI 3.1, its schemas are JSON Schema 2020-12, and
 * its operations have distinct names and URLs. Where Node caches compiled code, a document without problems is cached
 * with its notices, in a folder beside Node's: it is not checked again until the document or this code changes.
 */
export function checkDocument(document: Document): Checked {
  const compileCache = getCompileCacheDir();
  if (compileCache === undefined) return check(document);
  const file = join(dirname(compileCache), 'checked-documents/last.json');
  const code = globSync(SOURCES)
    .sort()
    .map((source) => readFileSync(source, 'utf8'));
  const key = hash('sha256', stringifyJson([document.root, document.mended, code]) ?? '');
  try {
    const [known, notices]: [string, Finding[]] = JSON.parse(readFileSync(file, 'utf8'));
    if (known === key) return { problems: [], broken: new Map(), notices };
  } catch {
    // Nothing is cached.
  }
  const checked = check(document);
  try {
    mkdirSync(dirname(file), { recursive: true });
    if (checked.problems.length + checked.broken.size === 0)
      writeFileSync(file, JSON.stringify([key, checked.notices]));
  } catch {
    // The next start checks again.
  }
  return checked;
}

function check(document: Document): Checked {
  const { root, operations, unresolved, mended } = document;
  const found: Finding[] = [...unresolved];
  const notices = [...mended];
  const report: Report = {
    problem(pointer, message) {
      // What was referenced there is missing, which is said already.
      if (!unresolved.some((reference) => reference.pointer === pointer)) found.push({ pointer, message });
    },
    notice: (pointer, message) => notices.push({ pointer, message }),
  };
  checkStructure(root, report);
  checkOperations(document, report);
  checkSchemas(root, report);
  const problems: Finding[] = [];
  const broken = new Map<string, Finding[]>();
  const reached =
    found.length === 0 ? [] : operations.map((operation) => ({ operation, parts: partsOf(root, operation) }));
  for (const finding of found) {
    const concerned = reached.filter(({ parts }) => concerns(finding.pointer, parts));
    for (const { operation } of concerned) broken.set(operation.id, [...(broken.get(operation.id) ?? []), finding]);
    if (concerned.length > 0) continue;
    // A path item that is missing as a whole may hold any operation.
    const isUnused = /^\/(components|webhooks|paths\/[^/]+)\//.test(finding.pointer);
    if (isUnused) notices.push({ ...finding, message: `${finding.message} (no operation uses it)` });
    else problems.push(finding);
  }
  return { problems, broken, notices };
}

/** The pointers of what an operation consists of: its own, and what it references. */
function partsOf(root: Json, { path, pointer, security }: Operation): Set<string> {
  const parts = new Set<string>();
  const visit = (at: string, kind: MemberKind) => {
    if (parts.has(at)) return;
    parts.add(at);
    walk(valueAt(root, at), kind, at, ({ $ref }, held) => {
      if (typeof $ref === 'string') visit(decoded($ref.slice(1)), held);
    });
  };
  const item = `/paths/${escapePointerToken(path)}`;
  const { $ref } = asObject(valueAt(root, item));
  visit(pointer, 'operation');
  visit(`${item}/parameters`, ['parameter']);
  if (typeof $ref === 'string') visit(decoded($ref.slice(1)), 'pathItem');
  for (const name of security.flatMap((all) => Object.keys(asObject(all))))
    parts.add(`/components/securitySchemes/${escapePointerToken(name)}`);
  return parts;
}

/** Whether a place is inside one of the parts, or is the path item around one. */
const concerns = (place: string, parts: ReadonlySet<string>): boolean =>
  [...parts].some(
    (part) => `${place}/`.startsWith(`${part}/`) || (place.startsWith('/paths/') && part.startsWith(`${place}/`)),
  );
