import { randomUUID } from 'node:crypto';
import { createWriteStream, openAsBlob } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MediaType } from 'openapi-document';
import type { Account } from '../account.ts';
import { HttpError } from '../response/http-error.ts';
import { estimatedSize } from './estimated-size.ts';
import { decodedText, type FormPart, formParts } from './form-parts.ts';
import { readBytes } from './read-bytes.ts';
import { createUploadFolder } from './upload-folders.ts';

/**
 * The size in bytes of a body above which its files are written to disk. The files of a body of
 * unknown length are always written to disk.
 */
const MAX_IN_MEMORY = 65_536;

const MAX_PARTS = 1000;

/** The memory of a part besides its bytes. */
const PART_BYTES = 1024;

/**
 * Reads a `multipart/form-data` body as an object, with a `File` for each file. Parts are read as
 * they arrive.
 *
 * @param textLimit the maximum number of bytes of all texts.
 * @param account removes the files on disk when it is settled.
 * @throws {HttpError} 400, 413, 415 or 503
 */
export async function multipart(
  media: MediaType,
  headers: IncomingHttpHeaders,
  bytes: Readable,
  textLimit: number,
  account: Account,
): Promise<unknown> {
  const reader = media.formReader();
  const isSmall = Number(headers['content-length'] ?? Infinity) <= MAX_IN_MEMORY;
  const fields = new Map<string, unknown[]>();
  let folder: string | undefined;
  let textSize = 0;
  let partCount = 0;
  try {
    for await (const part of formParts(headers['content-type'] ?? '', charged(bytes))) {
      partCount += 1;
      if (partCount > MAX_PARTS)
        throw new HttpError(413, `the body must have at most ${MAX_PARTS} parts`);
      account.charge(PART_BYTES);
      const partValues = await valuesOf(part);
      if (partValues === undefined) continue;
      const values = fields.get(part.name) ?? [];
      fields.set(part.name, values);
      for (const value of partValues) values.push(value);
    }
    return await account.inTurn(() => reader.multipart(fields));
  } catch (error) {
    bytes.destroy();
    throw error;
  }

  async function* charged(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      account.charge(chunk.length);
      yield chunk;
    }
  }

  async function valuesOf(part: FormPart): Promise<readonly unknown[] | undefined> {
    const { name, filename, type, charset, content } = part;
    const { isFile, isText, types } = reader.partOf(name);
    const isSentAsFile = filename !== undefined || type === 'application/octet-stream';
    if (!isFile || !isSentAsFile) {
      if (!isSentAsFile && !isText) throw notFile(name);
      // Browsers send no media type with a text.
      if (isSentAsFile || type !== 'text/plain') checkType(name, types, type);
      const bytes = await readBytes(limitTexts(content), textLimit);
      return account.inTurn(() => {
        // The values replace the text.
        account.charge(estimatedSize(bytes) - bytes.length);
        return reader.textValues(name, type, decodedText(name, bytes, charset));
      });
    }
    if (filename !== '') checkType(name, types, type);
    const file = await fileOf(content, filename ?? '', type);
    // For a file input without a file, browsers send an empty part with an empty filename
    // (https://html.spec.whatwg.org/#constructing-the-form-data-set).
    if (filename === '' && file.size === 0) return undefined;
    if (filename === '') checkType(name, types, type);
    return [file];
  }

  async function* limitTexts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      textSize += chunk.length;
      if (textSize > textLimit) {
        const requirement = `must be at most ${textLimit} bytes (BODY_LIMIT): send a file instead`;
        throw new HttpError(413, `the texts of the body ${requirement}`);
      }
      yield chunk;
    }
  }

  async function fileOf(content: FormPart['content'], name: string, type: string): Promise<File> {
    if (isSmall) {
      const small = await readBytes(content, MAX_IN_MEMORY);
      return new File([Uint8Array.from(small)], name, { type });
    }
    try {
      folder ??= createUploadFolder(account);
      const path = join(folder, randomUUID());
      const output = createWriteStream(path, { flags: 'wx', mode: 0o600 });
      await pipeline(content, refunded, output);
      return new File([await openAsBlob(path)], name, { type });
    } catch (error) {
      throw error instanceof HttpError ? error : notStored(error);
    }
  }

  /** Refunds each chunk when the next one is requested. */
  async function* refunded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      yield chunk;
      account.refund(chunk.length);
    }
  }
}

/** @param cause the error of the file system: no space is left, or too many files are open. */
const notStored = (cause: unknown): HttpError =>
  new HttpError(503, 'files cannot be stored now: try again later', {
    headers: { 'Retry-After': 1 },
    cause,
  });

const notFile = (name: string): HttpError =>
  new HttpError(
    400,
    `the part ${JSON.stringify(name)} of the body must be a file, with a filename`,
    {
      reason: 'a part of the body must be a file, with a filename',
    },
  );

/**
 * @param declared media types in lower case, or ranges such as `image/*`. Empty for any type.
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
