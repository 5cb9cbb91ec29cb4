/**
 * Checks rules of style that the linter does not have: no line of code outside tests is wider
 * than 100 columns, and no docstring begins with a question word.
 *
 * Usage: node scripts/check-style.ts. Exits with 1 if a rule is broken.
 */
import { checkFiles } from './check-files.ts';

const MAX_COLUMNS = 100;
const QUESTION = /^\s*(?:\/\*\*|\*) (?:What|Whether|How|Why|Where|Who|Which)\b/;

export function findingsIn(file: string, text: string): string[] {
  const lines = text.split('\n');
  // Tests contain long documents and messages.
  const isTest = /(^|\/)test\//.test(file);
  return lines.flatMap((line, index) => {
    const place = `${file}:${index + 1}`;
    const isFirst = line.includes('/**') || lines[index - 1]?.endsWith('/**');
    return [
      ...(line.length > MAX_COLUMNS && !isTest
        ? [`${place} has ${line.length} columns, the limit is ${MAX_COLUMNS}`]
        : []),
      ...(isFirst && QUESTION.test(line)
        ? [`${place} begins a docstring with a question word: start with a verb or the name`]
        : []),
    ];
  });
}

if (import.meta.main) {
  checkFiles(['*.ts', '*.js', '*.css', ':!docs', ':!*generated/*'], findingsIn);
}
