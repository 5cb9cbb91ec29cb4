/** Numbers from 0 to 1 that depend on the seed only (the generator mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The items in a random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const ranked = items.map((item) => [random(), item] as const);
  return ranked.sort(([a], [b]) => a - b).map(([, item]) => item);
}

/** One of the items; `undefined` if there is none. */
export const oneOf = <T>(items: readonly T[], random: () => number): T | undefined =>
  items[Math.floor(random() * items.length)];
