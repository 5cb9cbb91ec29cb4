/** Returns the first of `names` that resembles `name`. The difference may be a typing mistake. */
export const similarName = (name: string, names: readonly string[]): string | undefined =>
  names.find((other) => isSimilar(name, other));

/** Returns true if two names are equal after at most one character is removed from each. */
const isSimilar = (name: string, other: string): boolean =>
  !variantsByDeletion(name).isDisjointFrom(variantsByDeletion(other));

/** Returns a name and its variants with one character removed. */
function variantsByDeletion(name: string): Set<string> {
  const variants = new Set([name]);
  for (let index = 0; index < name.length; index += 1)
    variants.add(name.slice(0, index) + name.slice(index + 1));
  return variants;
}
