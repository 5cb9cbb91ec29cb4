import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, loadDocument } from 'openapi-document';
import { ALLOW_OUTSIDE, command, documentFile, messageOf, UsageError } from './command.ts';
import { type Difference, differencesBetween } from './diff/compare.ts';
import { LEVELS } from './diff/rating.ts';
import { checkOut } from './diff/versions.ts';

const USAGE = `Usage: spec-first diff GIT-REF [--fail-on LEVEL] [--format FORMAT] [--allow-outside]

Shows what changed in the OpenAPI document since a commit, a branch or a tag, and which changes
break clients.

  --fail-on         error, warning (default), info or none: exit with 1 for a change of this
                    level or above
  --format          text (default), or githubactions, which annotates the lines of a pull request
  --allow-outside   read files outside the document's folder that it references
  --help            show this

The document is openapi.yaml, or the file that OPENAPI_FILE names.
Exit codes: 0 no change of that level or above, 1 such a change, 2 a wrong command line, or the
documents cannot be compared.`;

const OPTIONS = {
  format: { type: 'string', default: 'text' },
  'fail-on': { type: 'string', default: 'warning' },
  ...ALLOW_OUTSIDE,
} as const;

const OUTPUT_FORMATS = ['text', 'githubactions'];

/** Compares the document with its version in a commit. Resolves to the exit code. */
export const run = command(
  USAGE,
  OPTIONS,
  1,
  async ({ format, 'fail-on': failOn, 'allow-outside': allowOutside }, [ref]) => {
    if (ref === undefined) throw new UsageError('Name a git reference, such as "main"');
    rejectUnknown('--format', format, OUTPUT_FORMATS);
    rejectUnknown('--fail-on', failOn, LEVELS);
    const file = documentFile();
    if (!existsSync(file))
      throw new Error(`${file} does not exist: set OPENAPI_FILE to the path of the document`);

    const folder = mkdtempSync(join(tmpdir(), 'contract-'));
    /** Replaces the temporary folder in a text, as in `main:openapi.yaml`. */
    const atRef = (text: string) => text.replaceAll(`${folder}/`, `${ref}:`);
    try {
      const older = checkOut(ref, file, folder);
      if (older === undefined) {
        console.log(`${file} is new since ${ref}: no client can depend on it`);
        return 0;
      }
      const before = await loadDocument(older, { allowOutside });
      const after = await loadDocument(file, { allowOutside });
      const changes = mergeSame(differencesBetween(before, after));

      const isText = format === 'text';
      // An annotation needs a place in the files of the pull request.
      const placed = withPositions(changes, isText ? before : after, after);
      for (const change of placed)
        console.log(isText ? atRef(lineOf(change)) : annotationOf(change));
      const counts = ['error', 'warning', 'info'].map(
        (name) => `${name} ${changes.filter(({ level }) => level === name).length}`,
      );
      console[isText ? 'log' : 'error'](`Changes since ${ref}: ${counts.join(', ')}`);
      for (const document of [before, after]) {
        const unresolved = document.describe(document.unresolved);
        if (unresolved !== '') console.error(atRef(`Not compared:\n${unresolved}`));
      }

      const lowest = LEVELS.indexOf(failOn);
      return lowest > 0 && changes.some((change) => rankOf(change) >= lowest) ? 1 : 0;
    } catch (error) {
      throw new Error(atRef(messageOf(error)).trim(), { cause: error });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  2,
);

function rejectUnknown(option: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value))
    throw new UsageError(`${option} must be one of ${allowed.join(', ')}, got "${value}"`);
}

/** A difference with its `file:line:column`. */
type PlacedChange = Difference & { readonly position: string };

const rankOf = ({ level }: Difference): number => LEVELS.indexOf(level);

/** Compares texts with numbers in them. */
const { compare } = new Intl.Collator('en', { numeric: true });

/**
 * Says a change of one place once, with its highest rating: a schema of requests may be part of one
 * of responses.
 */
function mergeSame(changes: readonly Difference[]): Difference[] {
  const byPlace = Map.groupBy(changes, ({ pointer, text }) => `${pointer} ${text}`);
  return [...byPlace.values()].flatMap((same) => {
    const operations = [...new Set(same.flatMap((change) => change.operations))];
    const [highest] = same.toSorted((one, other) => rankOf(other) - rankOf(one));
    return highest === undefined ? [] : [{ ...highest, operations }];
  });
}

/**
 * Adds the positions of changes, and sorts the changes: errors first.
 *
 * @param before the document with the places that were removed.
 */
function withPositions(
  changes: readonly Difference[],
  before: Document,
  after: Document,
): PlacedChange[] {
  const byDocument = Map.groupBy(changes, ({ isRemoved }) => (isRemoved ? before : after));
  const placed = [...byDocument].flatMap(([document, group]) => {
    const positions = document.positions(group.map(({ pointer }) => pointer));
    return group.map((change, index) => ({ ...change, position: positions[index] ?? '' }));
  });
  return placed.sort(
    (one, other) => rankOf(other) - rankOf(one) || compare(lineOf(one), lineOf(other)),
  );
}

/** Names the operations that contain the place of a change. */
function messageFor({ text, operations: [first, ...others] }: Difference): string {
  if (first === undefined) return text;
  return `${text} (${first}${others.length > 0 ? ` and ${others.length} more` : ''})`;
}

/** Returns a change as one line: `file:line:column level [id] message`. */
const lineOf = (change: PlacedChange): string =>
  `${change.position} ${change.level} [${change.id}] ${messageFor(change)}`
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n');

/** Returns a workflow command of GitHub, which annotates a line of a pull request. */
function annotationOf(change: PlacedChange): string {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(change.position) ?? [];
  const level = change.level === 'info' ? 'notice' : change.level;
  const place = `title=${change.id},file=${file},line=${line},col=${column}`;
  return `::${level} ${place}::${messageFor(change)}`.replace(/[%\r\n]/g, encodeURIComponent);
}
