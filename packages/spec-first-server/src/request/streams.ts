import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdtempSync, openAsBlob, rm } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type MediaType, UnreadableItem } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';
import { type OperationValidator, Violations } from '../validation/validator.ts';

/** The body as a stream, which ends with 413 if it grows beyond the limit. */
export function limitedStream(request: IncomingMessage, response: ServerResponse, limit: number): Readable {
  let size = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > limit ? tooLarge(limit) : null, chunk);
    },
  });
  // A handler may destroy the stream or never read it. The connection stays usable.
  stream.on('error', () => {});
  response.once('finish', () => {
    request.unpipe(stream);
    request.resume();
  });
  request.on('aborted', () => stream.destroy(cutOff()));
  if (request.destroyed) stream.destroy(cutOff());
  return request.pipe(stream);
}

/**
 * The items of a body, each read and checked when the handler asks for it.
 *
 * @param limit the maximum size of an item.
 * @throws {HttpError} 400 or 413, when the item that is wrong is asked for.
 */
export async function* checkedItems(
  request: IncomingMessage,
  response: ServerResponse,
  media: MediaType,
  limit: number,
  validator: OperationValidator,
): AsyncGenerator<unknown> {
  const bytes = limitedStream(request, response, Infinity);
  let index = 0;
  try {
    for await (const item of media.readItems(request.headers['content-type'] ?? '', bytes, limit)) {
      yield validator.item(media, item);
      index += 1;
    }
  } catch (error) {
    const path = `/body/${index}`;
    if (error instanceof Violations) {
      const located = error.violations.map((each) => ({ ...each, path: each.path.replace('/body', path) }));
      throw new Violations(located);
    }
    if (!(error instanceof UnreadableItem)) throw error;
    if (error.isTooLarge) throw new HttpError(413, `${path} ${error.message}`);
    throw new Violations([{ path, message: error.message, keyword: 'type' }]);
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
  let folder: string | undefined;
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
    if (response.destroyed) throw cutOff();
    folder ??= temporaryFolder(response);
    const path = join(folder, randomUUID());
    await pipeline(part, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    return new File([await openAsBlob(path)], name, { type });
  }
}

async function textOf(part: Readable): Promise<string> {
  const bytes = await buffer(part);
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes.toString();
}

const notUtf8 = (): HttpError => new HttpError(400, 'texts and names in the body must be UTF-8');

/** A folder that is removed when the response is closed. */
function temporaryFolder(response: ServerResponse): string {
  const folder = mkdtempSync(join(tmpdir(), 'upload-'));
  response.once('close', () => rm(folder, { recursive: true, force: true, maxRetries: 5 }, () => undefined));
  return folder;
}

export const tooLarge = (limit: number): HttpError =>
  new HttpError(413, `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`);

export const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
