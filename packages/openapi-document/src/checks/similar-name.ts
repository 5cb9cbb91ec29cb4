/** Returns the first of the names that may be the correct spelling of a name. */
export const similarName = (name: string, names: readonly string[]): string | undefined =>
  names.find((other) => isSimilar(name, other));

/** Returns true if two names are equal after at most one character is removed from each. */
const isSimilar = (one: string, other: string): boolean =>
  !variantsByDeletion(one).isDisjointFrom(variantsByDeletion(other));

/** Returns a name and its variants with one character removed. */
function variantsByDeletion(name: string): Set<string> {
  const shorter = Array.from(name, (_, at) => name.slice(0, at) + name.slice(at + 1));
  return new Set([name, ...shorter]);
}
