import { hash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { stringifyJson } from '../json/exact.ts';
import type { Checked } from './report.ts';

/** The code of this package, on which the findings depend. */
const SOURCES = join(import.meta.dirname, '../**/*.{ts,js}');

/**
 * What a check finds in a document. Where Node caches compiled code, a document without problems is cached with its
 * notices, in a folder beside Node's: it is not checked again until the document or the code of the check changes.
 */
export function checkOnce(document: unknown, check: () => Checked): Checked {
  const compileCache = getCompileCacheDir();
  if (compileCache === undefined) return check();
  const file = join(dirname(compileCache), 'checked-documents/last.txt');
  const code = globSync(SOURCES).sort().map(textOf);
  const key = hash('sha256', stringifyJson([document, code]) ?? '');
  // The key is last, so that a file that was not written to its end is not used.
  const [notices = '', known] = textOf(file).split('\n');
  if (known === key) return { problems: [], broken: new Map(), notices: JSON.parse(notices) };
  const checked = check();
  if (checked.problems.length > 0 || checked.broken.size > 0) return checked;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(checked.notices)}\n${key}`);
  } catch {
    // The next start checks again.
  }
  return checked;
}

/** The text of a file, or nothing if it cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
