import { jsonOrText } from '../parameters/texts.ts';
import { scalar } from '../parameters/write-value.ts';
import type { EventData } from '../schema/event.ts';
import { asObject } from '../source/document.ts';
import { type Code, type ItemsCoder, itemTooLarge, type UnreadableBody } from './codec.ts';
import { readJsonText, writeJsonText } from './json.ts';
import { utf8Texts } from './texts.ts';

/** Server-sent events (https://html.spec.whatwg.org/#server-sent-events). */
export const events: Code<ItemsCoder> = {
  comment: ':\n\n',

  async *read(chunks, { format: { items } }, limit) {
    const { createParser } = await import('eventsource-parser');
    const mode = items?.data ?? 'text';
    let arrived: Record<string, unknown>[] = [];
    let retry: number | undefined;
    let error: UnreadableBody | undefined;
    const parser = createParser({
      maxBufferSize: limit,
      onRetry: (value) => {
        retry = value;
      },
      onEvent: ({ data, event, id }) => {
        // Leaves out missing fields, since `undefined` would not match the schema.
        const fields = {
          ...(event && { event }),
          ...(id !== undefined && { id }),
          ...(retry !== undefined && { retry }),
        };
        arrived.push({ data, ...fields });
        retry = undefined;
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') error = itemTooLarge(limit);
      },
    });
    for await (const text of utf8Texts(chunks)) {
      parser.feed(text);
      for (const event of arrived) {
        const data = String(event.data);
        if (data.length > limit) throw itemTooLarge(limit);
        yield { ...event, data: readEventData(mode, data) };
      }
      arrived = [];
      if (error !== undefined) throw error;
    }
  },

  write(item, { format: { items } }) {
    const { data, event, id, retry, ...others } = asObject(item);
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw new TypeError(`an event must only have data, event, id and retry, got ${other}`);
    let text = field('event', event) + field('id', id) + field('retry', retry);
    if (data !== undefined) {
      const mode = items?.data ?? 'text';
      const isText = mode === 'text' || (mode === 'mixed' && typeof data === 'string');
      const dataText = isText ? scalar(data) : writeJsonText(data);
      // Readers would return another value.
      if (dataText.includes('\r') || (isText && readEventData(mode, dataText) !== dataText))
        throw new TypeError(
          'the data of an event must not contain a carriage return, or be the JSON of an object',
        );
      for (const line of dataText.split('\n')) text += `data: ${line}\n`;
    }
    return `${text}\n`;
  },
};

function field(name: string, value: unknown): string {
  if (value === undefined) return '';
  // A line break would start another field, and clients ignore an id with U+0000.
  if (/[\r\n\0]/.test(String(value)))
    throw new TypeError(`the ${name} of an event must not contain a line break or U+0000`);
  return `${name}: ${value}\n`;
}

/** @throws {UnreadableBody} */
export function readEventData(mode: EventData, text: string): unknown {
  if (mode === 'json') return readJsonText(text);
  const value = mode === 'mixed' ? jsonOrText(text) : text;
  return typeof value === 'object' && value !== null ? value : text;
}
