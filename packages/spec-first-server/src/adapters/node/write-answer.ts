import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Answer } from '../../core/call.ts';
import { closeItems } from '../../core/response/item-body.ts';

type Stream = Exclude<Answer['body'], string | Uint8Array | undefined>;

/** Writes an answer, unless a response was already sent. Resolves when it is written. */
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

/** Ends a stream that is not written. */
export function discardBody(body: Answer['body']): void {
  if (isStream(body)) closeItems(body);
}

/** Writes a body after its headers. Resolves when it is written or the client has disconnected. */
export function writeBody(
  response: ServerResponse,
  body: Answer['body'],
): Promise<void> | undefined {
  if (isStream(body)) return writeStream(response, body);
  if (typeof body === 'string') {
    // Node takes three times the memory of a text to write it as UTF-8.
    const isAscii = Buffer.byteLength(body) === body.length;
    response.end(body, isAscii ? 'latin1' : 'utf8');
  } else response.end(body);
  return undefined;
}

const isStream = (body: Answer['body']): body is Stream =>
  typeof body === 'object' && !(body instanceof Uint8Array);

/** Writes a stream as fast as the client reads. Closes the connection if the stream fails. */
async function writeStream(response: ServerResponse, body: Stream): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  const disconnected = new AbortController();
  const onClose = (): void => {
    disconnected.abort();
    closeItems(body, chunks);
  };
  if (response.destroyed) return onClose();
  response.once('close', onClose);
  // Delayed, so that headers and first chunk share a segment if the chunk is ready.
  const opening = setImmediate(() => response.flushHeaders());
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (disconnected.signal.aborted) return;
      if (done) break;
      if (!response.write(value)) await once(response, 'drain', { signal: disconnected.signal });
    }
    response.off('close', onClose).end();
  } catch {
    response.destroy();
  } finally {
    clearImmediate(opening);
  }
}
