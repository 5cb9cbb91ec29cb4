import { createRequire } from 'node:module';
import { type Json, objectAt } from '../document/document.ts';

type Report = (pointer: string, message: string) => void;

/**
 * Checks the regular expressions of a schema. Whether one can take exponential time is checked if the package `recheck`
 * is installed, which is the case wherever the tools are.
 */
export function checkPatterns(schema: Json, pointer: string, problem: Report, notice: Report): void {
  const { pattern, patternProperties } = schema;
  for (const source of [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...Object.keys(objectAt(patternProperties)),
  ]) {
    const flags = ['u', ''].find((candidate) => compiles(source, candidate));
    if (flags === undefined) problem(pointer, `${source} is not a regular expression (ECMA-262)`);
    if (flags === '') notice(pointer, `${source} is not a regular expression with the flag u: it is used without`);
    if (flags !== undefined && takesExponentialTime(source, flags)) {
      notice(pointer, `${source} can take exponential time: a request can stop the server`);
    }
  }
}

function compiles(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) !== undefined;
  } catch {
    return false;
  }
}

const require = createRequire(import.meta.url);
const known = new Map<string, boolean>();
let recheck: typeof import('recheck') | null | undefined;

/** Only a repeated group can take exponential time. */
function takesExponentialTime(source: string, flags: string): boolean {
  if (!/\)[*+{]/.test(source)) return false;
  const found = known.get(source);
  if (found !== undefined) return found;
  try {
    // This build runs in this process; the package's main module starts others.
    recheck ??= require('recheck/lib/browser.js');
  } catch {
    recheck = null;
  }
  const result = recheck?.checkSync(source, flags, { timeout: 500 });
  const exponential = result?.status === 'vulnerable' && result.complexity.type === 'exponential';
  known.set(source, exponential);
  return exponential;
}
