import type { Bytes } from '../call.ts';
import { cutOff, isRejection, tooLarge } from './streams.ts';

/**
 * Reads a body. Rejects it as soon as it is too large.
 *
 * @param declaredLength the `Content-Length` in bytes, or 0.
 * @throws {HttpError} 400 or 413
 */
export function readBytes(
  body: Bytes | AsyncIterable<Bytes>,
  limit: number,
  declaredLength = 0,
): Promise<Buffer> | Buffer {
  if (!(body instanceof Uint8Array)) return collect(body, limit, declaredLength);
  if (body.length > limit) throw tooLarge(limit);
  return asBuffer(body);
}

async function collect(
  body: AsyncIterable<Bytes>,
  limit: number,
  declaredLength: number,
): Promise<Buffer> {
  // One growing buffer. An array of one-byte chunks would take hundreds of times their size.
  let bytes = EMPTY;
  let size = 0;
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value: chunk } = await chunks.next();
      if (done) return bytes.subarray(0, size);
      const end = size + chunk.length;
      if (end > limit) throw tooLarge(limit);
      // Most bodies arrive in one piece, which is not copied.
      if (size === 0 && end > 0 && end === declaredLength) return asBuffer(chunk);
      if (end > bytes.length) {
        const capacity = Math.max(end, Math.min(8 * end, declaredLength || limit));
        const largerBuffer = Buffer.allocUnsafeSlow(capacity);
        bytes.copy(largerBuffer, 0, 0, size);
        bytes = largerBuffer;
      }
      bytes.set(chunk, size);
      size = end;
    }
  } catch (error) {
    await chunks.return?.();
    throw isRejection(error) ? error : cutOff();
  }
}

const EMPTY = Buffer.alloc(0);

const asBuffer = (bytes: Bytes): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
