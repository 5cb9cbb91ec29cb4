/** A text to insert at an offset. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Inserts texts at places of the original text. Those at the same place keep their order. */
export function insert(text: string, insertions: readonly Insertion[]): string {
  const sorted = insertions.toSorted((a, b) => a.at - b.at);
  let result = '';
  let from = 0;
  for (const { at, text: inserted } of sorted) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}
