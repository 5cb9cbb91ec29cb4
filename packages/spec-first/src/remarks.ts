/** How many notices are printed by default. */
const FEW = 10;

/**
 * What there is to say about a document that can be served: the first notices, and how many more there are.
 *
 * @param warnings those of the linter, or only their number.
 */
export function remarks(
  file: string,
  notices: readonly string[],
  warnings: readonly string[] | number,
  all: boolean,
): readonly string[] {
  const shown = all ? notices : notices.slice(0, FEW);
  const rest = notices.length - shown.length;
  const hidden = [
    ...(rest > 0 ? [counted(rest, 'more notice', 'more notices')] : []),
    ...(typeof warnings === 'number' && warnings > 0
      ? [counted(warnings, 'warning of the linter', 'warnings of the linter')]
      : []),
  ].join(' and ');
  const lines = [...shown, ...(typeof warnings === 'number' ? [] : warnings)];
  return hidden === '' ? lines : [...lines, `${file} has ${hidden}. "npm run generate -- --all" shows all.`];
}

export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
