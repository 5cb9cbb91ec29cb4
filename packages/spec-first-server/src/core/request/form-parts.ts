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

/** The maximum number of characters of a boundary (RFC 2046 §5.1.1). */
const MAX_BOUNDARY = 70;

const EMPTY_LINE = '\r\n\r\n';

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
 * @throws {HttpError} 400 or 415
 */
export async function* formParts(
  contentType: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<FormPart> {
  const boundary = parseHeader(contentType)?.parameters.boundary;
  if (!boundary || boundary.length > MAX_BOUNDARY) throw malformed();
  const delimiter = `\r\n--${boundary}`;
  const source = new ByteSplitter(withLineBreaks(body));
  try {
    for await (const preamble of source.until(delimiter)) rejectText(preamble.toString('latin1'));
    for (;;) {
      const section = await headerSection(source);
      if (section.startsWith('--')) {
        rejectText(section.slice(2));
        break;
      }
      yield { ...headersOf(section), content: source.until(delimiter) };
    }
    for await (const epilogue of source.rest()) rejectText(epilogue.toString('latin1'));
  } finally {
    await source.close();
  }
}

/**
 * Rejects text before the first boundary and after the last one, except white space. A part in such
 * a text would be lost.
 *
 * @throws {HttpError} 400
 */
function rejectText(text: string): void {
  if (text.trim() !== '') throw malformed();
}

/**
 * Adds a line break before the body and an empty line after it. Each boundary then has a line break
 * before it, and the section after the last boundary ends with an empty line.
 */
async function* withLineBreaks(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from('\r\n');
  yield* body;
  yield Buffer.from(EMPTY_LINE);
}

/**
 * Reads from a boundary to the next empty line. Each character of the result is one byte.
 *
 * @throws {HttpError} 400
 */
async function headerSection(source: ByteSplitter): Promise<string> {
  let section = '';
  for await (const bytes of source.until(EMPTY_LINE)) {
    section += bytes.toString('latin1');
    if (section.length > MAX_HEADER_SIZE) throw invalidHeaders();
  }
  return section;
}

class ByteSplitter {
  readonly #chunks: AsyncGenerator<Buffer>;
  #unread: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncGenerator<Buffer>) {
    this.#chunks = chunks;
  }

  /** Yields the bytes before a separator, and skips it. @throws {HttpError} if it is missing. */
  async *until(separator: string): AsyncGenerator<Buffer> {
    for (;;) {
      const index = this.#unread.indexOf(separator, 0, 'latin1');
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

  async *rest(): AsyncGenerator<Buffer> {
    yield this.#unread;
    yield* this.#chunks;
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined);
  }
}

/**
 * @param section starts with the rest of the boundary's line.
 * @throws {HttpError} 400 or 415
 */
function headersOf(section: string) {
  // A line that begins with a space continues the header.
  const [padding = '', ...lines] = section.replace(/\r\n[ \t]/g, ' ').split('\r\n');
  if (padding.trim() !== '') {
    throw new HttpError(
      400,
      'only "--" or a line break (CRLF) may follow a boundary in the body (RFC 2046 §5.1.1)',
    );
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, headerName, value = ''] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    const key = headerName?.toLowerCase();
    if (key === undefined || headers.has(key)) throw invalidHeaders();
    headers.set(key, value.trim());
  }
  checkTransferEncoding(headers.get('content-transfer-encoding'));
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
    filename: sentFilename && withoutFolders(sentFilename),
    type: type.value,
    charset: type.parameters.charset,
  };
}

/**
 * Rejects encodings that change the content. Browsers send none, and RFC 7578 §4.7 deprecates them.
 */
function checkTransferEncoding(encoding = 'binary'): void {
  if (/^(7bit|8bit|binary)$/i.test(encoding)) return;
  throw new HttpError(415, 'the Content-Transfer-Encoding of a part must be binary, 8bit or 7bit');
}

/** Removes folders (RFC 7578 §4.2). Returns `_` if no name is left. */
function withoutFolders(filename: string): string {
  const name = filename.split(/[/\\]/).findLast((segment) => segment !== '');
  return name === undefined || name === '.' || name === '..' ? '_' : name;
}

/**
 * A parameter of a header, in quotation marks or not (RFC 9110 §5.6.6). Browsers write the filename
 * `a\` as `filename="a\"`. Even after a backslash, a quotation mark therefore ends the value if a
 * semicolon or the end of the header follows it.
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
 * @throws {HttpError} 400
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

/** @param bytes the text of a header: each character is one byte. @throws {HttpError} 400 */
const utf8 = (bytes: string): string => decodedText('', Buffer.from(bytes, 'latin1'));

/** @throws {HttpError} 415 for an unknown charset, 400 for bytes that are not in the charset. */
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
