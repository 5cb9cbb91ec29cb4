import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Resources } from '../../core/account.ts';
import type { HttpError } from '../../core/response/http-error.ts';
import { onFirstRequest } from './arrivals.ts';
import { hasBody, readAll } from './request-body.ts';

/** The maximum number of requests of one connection that may wait for a response. */
const MAX_REQUESTS = 64;

/** The memory of a request without its body, in bytes. */
const REQUEST_BYTES = 4_096;

/** The size of a chunk that may take more than 2 ms to parse, in bytes. */
const LARGE_CHUNK = 16_384;

/**
 * The maximum size of a body that is read and dropped if the app does not read it, in bytes. After
 * a larger one, the connection closes.
 */
const SMALL_BODY = 65_536;

/**
 * The maximum number of connections of this process that linger at the same time. Each can hold 64
 * KiB.
 */
const MAX_LINGERING = 256;

let lingering = 0;

/**
 * A client's connection. Node may read several requests at once. Each one starts after the response
 * to the previous one.
 */
export class ClientConnection {
  /** The time when the connection was accepted, or when its last response was closed. */
  idleSince = performance.now();
  /** The number of requests that have arrived. */
  requestCount = 0;
  /** True if the connection closes after the newest request. */
  closing = false;
  /** A fault in the body of the newest request, detected while the request waits. */
  fault: HttpError | undefined;
  /** True while the app answers a request. */
  isServing = false;
  readonly socket: Socket;
  readonly #resources: Resources;
  readonly #lingerTimeout: number;
  #newestResponse: ServerResponse | undefined;
  /** True from the start of a request until its response is closed. */
  #isAnswering = false;
  /** Functions that begin the next requests or end the connection, in order. */
  readonly #next: (() => void)[] = [];
  /** Bytes of the shared budget that its requests reserve. */
  #reservedBytes = 0;
  /**
   * The start and the end of the chunk that Node parses now, as positions in the bytes of the
   * connection.
   */
  #chunkStart = 0;
  #chunkEnd = -1;
  #isPaced = false;
  /** The position of the first request whose body has not been read. */
  #unreadFrom = 0;
  /** True if the request at `#unreadFrom` or a later one has a chunked body. */
  #hasChunks = false;
  #transferredBytes = -1;

  /** @param lingerTimeout see {@link linger}, in milliseconds. */
  constructor(socket: Socket, lingerTimeout: number, resources: Resources) {
    this.socket = socket;
    this.#resources = resources;
    this.#lingerTimeout = lingerTimeout;
    socket.once('close', () => {
      this.#next.length = 0;
      this.#release(this.#reservedBytes);
    });
  }

  /** The client's address, or that of a proxy: the connection takes turns with those of others. */
  get caller(): string {
    return this.socket.remoteAddress ?? '';
  }

  /**
   * The newest response; `undefined` once it is sent and its request is complete. A response may be
   * sent before the request body has arrived.
   */
  get newestResponse(): ServerResponse | undefined {
    return this.#isIdle && this.#newestResponse?.req.complete !== false
      ? undefined
      : this.#newestResponse;
  }

  /** True if no request waits for a response. */
  get #isIdle(): boolean {
    return !this.#isAnswering && this.#next.length === 0;
  }

  /**
   * An upper bound of the memory of unread requests and unsent responses. Headers take up to 8
   * times their bytes, since they become separate strings. A chunk of one byte is sent as 6 bytes
   * and takes 250 bytes of memory.
   */
  get estimatedBytes(): number {
    const { bytesRead, writableLength } = this.socket;
    const { newestResponse } = this;
    if (this.#next.length === 0 && newestResponse?.req.readableDidRead === true)
      return writableLength;
    const factor = newestResponse === undefined ? 8 : 1;
    return writableLength + (bytesRead - this.#unreadFrom) * (this.#hasChunks ? 50 : factor);
  }

  /**
   * Gives other connections a turn after each large chunk. A chunk with many requests or many
   * pieces of a body can take 10 ms to parse.
   */
  #pace(): void {
    this.#isPaced = true;
    const size = this.#chunkEnd - this.#chunkStart;
    this.socket.on('data', (chunk: Buffer) => this.#onChunk(chunk.length));
    setImmediate(() => this.#onChunk(size));
  }

  #onChunk(size: number): void {
    if (this.socket.destroyed || this.closing) return;
    const request = this.newestResponse?.req;
    // A body without a listener for its bytes is not being read.
    const isUnread = request?.readableFlowing === null && !request.readableDidRead;
    if (request?.complete === false && isUnread && isLarge(request)) {
      readOnDemand(request, this.socket);
    } else if (size >= LARGE_CHUNK && !this.socket.isPaused()) {
      this.#pauseForRound();
    }
  }

  /**
   * Calls `begin` when the responses to all previous requests are closed. Closes the connection if
   * too many requests wait, or if this request would have to wait and there is no memory for it.
   *
   * @param begin called with true if there is memory for the request.
   */
  add(response: ServerResponse, begin: (hasMemory: boolean) => void): void {
    const hasMemory = this.#resources.memory.reserve(REQUEST_BYTES);
    if (hasMemory) this.#reservedBytes += REQUEST_BYTES;
    const isFirst = this.#isIdle;
    const { bytesRead } = this.socket;
    const isPipelined = bytesRead === this.#chunkEnd;
    if (!isPipelined) this.#chunkStart = Math.max(0, this.#chunkEnd);
    this.#chunkEnd = bytesRead;
    if (!isFirst && (!hasMemory || this.#next.length >= MAX_REQUESTS - 1)) {
      this.closing = true;
      destroyCheaply(this.socket);
      return;
    }
    this.#newestResponse = response;
    if (this.requestCount === 0) onFirstRequest(this.socket, bytesRead >= LARGE_CHUNK);
    this.requestCount += 1;
    if (this.#next.length === 0) this.#unreadFrom = this.#chunkStart;
    const hasChunks = response.req.headers['transfer-encoding'] !== undefined;
    if (hasChunks) this.#hasChunks = true;
    if ((isPipelined || hasChunks) && !this.#isPaced) this.#pace();
    response.on('close', () => this.#onClose(hasMemory));
    if (isFirst && !isPipelined) {
      this.#isAnswering = true;
      begin(hasMemory);
    } else {
      // Keeps the async context of this request, which tracers use. Otherwise it would run in the
      // context of the previous request.
      this.#next.push(AsyncResource.bind(() => begin(hasMemory)));
      if (isFirst) this.#takeTurn();
    }
  }

  /** Calls `last` when the responses to all requests are closed. Ignores later requests. */
  end(last: () => void): void {
    const isIdle = this.#isIdle;
    this.closing = true;
    this.#next.push(last);
    if (isIdle) this.#beginNext();
  }

  /** Closes the connection after a response, unless it has started. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    this.closing = true;
    response.setHeader('Connection', 'close');
  }

  /**
   * Closes the connection after a response, once the request is complete. An earlier end would
   * reset a client that still sends.
   */
  closeAfterBody(response: ServerResponse): void {
    const { req: request } = response;
    if (request.complete || !hasBody(request)) this.closeAfter(response);
    else request.once('end', () => this.closeAfter(response));
  }

  /**
   * Closes the connection after its last response. Reads and drops further bytes until
   * `lingerTimeout`: otherwise the client could get a reset before it has read the response (RFC
   * 9112 §9.6).
   */
  linger(): void {
    const { socket } = this;
    this.closing = true;
    socket.end();
    lingering += 1;
    const timer = setTimeout(() => socket.destroy(), this.#lingerTimeout);
    socket.once('close', () => {
      lingering -= 1;
      clearTimeout(timer);
    });
    if (lingering > MAX_LINGERING) socket.once('finish', () => socket.destroy());
    // Removes the listener of Node's parser, so that no further bytes are parsed.
    socket.removeAllListeners('data').on('data', () => this.#pauseForRound());
    socket.resume();
  }

  /** True if the newest request waits for the answer to a previous one. */
  get isQueued(): boolean {
    return this.#next.length > 0;
  }

  /**
   * True if a request may be late because of unfinished responses: Node stops reading while many
   * bytes wait to be written.
   */
  get waitsForAnswers(): boolean {
    return (
      this.#isAnswering && (this.#next.length > 0 || this.#newestResponse?.req.complete === true)
    );
  }

  /**
   * Calls `onLate` if no further request arrives within `timeout` milliseconds after the newest
   * response is closed.
   */
  watch(timeout: number, onLate: () => void): void {
    const count = this.requestCount;
    this.#newestResponse?.once('close', () => {
      const timer = setTimeout(() => {
        if (this.requestCount === count) onLate();
      }, timeout);
      this.socket.once('close', () => clearTimeout(timer));
    });
  }

  /**
   * Returns true if the connection is idle, the client does not read, or no byte was transferred
   * since the last call. Called after each half of the idle timeout without activity.
   */
  isStuck(): boolean {
    const bytesBefore = this.#transferredBytes;
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    const bytes = bytesRead + bytesWritten;
    this.#transferredBytes = bytes;
    return this.newestResponse === undefined || writableLength > 0 || bytes === bytesBefore;
  }

  #onClose(hasMemory: boolean): void {
    if (hasMemory) this.#release(REQUEST_BYTES);
    this.#isAnswering = false;
    this.isServing = false;
    this.idleSince = performance.now();
    // Releases the memory of the last request while the connection is idle.
    this.#newestResponse = this.newestResponse;
    if (this.#next.length > 0) {
      this.#takeTurn();
    } else {
      this.#unreadFrom = this.socket.bytesRead;
      this.#hasChunks = false;
    }
  }

  #takeTurn(): void {
    void this.#resources.turns.run(this, () => this.#beginNext());
  }

  #beginNext(): void {
    // After a response with `Connection: close`, no other response can be sent.
    if (!this.socket.writable) return;
    this.#isAnswering = true;
    this.#next.shift()?.();
  }

  #release(bytes: number): void {
    const released = Math.min(bytes, this.#reservedBytes);
    this.#reservedBytes -= released;
    this.#resources.memory.release(released);
  }

  #pauseForRound(): void {
    this.socket.pause();
    void this.#resources.turns.nextRound(this).then(() => this.socket.resume());
  }
}

/**
 * Destroys a socket. Node creates an error for each of its requests. The stack traces of many
 * errors would take 10 ms, so they are turned off.
 */
function destroyCheaply(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  socket.destroy();
}

/**
 * Pauses a body until the app reads it. Joins the pieces that have arrived: a piece of one byte
 * takes 250 bytes of memory.
 */
function readOnDemand(request: IncomingMessage, socket: Socket): void {
  const bytes = readAll(request);
  if (bytes !== null) request.unshift(bytes);
  socket.pause();
  const resume = (): void => {
    request.off('newListener', onListener);
    socket.resume();
  };
  const onListener = (event: string | symbol): void => {
    if (event === 'data' || event === 'readable') resume();
  };
  request.on('newListener', onListener).once('resume', resume);
}

export const isLarge = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > SMALL_BODY;
