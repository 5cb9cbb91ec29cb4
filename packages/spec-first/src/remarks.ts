import type { LintResult } from './lint.ts';

/** How many notices are printed by default. */
const FEW = 10;

/** What there is to say about a document that can be served: the first notices, misspelt names, and how much more there is. */
export function remarks(file: string, notices: readonly string[], lint: LintResult, all: boolean): readonly string[] {
  if (all) return [...notices, ...lint.describe()];
  const misspelt = lint.misspelt();
  const notShown = notices.length - FEW;
  const warnings = lint.count - misspelt.length;
  const hidden = [
    ...(notShown > 0 ? [counted(notShown, 'more notice', 'more notices')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning of the linter', 'warnings of the linter')] : []),
  ];
  const more = `${file} has ${hidden.join(' and ')}. "npm run generate -- --all" shows all.`;
  return [...notices.slice(0, FEW), ...misspelt, ...(hidden.length > 0 ? [more] : [])];
}

export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
