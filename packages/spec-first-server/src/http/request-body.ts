import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasSentContinue } from './node-internals.ts';

/**
 * Yields the bytes of a request as they arrive. Unlike the iterator of Node's streams, it never
 * closes the connection, since the response is still to be sent.
 *
 * @param nextRound see `Turns`.
 * @throws {Error} if the request is cut off.
 */
export async function* requestBody(
  request: IncomingMessage,
  response: ServerResponse,
  nextRound: () => Promise<void>,
): AsyncGenerator<Uint8Array, undefined> {
  continueRequest(request, response);
  try {
    for await (const first of request.iterator({ destroyOnReturn: false })) {
      const rest = readAll(request);
      yield rest === null ? first : Buffer.concat([first, rest]);
      // The next bytes may be thousands of tiny chunks, which take long to parse.
      if (!request.complete) await nextRound();
    }
  } finally {
    // Drops the rest of the body, so that the connection stays usable.
    request.removeAllListeners('readable').resume();
  }
}

/** Returns true if a request has bytes: a length above 0 or a transfer coding (RFC 9112 §6). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * The maximum size of a body that is read and dropped if the app does not read it, in bytes. After
 * a larger one, the connection closes.
 */
const SMALL_BODY = 65_536;

/** Returns true if a body has more than 64 KiB, or an unknown length. */
export const isLarge = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > SMALL_BODY;

/** Returns all bytes of a body that have arrived, in one buffer; `null` if there are none. */
export function readAll(request: IncomingMessage): Buffer | null {
  const first: Buffer | null = request.read();
  if (first === null || request.readableLength === 0) return first;
  // `read(readableLength)` would raise the `highWaterMark` of the stream.
  const chunks = [first];
  for (;;) {
    const chunk: Buffer | null = request.read();
    if (chunk === null) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}

/**
 * Sends `100 Continue` if the client waits for it. Without it, Node would close the connection
 * after the response.
 */
export function continueRequest(request: IncomingMessage, response: ServerResponse): void {
  const { headers, httpVersion } = request;
  // An expectation from HTTP/1.0 is ignored (RFC 9110 §10.1.1).
  if (headers.expect === undefined || httpVersion === '1.0' || response.headersSent) return;
  // A server without a listener for `checkContinue` sends it before it emits `request`.
  if (hasSentContinue(response)) return;
  response.writeContinue();
}
