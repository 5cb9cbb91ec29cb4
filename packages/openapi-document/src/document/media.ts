import { formReader } from '../parameters/form-reader.ts';
import { coerce, jsonOr } from '../parameters/texts.ts';
import { readEventData, readItems } from '../sequences/read-items.ts';
import { itemWriter } from '../sequences/write-items.ts';
import { asObject, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { eventItems } from './event-schema.ts';
import { isConstrained, kindOf, sequenceOf } from './media-types.ts';
import type { Example, Items, MediaType } from './types.ts';

/** The media types of a `content`. */
export const mediaOf = (root: Json, content: unknown, at: string): MediaType[] =>
  Object.entries(asObject(content)).map(([type, value]) => {
    const source = resolveRef(root, value) ?? {};
    const { schema, itemSchema } = source;
    const sequence = sequenceOf(type);
    const isSequence = itemSchema !== undefined && sequence !== undefined;
    const events = isSequence && sequence === 'events' ? eventItems(root, itemSchema) : undefined;
    const items: Items | undefined = events ?? (isSequence ? { schema: itemSchema, data: 'text' } : undefined);
    const pointer = `${at}/content/${escapePointerToken(type)}`;
    const written = { sequence, items, source };
    const media: MediaType = {
      ...written,
      type,
      kind: isSequence ? 'stream' : kindOf(type, root, schema),
      schema,
      itemSchema,
      constrained: isConstrained(root, schema),
      asJson: undefined,
      pointer,
      examples() {
        const all = examplesOf(root, { source, pointer });
        return items === undefined ? all : all.map((each) => ({ ...each, value: itemsIn(items, each.value) }));
      },
      coerce: (text) => coerce(root, [schema], text),
      formReader: () => formReader(root, { schema, source }),
      readItems: (contentType, chunks, limit) => readItems(written, contentType, chunks, limit),
      itemWriter: (contentType) => itemWriter(written, contentType),
    };
    return /^(\*|application|text)\/\*$/.test(type) ? { ...media, asJson: { ...media, kind: 'json' } } : media;
  });

/** The items of an example. A text holds them as they are sent. */
function itemsIn({ data }: Items, example: unknown): unknown {
  if (typeof example === 'string') return example;
  return [example].flat().map((item: unknown) => {
    if (!isObject(item) || typeof item.data !== 'string') return item;
    try {
      return { ...item, data: readEventData(data, item.data) };
    } catch {
      return item;
    }
  });
}

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
