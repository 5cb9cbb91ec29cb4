import { formReader } from '../parameters/form-reader.ts';
import { coerce, jsonOr } from '../parameters/texts.ts';
import { readEventData, readItems } from '../sequences/read-items.ts';
import { itemWriter } from '../sequences/write-items.ts';
import { asObject, escapePointerToken, isObject, type Json, resolveRef } from './document.ts';
import { eventItems, type Items } from './event-schema.ts';
import { isConstrained, kindOf, sequenceOf } from './media-types.ts';

/** A Media Type Object (OpenAPI 3.1 §4.8.14), its `source`, under its name. */
export interface MediaType extends ReturnType<typeof mediaType> {}

export const mediaOf = (root: Json, content: unknown, at: string): MediaType[] =>
  Object.entries(asObject(content)).map(([type, value]) => mediaType(root, type, value, at));

function mediaType(root: Json, type: string, value: unknown, at: string) {
  const source = resolveRef(root, value) ?? {};
  const { schema, itemSchema } = source;
  const sequence = sequenceOf(type);
  const isSequence = itemSchema !== undefined && sequence !== undefined;
  const events = isSequence && sequence === 'events' ? eventItems(root, itemSchema) : undefined;
  const items: Items | undefined = events ?? (isSequence ? { schema: itemSchema, data: 'text' } : undefined);
  const pointer = `${at}/content/${escapePointerToken(type)}`;
  const written = { sequence, items, source };
  const media = {
    /** As the document writes it. May be a range such as `image/*`. */
    type,
    kind: isSequence ? 'stream' : kindOf(type, root, schema),
    /** A Schema Object, which may be `true` or `false` (JSON Schema 2020-12 §4.3.2), or `undefined`. */
    schema,
    /** The schema of each item of a sequence, or `undefined` (OpenAPI 3.2 §4.14.3). Such a body is a stream. */
    itemSchema,
    /** How the items of a sequence are written, or `undefined` if the media type is no sequence. */
    sequence,
    /** The items of a sequence that has an `itemSchema`. */
    items,
    /** Whether the schema restricts more than text or bytes of any kind do. */
    constrained: isConstrained(root, schema),
    pointer,
    source,
    /** What the document shows. The `data` of events is as in a reply. */
    examples() {
      const all = examplesOf(root, { source, pointer });
      return items === undefined ? all : all.map((each) => ({ ...each, value: itemsIn(items, each.value) }));
    },
    coerce: (text: string) => coerce(root, [schema], text),
    formReader: () => formReader(root, { schema, source }),
    /** The limit is the maximum size of an item, in bytes or characters. @throws {UnreadableItem} */
    readItems: (contentType: string, chunks: AsyncIterable<Uint8Array>, limit: number) =>
      readItems(written, contentType, chunks, limit),
    itemWriter: (contentType: string) => itemWriter(written, contentType),
  } as const;
  const isRange = /^(\*|application|text)\/\*$/.test(type);
  /** The same media type for bodies in JSON, if it is a range that includes JSON. */
  const asJson = isRange ? ({ ...media, kind: 'json', asJson: undefined } as const) : undefined;
  return { ...media, asJson };
}

/** The items of an example. A text holds them as they are sent. */
function itemsIn({ data }: Items, example: unknown): unknown {
  if (typeof example === 'string') return example;
  return [example].flat().map((item: unknown) => {
    if (!isObject(item) || typeof item.data !== 'string') return item;
    return { ...item, data: data === 'json' ? jsonOr(item.data) : readEventData(data, item.data) };
  });
}

/** A value that the document shows, perhaps under a name, and its place. */
export interface Example {
  readonly value: unknown;
  readonly name?: string;
  readonly pointer: string;
}

/** The examples of a parameter, a media type or a header (OpenAPI 3.1 §4.8.12, §4.8.14, §4.8.21). */
export function examplesOf(
  root: Json,
  { source, pointer }: { readonly source: Json; readonly pointer: string },
): Example[] {
  const named = Object.entries(asObject(source.examples)).map(([name, item]): Example => {
    // OpenAPI 3.2 has `dataValue`, or `serializedValue`: the text that is sent.
    const { value, dataValue, serializedValue: sent } = resolveRef(root, item) ?? {};
    const shown = value ?? dataValue ?? (typeof sent === 'string' ? jsonOr(sent) : undefined);
    return { name, value: shown, pointer: `#${pointer}/examples/${escapePointerToken(name)}` };
  });
  return [...named, { value: source.example, pointer: `#${pointer}/example` }].filter(
    ({ value }) => value !== undefined,
  );
}

/**
 * The declared media type that a body has: the one with the same parameters, else the one without, else the narrowest range
 * (OpenAPI 3.1 §4.8.14.1).
 */
export function mediaTypeFor(media: readonly MediaType[], contentType: string): MediaType | undefined {
  const exact = media.find(({ type }) => type === contentType);
  if (exact !== undefined) return exact;
  const full = normalized(contentType);
  const [essence = ''] = full.split(';');
  const choices = [full, essence, essence.replace(/\/.*/, '/*'), '*/*'];
  const fitting = choices.map((choice) => media.find(({ type }) => normalized(type) === choice));
  return fitting.find((found) => found !== undefined);
}

/** A media type in lower case (RFC 9110 §8.3.1), without spaces, quotation marks and the charset. */
const normalized = (type: string): string =>
  type
    .toLowerCase()
    .replace(/[\s"]/g, '')
    .replace(/;charset=[^;]*/, '');
