import { asObject, escapePointerToken, type Json, resolveRef } from '../document/document.ts';
import type { Example, MediaType } from '../document/types.ts';
import { jsonOr } from '../parameters/texts.ts';

/** The examples of a parameter, a media type or a header (OpenAPI 3.1 §4.8.12, §4.8.14, §4.8.21). */
export function examplesOf(root: Json, { source, pointer }: Pick<MediaType, 'source' | 'pointer'>): Example[] {
  const named = Object.entries(asObject(source.examples)).map(
    ([name, item]): Example => ({
      name,
      value: exampleValue(resolveRef(root, item) ?? {}),
      pointer: `#${pointer}/examples/${escapePointerToken(name)}`,
    }),
  );
  return [...named, { value: source.example, pointer: `#${pointer}/example` }].filter(
    ({ value }) => value !== undefined,
  );
}

/** The value of an Example Object. OpenAPI 3.2 has `dataValue`, or `serializedValue`: the text that is sent. */
function exampleValue({ value, dataValue, serializedValue }: Json): unknown {
  return value ?? dataValue ?? (typeof serializedValue === 'string' ? jsonOr(serializedValue) : undefined);
}
