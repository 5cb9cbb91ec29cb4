import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes } from '../../core/call.ts';
import { nextRound } from '../../core/turns.ts';

type Result = IteratorResult<Bytes, undefined>;

const DONE: Result = { done: true, value: undefined };

/**
 * The bytes of a request as they arrive. Unlike the iterator of Node's streams, it never closes the
 * connection, since the response is still to be sent.
 */
export class RequestBody implements AsyncIterableIterator<Bytes, undefined> {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #hasBegun = false;
  #hasRead = false;
  #error: Error | undefined;
  /** Resolves the promise that waits for bytes. */
  #wake = (): void => undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  /** @throws {Error} if the request is cut off, or the response is over. */
  async next(): Promise<Result> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      continueRequest(this.#request, this.#response);
      this.#listen();
    }
    // The next bytes may be thousands of tiny chunks, which take long to parse.
    if (this.#hasRead && !this.#request.complete) await nextRound();
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const chunk = readAll(this.#request);
      if (chunk !== null) {
        this.#hasRead = true;
        return { done: false, value: chunk };
      }
      if (this.#request.complete) return DONE;
      if (this.#request.destroyed) throw new Error('the request was cut off');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<Result> {
    this.#discard();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #listen(): void {
    const wake = (): void => this.#wake();
    const discard = (): void => this.#discard();
    this.#request.on('readable', wake).on('close', wake);
    this.#request.on('error', (error) => {
      this.#error = error;
      wake();
    });
    // The server resumes a request that it rejects, to drop the rest.
    this.#request.once('resume', discard);
    this.#response.once('close', discard);
  }

  /** Drops the rest of the body, so that the connection stays usable. */
  #discard(): void {
    if (this.#error !== undefined) return;
    this.#error = new Error('the response is over');
    this.#request.removeAllListeners('readable').resume();
    this.#wake();
  }
}

/** Returns true if a request has a body: a length or a transfer coding (RFC 9112 §6). */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Returns all bytes of a body that have arrived, in one buffer. */
export function readAll(request: IncomingMessage): Buffer | null {
  const first: Buffer | null = request.read();
  if (first === null || request.readableLength === 0) return first;
  // `read(readableLength)` would make Node buffer more each time.
  const chunks = [first];
  for (;;) {
    const chunk: Buffer | null = request.read();
    if (chunk === null) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}

/**
 * Sends `100 Continue` if the client waits for it. Otherwise Node would close the connection after
 * the response.
 */
export function continueRequest(request: IncomingMessage, response: ServerResponse): void {
  const { headers, httpVersion } = request;
  // An expectation from HTTP/1.0 is ignored (RFC 9110 §10.1.1).
  if (headers.expect === undefined || httpVersion === '1.0' || response.headersSent) return;
  // A server without a listener for `checkContinue` has sent it before the request. Only this
  // undocumented property of Node tells.
  if ('_sent100' in response && response._sent100 === true) return;
  response.writeContinue();
}
