import { asArray, asObject, type Json } from '../document/document.ts';
import { kindOf } from '../document/media-types.ts';
import { stringifyJson } from '../json/exact.ts';
import type { Items } from '../schema/event.ts';
import type { ItemFormat } from './read-items.ts';

/** Prepares to serialize the items of a sequence. */
export function itemWriter(
  { sequence, items, source }: ItemFormat & { readonly source: Json },
  contentType: string,
) {
  const boundary = crypto.randomUUID();
  const isParts = sequence === 'parts';
  return {
    /** The media type, with the parameters that the format needs. */
    contentType: isParts ? `${contentType}; boundary=${boundary}` : contentType,
    /** Serializes an item. @throws {TypeError} if the format cannot represent it. */
    write(item: unknown, index: number): string | Uint8Array {
      if (isParts) return part(boundary, declaredType(source, index) ?? defaultType(item), item);
      if (sequence === 'events') return eventText(items?.data ?? 'text', item);
      // RFC 7464 §2.2
      return `${sequence === 'records' ? '\x1e' : ''}${stringifyJson(item)}\n`;
    },
    /** The text after the last item. */
    end: isParts ? `--${boundary}--\r\n` : '',
    /** A comment that clients ignore, if the format has comments. */
    comment: sequence === 'events' ? ':\n\n' : undefined,
  };
}

/** Serializes a server-sent event (HTML §9.2.5). */
function eventText(mode: Items['data'], item: unknown): string {
  const { data, event, id, retry, ...others } = asObject(item);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`an event must only have data, event, id and retry, got ${other}`);
  let text = field('event', event) + field('id', id) + field('retry', retry);
  if (data !== undefined) {
    const isText = mode === 'text' || (mode === 'mixed' && typeof data === 'string');
    const lines = isText ? String(data).split(/\r\n|\r|\n/) : [stringifyJson(data)];
    for (const line of lines) text += `data: ${line}\n`;
  }
  return `${text}\n`;
}

function field(name: string, value: unknown): string {
  if (value === undefined) return '';
  // A line break would start another field, and clients ignore an id with U+0000.
  if (/[\r\n\0]/.test(String(value)))
    throw new TypeError(`the ${name} of an event must not contain a line break or U+0000`);
  return `${name}: ${value}\n`;
}

/** The first declared media type of a part (OpenAPI 3.2 §4.14.5.2), unless it is a range. */
function declaredType({ prefixEncoding, itemEncoding }: Json, index: number): string | undefined {
  const { contentType } = asObject(asArray(prefixEncoding)[index] ?? itemEncoding);
  const [type = ''] = typeof contentType === 'string' ? contentType.split(',') : [];
  return type === '' || type.includes('*') ? undefined : type.trim();
}

/** Serializes a part of a multipart body (RFC 2046 §5.1). */
function part(boundary: string, type: string, item: unknown): Uint8Array {
  const isRaw = item instanceof Uint8Array || (typeof item === 'string' && kindOf(type) !== 'json');
  const body = isRaw ? item : (stringifyJson(item) ?? '');
  const head = `--${boundary}\r\nContent-Type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from('\r\n')]);
}

function defaultType(item: unknown): string {
  if (item instanceof Uint8Array) return 'application/octet-stream';
  return typeof item === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
}
