import { stringifyJson } from '../json/exact.ts';
import { isJsonType, isTextual } from '../source/media-types.ts';
import { type Code, decodedBytes, type ItemsCoder, itemTooLarge } from './codec.ts';
import { readJsonText } from './json.ts';
import { allBytes, boundaryOf, joined, partsOf, withBoundary } from './parts.ts';

const RULES = {
  requirement:
    'must be a part of multipart/mixed (RFC 2046 §5.1) with the boundary that Content-Type names',
  acceptsOtherText: true,
};

const encoder = new TextEncoder();

/** The parts of `multipart/mixed` (RFC 2046 §5.1): JSON, texts and bytes. */
export const mixed: Code<ItemsCoder> = {
  contentType: withBoundary,

  async *read(chunks, { contentType }, limit) {
    for await (const { headers, content } of partsOf(chunks, contentType, RULES)) {
      const bytes = await allBytes(content, limit, () => itemTooLarge(limit, 'bytes'));
      // The default is text (RFC 2046 §5.1).
      const type = headers.get('content-type') ?? 'text/plain';
      if (isJsonType(type)) yield readJsonText(decodedBytes(bytes));
      else yield isTextual(type) ? decodedBytes(bytes) : bytes;
    }
  },

  write(item, { contentType }) {
    const text = typeof item === 'string' ? item : (stringifyJson(item) ?? '');
    const head = `--${boundaryOf(contentType)}\r\nContent-Type: ${typeOf(item)}\r\n\r\n`;
    if (!(item instanceof Uint8Array)) return `${head}${text}\r\n`;
    return joined(joined(encoder.encode(head), item), encoder.encode('\r\n'));
  },

  end: ({ contentType }) => `--${boundaryOf(contentType)}--\r\n`,
};

function typeOf(item: unknown): string {
  if (item instanceof Uint8Array) return 'application/octet-stream';
  return typeof item === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
}
