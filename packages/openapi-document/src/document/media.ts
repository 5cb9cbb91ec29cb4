import { formReader } from '../parameters/form-reader.ts';
import { coerce, jsonOrText } from '../parameters/texts.ts';
import type { FormEncoding } from '../parameters/write-parameter.ts';
import { decodedEvent, eventDataOf, type Items } from '../schema/event.ts';
import { Outline } from '../schema/outline.ts';
import type { SchemaTree } from '../schema/tree.ts';
import { readEventData, readItems } from '../sequences/read-items.ts';
import { itemWriter } from '../sequences/write-items.ts';
import { asObject, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { kindOf, sequenceOf } from './media-types.ts';

/** A Media Type Object (`source`, OpenAPI 3.1 §4.8.14) with its name. */
export interface MediaType extends ReturnType<typeof mediaType> {}

export const mediaOf = (tree: SchemaTree, content: unknown, parentPointer: string): MediaType[] =>
  Object.entries(asObject(content)).map(([type, value]) =>
    mediaType(tree, type, value, parentPointer),
  );

function mediaType(tree: SchemaTree, type: string, value: unknown, parentPointer: string) {
  const source = resolveRef(tree.root, value) ?? {};
  const { schema, itemSchema } = source;
  const sequence = sequenceOf(type);
  const isSequence = itemSchema !== undefined && sequence !== undefined;
  const items = isSequence ? itemsOf(tree, sequence, itemSchema) : undefined;
  const pointer = `${parentPointer}/content/${escapePointerToken(type)}`;
  const encoding = encodingOf(source.encoding);
  const outline = new Outline(tree, schema);
  const stream = { sequence, items, source };
  const media = {
    /** The name in the document. May be a range such as `image/*`. */
    type,
    kind: isSequence ? 'stream' : kindOf(type, outline.form),
    /** A Schema Object or a boolean (JSON Schema 2020-12 §4.3.2), or `undefined`. */
    schema,
    /** The form of bodies, by the schema. */
    outline,
    /** The schema of each item of a sequence (OpenAPI 3.2 §4.14.3). */
    itemSchema,
    /** The format of a sequential media type. */
    sequence,
    /** The items of a sequential media type with an `itemSchema`. */
    items,
    /** The encoding of the fields of a form, by name. */
    encoding,
    /** True if the schema probably rejects some texts or bytes. */
    constrained: outline.restrictsBytes,
    pointer,
    source,
    /** Returns the examples. The `data` of events is decoded, as handlers return it. */
    examples() {
      const examples = examplesOf(tree.root, { source, pointer });
      return items === undefined
        ? examples
        : examples.map((example) => ({ ...example, value: decodedItems(items, example.value) }));
    },
    coerce: (text: string) => coerce([outline], text),
    formReader: () => formReader({ outline, encoding }),
    /** @param limit the maximum size of an item, see `readItems`. @throws {UnreadableItem} */
    readItems: (contentType: string, chunks: AsyncIterable<Uint8Array>, limit: number) =>
      readItems(stream, contentType, chunks, limit),
    itemWriter: (contentType: string) => itemWriter(stream, contentType),
  } as const;
  const isRange = /^(\*|application|text)\/\*$/.test(type);
  /** For a range such as `application/*`: the same media type with bodies read as JSON. */
  const asJson = isRange ? ({ ...media, kind: 'json', asJson: undefined } as const) : undefined;
  return { ...media, asJson };
}

function itemsOf(tree: SchemaTree, sequence: string, schema: unknown): Items {
  if (sequence !== 'events') return { schema, data: 'text' };
  const data = eventDataOf(tree, schema);
  return { schema: decodedEvent(tree, schema, data), data };
}

const encodingOf = (encoding: unknown): FormEncoding =>
  Object.fromEntries(
    Object.entries(asObject(encoding)).map(([name, value]) => {
      const { contentType, style, explode } = asObject(value);
      return [
        name,
        {
          ...(typeof contentType === 'string' && { contentType }),
          ...(typeof style === 'string' && { style }),
          ...(typeof explode === 'boolean' && { explode }),
        },
      ];
    }),
  );

/** Returns a string unchanged, since it is a serialized sequence. */
function decodedItems({ data }: Items, example: unknown): unknown {
  if (typeof example === 'string') return example;
  return [example].flat().map((item: unknown) => {
    if (!isObject(item) || typeof item.data !== 'string') return item;
    return {
      ...item,
      data: data === 'json' ? jsonOrText(item.data) : readEventData(data, item.data),
    };
  });
}

export interface Example {
  readonly value: unknown;
  readonly name?: string;
  readonly pointer: string;
}

/** Lists the examples of a parameter, media type or header (OpenAPI 3.1 §4.8.12, §4.8.14). */
export function examplesOf(
  root: Json,
  { source, pointer }: { readonly source: Json; readonly pointer: string },
): Example[] {
  const named = Object.entries(asObject(source.examples)).map(([name, item]): Example => {
    // OpenAPI 3.2 adds `dataValue` and `serializedValue`.
    const { value: inline, dataValue, serializedValue } = resolveRef(root, item) ?? {};
    const parsed = typeof serializedValue === 'string' ? jsonOrText(serializedValue) : undefined;
    const value = inline ?? dataValue ?? parsed;
    return { name, value, pointer: `#${pointer}/examples/${escapePointerToken(name)}` };
  });
  return [...named, { value: source.example, pointer: `#${pointer}/example` }].filter(
    ({ value }) => value !== undefined,
  );
}
