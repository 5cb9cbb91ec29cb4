export { run as generate } from './generate.ts';
export { type Finding, type LintResult, lintDocument } from './lint.ts';
export { generateTypes } from './types.ts';
