import { follow, type Json, objectAt } from '../document/document.ts';

/** The examples that a Media Type Object or a Header Object gives, by name (OpenAPI 3.1 §4.8.14.1, §4.8.21). */
export function examplesOf(root: Json, { example, examples }: Json): Map<string, unknown> {
  const named = Object.entries(objectAt(examples)).map(([name, item]) => [name, follow(root, item)?.value] as const);
  const all = example === undefined ? named : [...named, ['', example] as const];
  return new Map(all.filter(([, value]) => value !== undefined));
}
