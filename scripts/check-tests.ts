/**
 * Checks that each source file of a package has its test under the same name:
 * `packages/NAME/src/a/b.ts` in `packages/NAME/test/a/b.test.ts`. Files that only contain types or
 * exports of other files need no test. Files that start a process or a thread need none, either:
 * tests of whole processes cover them.
 *
 * Usage: node scripts/check-tests.ts. Exits with 1 if a test is missing.
 */
import { existsSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { checkFiles } from './check-files.ts';

/** Matches files that start a process or a thread, or only export other files. */
const WITHOUT_TEST = /\/(index|main|thread)\.ts$/;

/** Matches the first line of a function, a class or a constant. */
const CODE = /^(export )?(async )?(function|class|const|let)\b/m;

/** Returns true if a file has code besides types and exports of other files. */
export const hasCode = (text: string): boolean => CODE.test(stripTypeScriptTypes(text));

export const testOf = (file: string): string =>
  file.replace('/src/', '/test/').replace(/\.ts$/, '.test.ts');

if (import.meta.main) {
  checkFiles([':(glob)packages/*/src/**/*.ts'], (file, text) => {
    const isTested = WITHOUT_TEST.test(file) || existsSync(testOf(file)) || !hasCode(text);
    return isTested ? [] : [`${file} has no test ${testOf(file)}`];
  });
}
