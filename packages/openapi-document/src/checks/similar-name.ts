/** Returns the first of `names` that resembles `name`. The difference may be a typing mistake. */
export function similarName(name: string, names: readonly string[]): string | undefined {
  // Cheap check first.
  const candidates = names.filter((other) => Math.abs(other.length - name.length) <= 1);
  if (candidates.length === 0) return undefined;
  const variants = variantsByDeletion(name);
  // Two names are similar if they are equal after at most one character is removed from each.
  return candidates.find((other) => !variants.isDisjointFrom(variantsByDeletion(other)));
}

function variantsByDeletion(name: string): Set<string> {
  const variants = new Set([name]);
  for (let index = 0; index < name.length; index += 1)
    variants.add(name.slice(0, index) + name.slice(index + 1));
  return variants;
}
