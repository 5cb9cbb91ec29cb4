import { kindOf, type sequenceOf } from '../document/media-types.ts';
import { InvalidJson, parseJson } from '../json/exact.ts';
import { jsonOrText } from '../parameters/texts.ts';
import type { Items } from '../schema/event.ts';

/** Thrown if an item cannot be parsed. The message is a predicate: `must be JSON`. */
export class UnreadableItem extends Error {
  override readonly name = 'UnreadableItem';
  isTooLarge = false;
}

export interface ItemFormat {
  readonly sequence: ReturnType<typeof sequenceOf>;
  readonly items?: Pick<Items, 'data'> | undefined;
}

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Parses items as they arrive.
 *
 * @param limit the maximum size of an item: characters, or bytes of a part of a multipart body.
 * @throws {UnreadableItem}
 */
export function readItems(
  { sequence, items }: ItemFormat,
  contentType: string,
  chunks: Chunks,
  limit: number,
): AsyncGenerator<unknown> {
  switch (sequence) {
    case 'events':
      return readEvents(chunks, limit, items?.data ?? 'text');
    case 'parts':
      return readParts(chunks, limit, contentType);
    default:
      return readTexts(chunks, limit, sequence === 'records');
  }
}

const itemTooLarge = (limit: number, unit = 'characters'): UnreadableItem =>
  Object.assign(new UnreadableItem(`must be at most ${limit} ${unit}`), { isTooLarge: true });

async function* readTexts(
  chunks: Chunks,
  limit: number,
  areRecords: boolean,
): AsyncGenerator<unknown> {
  for await (const text of texts(chunks, areRecords ? '\x1e' : '\n', limit)) {
    if (text.trim() === '') continue;
    // A truncated record may end with a truncated number.
    if (areRecords && /[\w.]$/.test(text))
      throw new UnreadableItem('must end with a line feed (RFC 7464 §2.4)');
    yield json(text);
  }
}

async function* readEvents(
  chunks: Chunks,
  limit: number,
  mode: Items['data'],
): AsyncGenerator<unknown> {
  const { createParser } = await import('eventsource-parser');
  let events: Record<string, unknown>[] = [];
  let retry: number | undefined;
  let fault: UnreadableItem | undefined;
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
      events.push({ data, ...fields });
      retry = undefined;
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') fault = itemTooLarge(limit);
    },
  });
  for await (const text of utf8Texts(chunks)) {
    parser.feed(text);
    for (const event of events) {
      const data = String(event.data);
      if (data.length > limit) throw itemTooLarge(limit);
      yield { ...event, data: readEventData(mode, data) };
    }
    events = [];
    if (fault !== undefined) throw fault;
  }
}

/** @throws {UnreadableItem} */
export function readEventData(mode: Items['data'], text: string): unknown {
  if (mode === 'json') return json(text);
  const value = mode === 'mixed' ? jsonOrText(text) : text;
  return typeof value === 'object' && value !== null ? value : text;
}

/** The media type of a part without a Content-Type (RFC 2046 §5.1). */
const DEFAULT_PART_TYPE = 'text/plain';

/**
 * Returns a function that adds a header to parts without headers. The parser would read the content
 * of such a part as headers.
 */
function headerWriter(boundary: string): (chunk: Uint8Array) => Generator<Uint8Array> {
  const delimiter = `\r\n--${boundary}\r\n`;
  const header = new TextEncoder().encode(`Content-Type: ${DEFAULT_PART_TYPE}\r\n`);
  // Without headers, the empty line after them follows the boundary.
  const indexAfter = (text: string, start: number) => {
    const index = text.indexOf(`${delimiter}\r`, start);
    return index < 0 ? -1 : index + delimiter.length;
  };
  // The first boundary needs no line break.
  let previousEnd = '\r\n';
  return function* (chunk) {
    // One character for each byte.
    const text = previousEnd + new TextDecoder('latin1').decode(chunk);
    let written = 0;
    for (let index = indexAfter(text, 0); index >= 0; index = indexAfter(text, index)) {
      const end = index - previousEnd.length;
      yield chunk.subarray(written, end);
      yield header;
      written = end;
    }
    yield chunk.subarray(written);
    previousEnd = text.slice(-delimiter.length);
  };
}

async function* readParts(
  chunks: Chunks,
  limit: number,
  contentType: string,
): AsyncGenerator<unknown> {
  const { MultipartParser, MaxFileSizeExceededError, MultipartParseError } = await import(
    '@remix-run/multipart-parser'
  );
  const [, quotedBoundary, plainBoundary = ''] =
    /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const options = { maxFileSize: limit, maxParts: Infinity, maxTotalSize: Infinity };
  const boundary = quotedBoundary ?? plainBoundary;
  const parser = new MultipartParser(boundary, options);
  const withHeaders = headerWriter(boundary);
  const isFinished = () => {
    try {
      parser.finish();
      return true;
    } catch {
      return false;
    }
  };
  try {
    for await (const chunk of chunks) {
      for (const piece of withHeaders(chunk)) {
        // Ignores the line break and the text after the last boundary (RFC 2046 §5.1.1).
        if (isFinished()) continue;
        for (const { headers, bytes } of parser.write(piece)) {
          const kind = kindOf(headers['content-type'] ?? DEFAULT_PART_TYPE);
          if (kind === 'stream') yield new Uint8Array(bytes);
          else yield kind === 'json' ? json(utf8(bytes)) : utf8(bytes);
        }
      }
    }
    parser.finish();
  } catch (error) {
    if (error instanceof MaxFileSizeExceededError) throw itemTooLarge(limit, 'bytes');
    if (!(error instanceof MultipartParseError)) throw error;
    throw new UnreadableItem(
      'must be a part of multipart/mixed (RFC 2046 §5.1) with the boundary that Content-Type names',
    );
  }
}

/** Splits UTF-8 at a separator. */
async function* texts(chunks: Chunks, separator: string, limit: number): AsyncGenerator<string> {
  let rest = '';
  for await (const text of utf8Texts(chunks)) {
    const [first = '', ...others] = text.split(separator);
    rest += first;
    for (const next of others) {
      if (rest.length > limit) throw itemTooLarge(limit);
      yield rest;
      rest = next;
    }
    if (rest.length > limit) throw itemTooLarge(limit);
  }
  yield rest;
}

async function* utf8Texts(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) yield utf8(chunk, decoder);
  yield utf8(undefined, decoder);
}

function utf8(bytes: Uint8Array | undefined, decoder?: TextDecoder): string {
  try {
    if (decoder === undefined) return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw new UnreadableItem('must be UTF-8');
  }
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof InvalidJson ? new UnreadableItem(error.message) : error;
  }
}
