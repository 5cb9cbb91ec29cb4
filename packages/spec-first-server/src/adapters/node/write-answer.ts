import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Answer } from '../../core/call.ts';
import { closeItems } from '../../core/response/item-body.ts';

type Stream = Exclude<Answer['body'], string | Uint8Array | undefined>;

/** Writes an answer, unless a response has already started. */
export function writeAnswer(response: ServerResponse, answer: Answer): Promise<void> | undefined {
  const { status, headers, body } = answer;
  if (response.headersSent) {
    discardBody(body);
    return undefined;
  }
  // One call with a flat list: setHeader for each header would take 4 µs more.
  response.writeHead(status, headers);
  return writeBody(response, body);
}

export function discardBody(body: Answer['body']): void {
  if (isStream(body)) closeItems(body);
}

export function writeBody(
  response: ServerResponse,
  body: Answer['body'],
): Promise<void> | undefined {
  if (typeof body === 'string') {
    // To write UTF-8, Node allocates three times the length of the text.
    const isAscii = Buffer.byteLength(body) === body.length;
    response.end(body, isAscii ? 'latin1' : 'utf8');
  } else if (isStream(body)) return writeStream(response, body);
  else response.end(body);
  return undefined;
}

const isStream = (body: Answer['body']): body is Stream =>
  typeof body === 'object' && !(body instanceof Uint8Array);

/** Writes a stream as fast as the client reads. Closes the connection if the stream fails. */
async function writeStream(response: ServerResponse, body: Stream): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  if (response.destroyed) return closeItems(body, chunks);
  response.once('close', () => {
    if (!response.writableFinished) closeItems(body, chunks);
  });
  // Delayed, so that headers and first chunk share a TCP segment if the chunk is ready.
  const opening = setImmediate(() => response.flushHeaders());
  try {
    await pipeline({ [Symbol.asyncIterator]: () => chunks }, response);
  } catch {
    // The pipeline has destroyed the response.
  } finally {
    clearImmediate(opening);
  }
}
