import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, openAsBlob, rm } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { MediaType } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import { createReservation } from './reservation.ts';
import { cutOff } from './streams.ts';

/** The size in bytes of a body above which its files are written to disk. */
const MAX_IN_MEMORY = 65_536;

/** Bounds the memory of a form: each part takes memory besides its bytes. */
const MAX_PARTS = 1000;

/** The value of a part; `undefined` for a file input without a file. */
type PartValue = string | File | undefined;

/**
 * Reads a `multipart/form-data` body as an object, with a `File` for each file. Parts are read as
 * they arrive.
 *
 * @returns the object, and a function that removes the files on disk.
 * @throws {HttpError} 400, 413, 415 or 503
 */
export async function multipart(
  media: MediaType,
  headers: IncomingHttpHeaders,
  bytes: Readable,
  limit: number,
): Promise<{ readonly body: unknown; readonly release: () => void }> {
  // Loaded for the first such request.
  const { default: busboy } = await import('busboy');
  const reader = media.formReader();
  const isSmall = Number(headers['content-length'] ?? Infinity) <= MAX_IN_MEMORY;
  const parts = new Map<string, Promise<PartValue>[]>();
  let folder: string | undefined;
  const memory = createReservation();
  const release = (): void => {
    memory.release();
    if (folder === undefined) return;
    rm(folder, { recursive: true, force: true, maxRetries: 5 }, () => undefined);
  };
  /** The number of bytes that have arrived and are not on disk. */
  let held = 0;
  let firstError: unknown;
  /** The number of parts that have arrived and that the parser has not reported. */
  let unreadParts = 0;
  try {
    // The parser emits `partsLimit` at the end of the last part that it accepts.
    const limits = { parts: MAX_PARTS + 1, fieldSize: limit };
    const form = busboy({ headers, defParamCharset: 'utf8', limits });
    const fail = (error: unknown): void => {
      firstError ??= error;
      form.destroy(cutOff());
    };
    /**
     * Adds a part. Records errors instead of throwing them, since the parser calls this function.
     *
     * @param name `undefined` for a part without a name, although the types of the parser say
     *   `string`.
     */
    const add = (
      name: string | undefined,
      read: (name: string) => PartValue | Promise<PartValue>,
    ): void => {
      if (name === undefined) {
        fail(new HttpError(400, UNNAMED));
        return;
      }
      const value = Promise.try(read, name);
      value.catch(fail);
      const values = parts.get(name) ?? [];
      parts.set(name, values);
      values.push(value);
    };
    form.on('field', (name, text, { mimeType }) => {
      unreadParts -= 1;
      add(name, (field) => {
        checkUtf8(field);
        const { isText, types } = reader.partOf(field);
        if (!isText) throw notFile(field);
        checkUtf8(text);
        // Browsers send no media type with a text; the default is text/plain (RFC 7578 §4.4).
        if (mimeType !== 'text/plain') checkType(field, types, mimeType);
        return text;
      });
    });
    form.on('file', (name, part, { filename = '', mimeType }) => {
      unreadParts -= 1;
      // When a form is rejected, the parser destroys its parts. They then emit an error.
      part.on('error', () => {});
      add(name, async (field) => {
        checkUtf8(field + filename);
        const { isFile, types } = reader.partOf(field);
        if (isFile && filename === '' && (await isEmpty(part))) return undefined;
        checkType(field, types, mimeType);
        return isFile ? fileOf(part, filename, mimeType) : readText(part);
      });
    });
    form.on('partsLimit', () =>
      fail(new HttpError(413, `the body must have at most ${MAX_PARTS} parts`)),
    );
    const delimiter = delimiterOf(headers['content-type']);
    const countPart = () => (unreadParts += 1);
    await pipeline(bytes, counted, (chunks) => countParts(chunks, delimiter, countPart), form);
    // The parser skips a part whose Content-Disposition is not form-data.
    if (unreadParts > 0) throw new HttpError(400, UNNAMED);
  } catch (error) {
    const reason = firstError ?? error;
    // Waits for files that are being written, or they would not be removed.
    await Promise.allSettled([...parts.values()].flat());
    release();
    if (reason !== error || error instanceof HttpError) throw reason;
    const required = 'multipart/form-data (RFC 7578) with the boundary that Content-Type names';
    throw new HttpError(400, `the body must be ${required}`);
  }
  try {
    const fields = new Map<string, (string | File)[]>();
    for (const [name, values] of parts) {
      const present = (await Promise.all(values)).filter((value) => value !== undefined);
      if (present.length > 0) fields.set(name, present);
    }
    return { body: reader.multipart(fields), release };
  } catch (error) {
    release();
    throw error;
  }

  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      held += chunk.length;
      memory.resize(held);
      yield chunk;
    }
  }

  async function fileOf(part: Readable, name: string, type: string): Promise<File> {
    if (isSmall) return new File([await buffer(part)], name, { type });
    folder ??= mkdtempSync(join(tmpdir(), 'upload-'));
    const path = join(folder, randomUUID());
    part.on('data', (chunk: Buffer) => {
      held -= chunk.length;
      memory.resize(held);
    });
    await pipeline(part, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return new File([await openAsBlob(path)], name, { type });
  }
}

const UNNAMED =
  'each part of the body must have the Content-Disposition form-data and a name (RFC 7578 §4.2)';

/** Returns the bytes before each part (RFC 2046 §5.1.1). */
function delimiterOf(contentType = ''): Buffer {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  return Buffer.from(`\r\n--${quoted ?? plain}\r\n`);
}

/** Passes on the chunks of a form, and calls `onPart` for each delimiter before a part. */
async function* countParts(
  chunks: AsyncIterable<Buffer>,
  delimiter: Buffer,
  onPart: () => void,
): AsyncGenerator<Buffer> {
  const overlap = delimiter.length - 1;
  // The first delimiter may be at the start of the body.
  let end = Buffer.from('\r\n');
  for await (const chunk of chunks) {
    // A delimiter may be cut into two chunks.
    const joint = Buffer.concat([end, chunk.subarray(0, overlap)]);
    for (const bytes of [joint, chunk]) {
      let index = bytes.indexOf(delimiter);
      while (index >= 0) {
        onPart();
        index = bytes.indexOf(delimiter, index + 1);
      }
    }
    end = Buffer.concat([end, chunk.subarray(-overlap)]).subarray(-overlap);
    yield chunk;
  }
}

const notFile = (name: string): HttpError =>
  new HttpError(
    400,
    `the part ${JSON.stringify(name)} of the body must be a file, with a filename`,
    {
      reason: 'a part of the body must be a file, with a filename',
    },
  );

/**
 * Checks the media type of a part against those that the document declares, if any.
 *
 * @param declared media types in lower case, or ranges such as `image/*`.
 * @throws {HttpError} 415
 */
function checkType(name: string, declared: readonly string[], type: string): void {
  const isAccepted = declared.some(
    (range) => range === '*/*' || range === type || range === type.replace(/\/.*/, '/*'),
  );
  if (declared.length === 0 || isAccepted) return;
  const reason = `must be ${declared.join(' or ')} (RFC 7578 §4.4)`;
  throw new HttpError(415, `the part ${JSON.stringify(name)} of the body ${reason}`, {
    reason: `a part of the body ${reason}`,
  });
}

/**
 * Returns true if a part has no bytes. For a file input without a file, browsers send such a part
 * with an empty filename (https://html.spec.whatwg.org/#constructing-the-form-data-set).
 */
async function isEmpty(part: Readable): Promise<boolean> {
  await once(part, 'readable');
  if (part.readableLength > 0) return false;
  part.resume();
  return true;
}

async function readText(part: Readable): Promise<string> {
  const bytes = await buffer(part);
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes.toString();
}

/** @throws {HttpError} if a text has the character by which the parser replaces invalid bytes. */
function checkUtf8(text: string): void {
  if (text.includes('\uFFFD')) throw notUtf8();
}

const notUtf8 = (): HttpError => new HttpError(400, 'texts and names in the body must be UTF-8');
