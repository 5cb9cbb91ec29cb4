import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findPackageJSON, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import type { Checked, Json } from '../document/document.ts';

/** The code of this package, and the packages that decide with it what is found. */
const SOURCES = join(import.meta.dirname, '..');
const PACKAGES = ['ajv', 'ajv-formats', '@seriousme/openapi-schema-validator'];

/**
 * What a check finds in a document. Where Node caches compiled code, a document without problems is cached with its
 * notices, in a folder beside Node's: it is not checked again until the document or the code of the check changes.
 */
export function checkOnce(root: Json, check: () => Checked): Checked {
  const compileCache = getCompileCacheDir();
  if (compileCache === undefined) return check();
  const folder = join(dirname(compileCache), 'checked-documents');
  const file = join(folder, 'last.txt');
  const key = hash('sha256', JSON.stringify([root, checker()]));
  // The key is last, so that a file that was not written to its end is not used.
  const [notices = '', known] = textOf(() => file).split('\n');
  if (known === key) return { problems: [], broken: new Map(), notices: JSON.parse(notices) };
  const checked = check();
  if (checked.problems.length > 0 || checked.broken.size > 0) return checked;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${JSON.stringify(checked.notices)}\n${key}`);
  } catch {
    // The next start checks again.
  }
  return checked;
}

function checker(): readonly string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort();
  const sources = files.map((name) => textOf(() => join(SOURCES, name)));
  return [...sources, ...PACKAGES.map((name) => textOf(() => findPackageJSON(name, import.meta.url)))];
}

/** The text of a file, or nothing if it cannot be found or read. */
function textOf(find: () => string | undefined): string {
  try {
    return readFileSync(find() ?? '', 'utf8');
  } catch {
    return '';
  }
}
