/** The word that needs the fewest changes to become the given one, if there is one at all. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  return words
    .map((candidate) => ({ candidate, changes: changesBetween(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.changes - b.changes)[0]?.candidate;
}

/** How many characters must be inserted, deleted or replaced (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (character === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
