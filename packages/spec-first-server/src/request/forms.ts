import { isUtf8 } from 'node:buffer';
import { createWriteStream, mkdtempSync, openAsBlob, rm } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { MediaType } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import { limitedStream } from './stream.ts';

/** The object of an `application/x-www-form-urlencoded` body. */
export function urlencoded(media: MediaType, text: string): unknown {
  try {
    return media.formReader().urlencoded(text);
  } catch (error) {
    if (error instanceof URIError) throw new HttpError(400, 'the body must be percent-encoded UTF-8');
    throw error;
  }
}

/** The files of larger bodies are kept on disk. Bytes. */
const IN_MEMORY = 65_536;

/** Each part takes memory besides its bytes. */
const MOST_PARTS = 1000;

/**
 * The object of a `multipart/form-data` body, with a `File` for each file. The parts are read as they arrive. Files on disk
 * are removed when the request is over.
 *
 * @throws {HttpError} 400 or 413
 */
export async function multipart(
  media: MediaType,
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<unknown> {
  // Loaded only for such a request.
  const { default: busboy } = await import('busboy');
  const reader = media.formReader();
  const isSmall = Number(request.headers['content-length'] ?? Infinity) <= IN_MEMORY;
  const pathOf = temporaryFiles(response);
  const fields = new Map<string, Promise<string | File>[]>();
  try {
    const limits = { parts: MOST_PARTS, fieldSize: limit };
    const form = busboy({ headers: request.headers, defParamCharset: 'utf8', limits });
    const add = (name: string, text: string, value: Promise<string | File>): void => {
      value.catch((error) => form.destroy(error));
      fields.set(name, [...(fields.get(name) ?? []), value]);
      // What is not UTF-8 is decoded as this character.
      if (`${name}${text}`.includes('\uFFFD')) form.destroy(notUtf8());
    };
    form.on('field', (name, text) => {
      const file = () => new File([text], '', { type: 'text/plain' });
      add(name, text, Promise.resolve(reader.holds(name).files ? file() : text));
    });
    form.on('file', (name, part, { filename = '', mimeType }) => {
      const { files, text } = reader.holds(name);
      add(name, filename, text && !files ? textOf(part) : fileOf(part, filename, mimeType));
    });
    form.on('partsLimit', () => form.destroy(new HttpError(413, `the body must have at most ${MOST_PARTS} parts`)));
    await pipeline(limitedStream(request, response, limit), form);
  } catch (error) {
    // Of the file system.
    if (error instanceof HttpError || 'syscall' in Object(error)) throw error;
    const required = 'multipart/form-data (RFC 7578) with the boundary that Content-Type names';
    throw new HttpError(400, `the body must be ${required}`);
  }
  const read = [...fields].map(async ([name, values]) => [name, await Promise.all(values)] as const);
  return reader.multipart(new Map(await Promise.all(read)));

  async function fileOf(part: Readable, name: string, type: string): Promise<File> {
    if (isSmall) return new File([await buffer(part)], name, { type });
    const path = pathOf();
    await pipeline(part, createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: 262_144 }));
    return new File([await openAsBlob(path)], name, { type });
  }
}

async function textOf(part: Readable): Promise<string> {
  const bytes = await buffer(part);
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes.toString();
}

const notUtf8 = (): HttpError => new HttpError(400, 'texts and names in the body must be UTF-8');

/** Returns paths for files that are removed when the response is closed. */
function temporaryFiles(response: ServerResponse): () => string {
  let folder: string | undefined;
  let count = 0;
  return () => {
    if (response.destroyed) throw new HttpError(400, 'the request was cut off');
    if (folder === undefined) {
      const made = mkdtempSync(join(tmpdir(), 'upload-'));
      response.once('close', () => rm(made, { recursive: true, force: true, maxRetries: 5 }, () => undefined));
      folder = made;
    }
    count += 1;
    return join(folder, String(count));
  };
}
