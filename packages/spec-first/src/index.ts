export { type CheckedFile, checkFile } from './check.ts';
export { run as generate } from './generate.ts';
export { type LintResult, lintDocument } from './lint.ts';
export { generateTypes } from './types.ts';
