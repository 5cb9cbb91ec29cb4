import {
  type BodyFormat,
  type Coder,
  type ItemsCoder,
  isReadAtOnce,
  isSentAsItIs,
  type Message,
  readAtOnce,
} from '../codecs/codec.ts';
import type { Codecs } from '../codecs/codecs.ts';
import { mapMembers } from '../source/document.ts';

/**
 * Serializes a body by the codec of its media type. Text, bytes and streams of them are sent
 * unchanged, unless the codec is for values such as JSON.
 */
export async function encodeBody(
  codecs: Codecs,
  format: BodyFormat,
  value: unknown,
): Promise<{ readonly contentType: string; readonly body: RequestInit['body'] }> {
  await codecs.load([format]);
  const { type } = format;
  const coder = codecs.of(format, type);
  if (coder.unit === 'items' && isItems(value)) {
    const message = { format, contentType: coder.contentType?.(type) ?? type };
    return { contentType: message.contentType, body: streamOf(coder, message, value) };
  }
  if (coder.unit === 'parts') {
    const contentType = coder.contentType(type);
    return { contentType, body: coder.write(value, { format, contentType }) };
  }
  const isWritten = isReadAtOnce(coder) && !isSentAsItIs(coder, value);
  const body = isWritten ? coder.write(value, format) : value;
  return { contentType: type, body: body as RequestInit['body'] };
}

const isItems = (value: unknown): value is AsyncIterable<unknown> =>
  !(value instanceof ReadableStream) && Symbol.asyncIterator in Object(value);

/** Writes each item when the connection is ready for it. */
function streamOf(
  coder: ItemsCoder,
  message: Message,
  items: AsyncIterable<unknown>,
): ReadableStream<Uint8Array> {
  const iterator = items[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const encode = (chunk: string | Uint8Array) =>
    typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
  const close = async () => {
    await iterator.return?.();
  };
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) {
        const end = coder.end?.(message);
        if (end !== undefined) controller.enqueue(encoder.encode(end));
        return controller.close();
      }
      try {
        controller.enqueue(encode(coder.write(value, message)));
      } catch (error) {
        await close().catch(() => undefined);
        throw error;
      }
    },
    cancel: close,
  });
}

/** Reads a value as a whole, and leaves other bodies as a stream of bytes. */
export async function readBody(
  coder: Coder,
  format: BodyFormat,
  response: Response,
): Promise<unknown> {
  if (coder.unit !== 'value') return response.body;
  // Unlike a server, replaces bytes that are not UTF-8.
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return readAtOnce(coder, new Uint8Array(await response.arrayBuffer()), format, decode);
}

/** Replaces integers beyond ±(2^53−1) in JSON by the nearest doubles. */
export const withDoubles = (value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : mapMembers(value, withDoubles);
