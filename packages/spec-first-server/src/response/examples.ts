import { follow, type Json, objectAt, token } from '../document/document.ts';

/** A value that the document shows. */
export interface Example {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly pointer: string;
}

/** The examples of a Media Type Object or a Header Object (OpenAPI 3.1 §4.8.14.1, §4.8.21). */
export function examplesOf(
  root: Json,
  { source, pointer }: { readonly source: Json; readonly pointer: string },
): Example[] {
  const named = Object.entries(objectAt(source.examples)).map(([name, item]) => ({
    name,
    value: follow(root, item)?.value,
    pointer: `#${pointer}/examples/${token(name)}`,
  }));
  const single = { name: undefined, value: source.example, pointer: `#${pointer}/example` };
  return [...named, single].filter(({ value }) => value !== undefined);
}
