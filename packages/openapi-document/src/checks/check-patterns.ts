import { asObject, type Json } from '../document/document.ts';
import type { Report } from './report.ts';

/** Checks the regular expressions of a schema. */
export function checkPatterns(
  { pattern, patternProperties }: Json,
  pointer: string,
  { problem, notice }: Report,
): void {
  const sources = Object.keys(asObject(patternProperties));
  if (typeof pattern === 'string') sources.push(pattern);
  for (const source of sources.filter((candidate) => !compiles(candidate, 'u'))) {
    if (!compiles(source, '')) problem(pointer, `${source} is not a regular expression (ECMA-262)`);
    else notice(pointer, `${source} is not a regular expression with the flag u: it is used without`);
  }
}

function compiles(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) !== undefined;
  } catch {
    return false;
  }
}
