import { parseHeader } from '../source/media-types.ts';
import { allBytes, type Chunks, decodedBytes, UnreadableBody } from './codec.ts';

/** A part of a multipart body (RFC 2046 §5.1). */
export interface Part {
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The bytes, as they arrive. Must be read to the end before the next part. */
  readonly content: AsyncGenerator<Uint8Array>;
}

export interface PartRules {
  /** The requirement that a body without valid boundaries violates. */
  readonly requirement: string;
  /** True to ignore text before the first boundary and after the last one. */
  readonly acceptsOtherText: boolean;
}

/** The maximum size in bytes of the headers of a part. */
const MAX_HEADER_SIZE = 16_384;

/** The maximum number of characters of a boundary (RFC 2046 §5.1.1). */
const MAX_BOUNDARY = 70;

/** The subject of errors about parts that are read as texts. */
export const TEXTS = 'texts and names in the body';

const encoder = new TextEncoder();
const LINE_BREAK = encoder.encode('\r\n');
const EMPTY_LINE = encoder.encode('\r\n\r\n');

const invalidHeaders = (): UnreadableBody =>
  new UnreadableBody(`must have valid headers of at most ${MAX_HEADER_SIZE} bytes (RFC 7578 §4)`, {
    subject: 'a part of the body',
  });

const newBoundary = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** Adds a new boundary to a media type. */
export const withBoundary = (type: string): string => `${type}; boundary=${newBoundary()}`;

export const boundaryOf = (contentType: string): string | undefined =>
  parseHeader(contentType)?.parameters.boundary;

/** Yields parts as they arrive. @throws {UnreadableBody} */
export async function* partsOf(
  chunks: Chunks,
  contentType: string,
  { requirement, acceptsOtherText }: PartRules,
): AsyncGenerator<Part> {
  const malformed = () => new UnreadableBody(requirement);
  const boundary = boundaryOf(contentType);
  if (!boundary || boundary.length > MAX_BOUNDARY) throw malformed();
  const delimiter = encoder.encode(`\r\n--${boundary}`);
  const source = new ByteSplitter(withLineBreaks(chunks), malformed);
  try {
    for await (const preamble of source.until(delimiter)) skip(preamble);
    for (;;) {
      const section = await headerSection(source);
      if (section.startsWith('--')) {
        skip(encoder.encode(section.slice(2)));
        break;
      }
      yield { headers: headersOf(section), content: source.until(delimiter) };
    }
    for await (const epilogue of source.rest()) skip(epilogue);
  } finally {
    await source.close();
  }

  /** A part in a text outside the boundaries would be lost. */
  function skip(text: Uint8Array): void {
    if (!acceptsOtherText && !text.every(isWhiteSpace)) throw malformed();
  }
}

const isWhiteSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/**
 * Adds a line break before the body and an empty line after it. Each boundary then has a line break
 * before it, and the section after the last boundary ends with an empty line.
 */
async function* withLineBreaks(chunks: Chunks): AsyncGenerator<Uint8Array> {
  yield LINE_BREAK;
  yield* chunks;
  yield EMPTY_LINE;
}

/** Reads from a boundary to the next empty line. @throws {UnreadableBody} */
async function headerSection(source: ByteSplitter): Promise<string> {
  const section = await allBytes(source.until(EMPTY_LINE), MAX_HEADER_SIZE, invalidHeaders);
  return decodedBytes(section, TEXTS);
}

/** @param section starts with the rest of the boundary's line. @throws {UnreadableBody} */
function headersOf(section: string): ReadonlyMap<string, string> {
  // A line that begins with a space continues the header.
  const [padding = '', ...lines] = section.replace(/\r\n[ \t]/g, ' ').split('\r\n');
  if (padding.trim() !== '') {
    throw new UnreadableBody('may follow a boundary in the body (RFC 2046 §5.1.1)', {
      subject: 'only "--" or a line break (CRLF)',
    });
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    const key = name?.toLowerCase();
    if (key === undefined || headers.has(key)) throw invalidHeaders();
    headers.set(key, value.trim());
  }
  return headers;
}

/** Parses a header of a part. @throws {UnreadableBody} */
export function partHeader(headers: Part['headers'], name: string, fallback: string) {
  const header = parseHeader(headers.get(name) ?? fallback);
  if (header === undefined) throw invalidHeaders();
  return header;
}

/**
 * Returns the media type of a part in lower case, without parameters, and its charset. The default
 * is text (RFC 2046 §5.1).
 *
 * @throws {UnreadableBody}
 */
export function contentTypeOf({ headers }: Part) {
  const transferEncoding = headers.get('content-transfer-encoding') ?? 'binary';
  // Other encodings change the content. Browsers send none, and RFC 7578 §4.7 deprecates them.
  if (!/^(7bit|8bit|binary)$/i.test(transferEncoding)) {
    throw new UnreadableBody('must be binary, 8bit or 7bit', {
      status: 415,
      subject: 'the Content-Transfer-Encoding of a part',
    });
  }
  const { value, parameters } = partHeader(headers, 'content-type', 'text/plain');
  return { type: value, charset: parameters.charset };
}

/** @throws {UnreadableBody} 415 for an unknown charset, 400 for bytes that are not in it. */
export function partText(bytes: Uint8Array, charset: string | undefined, part?: string): string {
  try {
    return decodedBytes(bytes, TEXTS, charset);
  } catch (error) {
    if (error instanceof UnreadableBody) throw error;
    throw new UnreadableBody('must have a known charset, such as utf-8', { status: 415, part });
  }
}

class ByteSplitter {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  readonly #missing: () => Error;
  #unread: Uint8Array = new Uint8Array();

  /** @param missing creates the error for a missing separator. */
  constructor(chunks: AsyncGenerator<Uint8Array>, missing: () => Error) {
    this.#chunks = chunks;
    this.#missing = missing;
  }

  /** Yields the bytes before a separator, and skips it. */
  async *until(separator: Uint8Array): AsyncGenerator<Uint8Array> {
    for (;;) {
      const index = indexOf(this.#unread, separator);
      // The end of the bytes may be the start of a separator.
      const end = index >= 0 ? index : Math.max(0, this.#unread.length - separator.length + 1);
      const bytes = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(index >= 0 ? index + separator.length : end);
      if (bytes.length > 0) yield bytes;
      if (index >= 0) return;
      const { done, value } = await this.#chunks.next();
      if (done) throw this.#missing();
      this.#unread = this.#unread.length === 0 ? value : joinedBytes(this.#unread, value);
    }
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    yield this.#unread;
    yield* this.#chunks;
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined);
  }
}

/**
 * Finds a separator. Takes linear time, since the first byte of a separator, CR, is not repeated in
 * boundaries.
 */
function indexOf(bytes: Uint8Array, separator: Uint8Array): number {
  const { length } = separator;
  const last = bytes.length - length;
  // A call for each byte would make a text of many CR slow.
  const next = (index: number) => (bytes[index] === 0x0d ? index : bytes.indexOf(0x0d, index));
  for (let index = next(0); index >= 0; index = next(index + 1)) {
    if (index > last) return -1;
    let matched = 1;
    while (matched < length && bytes[index + matched] === separator[matched]) matched += 1;
    if (matched === length) return index;
  }
  return -1;
}

export function joinedBytes(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
