import { createRequire } from 'node:module';
import { asObject, type Json } from '../document/document.ts';
import type { Report } from './report.ts';

/**
 * Checks the regular expressions of a schema. Whether one can take exponential time is checked if the package `recheck`
 * is installed, which is the case wherever the tools are.
 */
export function checkPatterns(
  { pattern, patternProperties }: Json,
  pointer: string,
  { problem, notice }: Report,
): void {
  const sources = Object.keys(asObject(patternProperties));
  if (typeof pattern === 'string') sources.push(pattern);
  for (const source of sources) {
    const flags = ['u', ''].find((candidate) => compiles(source, candidate));
    if (flags === undefined) problem(pointer, `${source} is not a regular expression (ECMA-262)`);
    else if (takesExponentialTime(source, flags)) {
      notice(pointer, `${source} can take exponential time: a request can stop the server`);
    }
    if (flags === '') notice(pointer, `${source} is not a regular expression with the flag u: it is used without`);
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

/** Only a repeated group can take exponential time. */
function takesExponentialTime(source: string, flags: string): boolean {
  if (!/\)[*+{]/.test(source)) return false;
  const exponential = known.get(source) ?? recheckFinds(source, flags);
  known.set(source, exponential);
  return exponential;
}

function recheckFinds(source: string, flags: string): boolean {
  try {
    // This build runs in this process; the package's main module starts others.
    const recheck: typeof import('recheck') = require('recheck/lib/browser.js');
    const result = recheck.checkSync(source, flags, { timeout: 500 });
    return result.status === 'vulnerable' && result.complexity.type === 'exponential';
  } catch {
    return false;
  }
}
