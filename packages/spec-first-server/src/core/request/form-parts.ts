import { HttpError } from '../response/http-error.ts';

/** A part of a `multipart/form-data` body (RFC 7578 §4.2). */
export interface FormPart {
  readonly name: string;
  /** Without folders; `undefined` if the part has no filename. */
  readonly filename: string | undefined;
  /** The media type in lower case, without parameters. */
  readonly type: string;
  readonly charset: string | undefined;
  /** The bytes, as they arrive. Must be read to the end before the next part. */
  readonly content: AsyncGenerator<Buffer>;
}

/** The maximum size in bytes of the headers of a part. */
const MAX_HEADER_SIZE = 16_384;

const LINE_BREAK = Buffer.from('\r\n');

const malformed = (): HttpError =>
  new HttpError(
    400,
    'the body must be multipart/form-data (RFC 7578), and begin and end with its boundary',
  );

const invalidHeaders = (): HttpError =>
  new HttpError(
    400,
    `a part of the body must have valid headers of at most ${MAX_HEADER_SIZE} bytes (RFC 7578 §4)`,
  );

/**
 * Yields the parts of a form as they arrive.
 *
 * @throws {HttpError} 400
 */
export async function* formParts(
  contentType: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<FormPart> {
  const boundary = parseHeader(contentType)?.parameters.boundary;
  if (!boundary) throw malformed();
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const source = new ByteSplitter(withLineBreaks(body));
  try {
    for await (const preamble of source.until(delimiter)) rejectText(preamble);
    while (!isEnd(await source.line())) {
      const headers = await headersOf(source);
      yield { ...headers, content: source.until(delimiter) };
    }
    for await (const epilogue of source.rest()) rejectText(epilogue);
  } finally {
    await source.close();
  }
}

/**
 * Rejects text before the first boundary and after the last one, except white space. Parts in this
 * text would be lost.
 *
 * @throws {HttpError} 400
 */
function rejectText(bytes: Buffer): void {
  if (bytes.toString('latin1').trim() !== '') throw malformed();
}

/**
 * Returns true at the end of a form, and false before a part.
 *
 * @param line the rest of a line that begins with the boundary.
 * @throws {HttpError} 400
 */
function isEnd(line: string): boolean {
  const mark = line.trimEnd();
  if (mark === '' || mark === '--') return mark === '--';
  throw new HttpError(
    400,
    'only "--" or a line break (CRLF) may follow a boundary in the body (RFC 2046 §5.1.1)',
  );
}

/** Adds a line break before the first line and after the last one, which may have none. */
async function* withLineBreaks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield LINE_BREAK;
  yield* body;
  yield LINE_BREAK;
}

/** Splits bytes at separators, as they arrive. */
class ByteSplitter {
  readonly #chunks: AsyncGenerator<Buffer>;
  /** The bytes that have arrived and are not read. */
  #unread: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Yields the bytes before a separator, and skips it. @throws {HttpError} if it is missing. */
  async *until(separator: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const index = this.#unread.indexOf(separator);
      // The end of the bytes may be the start of a separator.
      const end = index >= 0 ? index : Math.max(0, this.#unread.length - separator.length + 1);
      const bytes = this.#unread.subarray(0, end);
      this.#unread = this.#unread.subarray(index >= 0 ? index + separator.length : end);
      if (bytes.length > 0) yield bytes;
      if (index >= 0) return;
      const { done, value } = await this.#chunks.next();
      if (done) throw malformed();
      this.#unread = this.#unread.length === 0 ? value : Buffer.concat([this.#unread, value]);
    }
  }

  /** Reads a line. Each character is a byte. @throws {HttpError} if it is too long. */
  async line(): Promise<string> {
    let line = '';
    for await (const bytes of this.until(LINE_BREAK)) {
      line += bytes.toString('latin1');
      if (line.length > MAX_HEADER_SIZE) throw invalidHeaders();
    }
    return line;
  }

  /** Yields the bytes that are left. */
  async *rest(): AsyncGenerator<Buffer> {
    yield this.#unread;
    yield* this.#chunks;
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined);
  }
}

/** Reads the headers of a part, and the empty line after them. @throws {HttpError} */
async function headersOf(source: ByteSplitter) {
  let size = 0;
  const lines: string[] = [];
  for (let line = await source.line(); line !== ''; line = await source.line()) {
    size += line.length;
    if (size > MAX_HEADER_SIZE) throw invalidHeaders();
    // A line that begins with a space continues the header.
    if (/^[ \t]/.test(line)) lines.push((lines.pop() ?? '') + line);
    else lines.push(line);
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, headerName, value = ''] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? [];
    const key = headerName?.toLowerCase();
    if (key === undefined || headers.has(key)) throw invalidHeaders();
    headers.set(key, value);
  }
  const disposition = parseHeader(headers.get('content-disposition') ?? '');
  const { name, filename, 'filename*': extendedFilename } = disposition?.parameters ?? {};
  if (disposition?.value !== 'form-data' || !name) {
    throw new HttpError(
      400,
      'a part of the body must have the Content-Disposition form-data with a name (RFC 7578 §4.2)',
    );
  }
  // The default is text (RFC 7578 §4.4).
  const type = parseHeader(headers.get('content-type') ?? 'text/plain');
  if (type === undefined) throw invalidHeaders();
  const sentFilename =
    extendedFilename === undefined ? filename && utf8(filename) : decodedExtended(extendedFilename);
  return {
    name: utf8(name),
    filename: sentFilename?.replace(/^.*[/\\]/s, '').replace(/^\.\.?$/, ''),
    type: type.value,
    charset: type.parameters.charset,
  };
}

/**
 * A parameter of a header, in quotation marks or not (RFC 9110 §5.6.6). Browsers write the filename
 * `a\` as `filename="a\"`. A quotation mark is therefore the last one of a value if a semicolon or
 * the end of the header follows, even after a backslash.
 */
const PARAMETER = /;\s*(?:([^\s;="]+)=(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*)))?\s*/gy;

/**
 * Parses a header with parameters. The value and the names are in lower case.
 *
 * @returns undefined if a parameter is invalid or repeated.
 */
function parseHeader(header: string) {
  const [value = ''] = header.split(';', 1);
  const text = header.slice(value.length);
  const parameters: Record<string, string | undefined> = Object.create(null);
  let length = 0;
  for (const [parameter, name = '', quoted, plain] of text.matchAll(PARAMETER)) {
    length += parameter.length;
    if (name === '') continue;
    const key = name.toLowerCase();
    if (key in parameters) return undefined;
    parameters[key] = quoted?.replaceAll('\\"', '"') ?? plain;
  }
  return length === text.length ? { value: value.trim().toLowerCase(), parameters } : undefined;
}

/**
 * Decodes the value of `filename*` (RFC 8187), which some clients send besides `filename`.
 *
 * @throws {HttpError} 400 if it is not UTF-8.
 */
function decodedExtended(value: string): string {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  if (encoded === undefined) throw notUtf8();
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw notUtf8();
  }
}

/** Decodes a text from a header. Each character is a byte. @throws {HttpError} 400 */
const utf8 = (bytes: string): string => decodedText('', Buffer.from(bytes, 'latin1'));

/**
 * Decodes the content of a text part.
 *
 * @throws {HttpError} 415 for an unknown charset, and 400 for bytes that are not in the charset.
 */
export function decodedText(part: string, bytes: Buffer, charset = 'utf-8'): string {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
  } catch {
    const subject = `the charset of the part ${JSON.stringify(part)} of the body`;
    throw new HttpError(415, `${subject} is unknown: ${JSON.stringify(charset)}; use utf-8`, {
      reason: 'the charset of a part of the body is unknown',
    });
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw notUtf8(decoder.encoding.toUpperCase());
  }
}

const notUtf8 = (encoding = 'UTF-8'): HttpError =>
  new HttpError(400, `texts and names in the body must be ${encoding}`);
