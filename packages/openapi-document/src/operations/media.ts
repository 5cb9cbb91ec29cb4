import type { BodyFormat } from '../codecs/codec.ts';
import { readEventData } from '../codecs/events.ts';
import { jsonOrText } from '../parameters/texts.ts';
import type { FormEncoding } from '../parameters/write-value.ts';
import { decodedEvent, eventDataOf, type Items } from '../schema/event.ts';
import type { Outline } from '../schema/outline.ts';
import type { Schemas } from '../schema/schemas.ts';
import type { SchemaTree } from '../schema/tree.ts';
import {
  asObject,
  entriesOf,
  escapePointerToken,
  isObject,
  type Json,
  resolveRef,
} from '../source/document.ts';
import { essenceOf, isForm } from '../source/media-types.ts';

/** A Media Type Object (`source`, OpenAPI 3.1 §4.8.14) with its name. */
export interface MediaType extends BodyFormat {
  /** A Schema Object or a boolean (JSON Schema 2020-12 §4.3.2), or `undefined`. */
  readonly schema: unknown;
  readonly outline: Outline;
  readonly items: Items | undefined;
  readonly encoding: FormEncoding;
  /** The examples. The `data` of events is decoded, as handlers return it. */
  readonly examples: readonly Example[];
  readonly pointer: string;
  readonly source: Json;
}

/** An example of the document. */
export interface Example {
  readonly value: unknown;
  readonly name?: string;
  /** The place in the document, such as `#/components/examples/cat`. */
  readonly pointer: string;
}

export const mediaOf = (schemas: Schemas, content: unknown, parentPointer: string): MediaType[] =>
  entriesOf(content).map(([type, value]) => {
    const source = resolveRef(schemas.root, value) ?? {};
    const { schema } = source;
    const outline = schemas.outline(schema);
    const items = itemsOf(schemas.tree, type, source);
    const pointer = `${parentPointer}/content/${escapePointerToken(type)}`;
    const examples = examplesOf(schemas.root, { source, pointer });
    return {
      type,
      schema,
      outline,
      items,
      encoding: encodingOf(type, source.encoding, outline),
      examples: items === undefined ? examples : examples.map((each) => decoded(items, each)),
      pointer,
      source,
    };
  });

/** @param source a Media Type Object. */
function itemsOf(tree: SchemaTree, type: string, source: Json): Items | undefined {
  const { itemSchema: schema } = source;
  if (schema === undefined) return undefined;
  const isEvents = essenceOf(type) === 'text/event-stream';
  const data = isEvents ? eventDataOf(tree, schema) : 'text';
  return { schema: isEvents ? decodedEvent(tree, schema, data) : schema, data };
}

/** Adds the forms of fields whose schemas allow several. See `Styled.form`. */
function encodingOf(type: string, declared: unknown, outline: Outline): FormEncoding {
  const fields = entriesOf(declared).map(([name, value]): [string, FormEncoding[string]] => {
    const { contentType, style, explode } = asObject(value);
    return [
      name,
      {
        ...(typeof contentType === 'string' && { contentType }),
        ...(typeof style === 'string' && { style }),
        ...(typeof explode === 'boolean' && { explode }),
      },
    ];
  });
  const encoding = Object.fromEntries(fields);
  for (const name of isForm(type) ? outline.names : []) {
    const form = outline.member(name).ambiguousForm;
    if (form !== undefined) encoding[name] = { ...encoding[name], form };
  }
  return encoding;
}

/** Returns a string unchanged, since it is a serialized sequence. */
function decoded({ data }: Items, example: Example): Example {
  if (typeof example.value === 'string') return example;
  const items = [example.value].flat().map((item: unknown) => {
    if (!isObject(item) || typeof item.data !== 'string') return item;
    return {
      ...item,
      data: data === 'json' ? jsonOrText(item.data) : readEventData(data, item.data),
    };
  });
  return { ...example, value: items };
}

/** Lists the examples of a parameter, media type or header (OpenAPI 3.1 §4.8.12, §4.8.14). */
export function examplesOf(
  root: Json,
  { source, pointer }: { readonly source: Json; readonly pointer: string },
): Example[] {
  const named = entriesOf(source.examples).map(([name, item]): Example => {
    // OpenAPI 3.2 adds `dataValue` and `serializedValue`.
    const { value: inline, dataValue, serializedValue } = resolveRef(root, item) ?? {};
    const parsed = typeof serializedValue === 'string' ? jsonOrText(serializedValue) : undefined;
    const value = [inline, dataValue, parsed].find((each) => each !== undefined);
    return { name, value, pointer: `#${pointer}/examples/${escapePointerToken(name)}` };
  });
  return [...named, { value: source.example, pointer: `#${pointer}/example` }].filter(
    ({ value }) => value !== undefined,
  );
}
