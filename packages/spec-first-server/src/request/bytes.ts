import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { HttpError } from '../response/http-error.ts';

type Decoder = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

/** The decoders of content codings. zstd is not among them: a few bytes of it can ask for 128 MiB. */
export const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** Bytes in one buffer that grows. Chunks of a byte each would take 400 times their size. */
export class Bytes {
  #buffer = Buffer.alloc(0);
  readonly #expected: number;
  size = 0;

  /** @param expected how many there are, or at most. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (size > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size, Math.min(4 * size, this.#expected)));
      this.#buffer.copy(grown, 0, 0, this.size);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.size);
    this.size = size;
  }

  all(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }
}

/**
 * Reads a body. Rejects it as soon as it is too large; the rest is discarded.
 *
 * @throws {HttpError} 400 or 413
 */
export function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> | Buffer {
  // The app's host may have read it.
  if (request.readableEnded) return Buffer.alloc(0);
  if (request.destroyed) throw cutOff();
  if (request.complete && request.readableLength <= limit) {
    const first: Buffer = request.read() ?? Buffer.alloc(0);
    // A stream that flows gives one chunk after the other.
    if (request.readableLength === 0) return first;
    request.unshift(first);
  }
  return new Promise((resolve, reject) => {
    const bytes = new Bytes(Number(request.headers['content-length'] ?? limit));
    request.on('data', (chunk: Buffer) => {
      if (bytes.size + chunk.length > limit) reject(tooLarge(limit));
      else bytes.add(chunk);
    });
    request.on('error', () => reject(cutOff()));
    request.on('end', () => resolve(bytes.all()));
  });
}

/** @throws {HttpError} 400 or 413 */
export async function decompress(bytes: Buffer, decode: Decoder, limit: number): Promise<Buffer> {
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new HttpError(400, 'the body does not have the declared Content-Encoding');
  }
}

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

export const tooLarge = (limit: number): HttpError =>
  new HttpError(413, `the body must be at most ${limit} bytes (BODY_LIMIT, or the limit in the document)`);

const cutOff = (): HttpError => new HttpError(400, 'the request was cut off');
