import { stringifyJson } from '../json/exact.ts';
import { isJsonType, isTextual } from '../source/media-types.ts';
import { allBytes, type Code, type ItemsCoder, itemTooLarge } from './codec.ts';
import { readJsonText } from './json.ts';
import {
  boundaryOf,
  contentTypeOf,
  joinedBytes,
  partsOf,
  partText,
  withBoundary,
} from './parts.ts';

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
    for await (const part of partsOf(chunks, contentType, RULES)) {
      const { type, charset } = contentTypeOf(part);
      const bytes = await allBytes(part.content, limit, () => itemTooLarge(limit, 'bytes'));
      if (isJsonType(type)) yield readJsonText(partText(bytes, charset));
      else yield isTextual(type) ? partText(bytes, charset) : bytes.slice();
    }
  },

  write(item, { contentType }) {
    const text = typeof item === 'string' ? item : (stringifyJson(item) ?? '');
    const head = `--${boundaryOf(contentType)}\r\nContent-Type: ${typeOf(item)}\r\n\r\n`;
    if (!(item instanceof Uint8Array)) return `${head}${text}\r\n`;
    return joinedBytes(joinedBytes(encoder.encode(head), item), encoder.encode('\r\n'));
  },

  end: ({ contentType }) => `--${boundaryOf(contentType)}--\r\n`,
};

function typeOf(item: unknown): string {
  if (item instanceof Uint8Array) return 'application/octet-stream';
  return typeof item === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
}
