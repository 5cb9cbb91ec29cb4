import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFailure, RejectableResponse } from '../http/failures.ts';
import { beforeHead, onBytes, onLastResponse } from '../http/node-internals.ts';
import { isLarge } from '../http/request-body.ts';
import { NO_MEMORY, type Resources } from '../http/resources.ts';
import type { Arrivals } from './arrivals.ts';
import type { Lingering } from './lingering.ts';

/** The maximum number of requests of one connection that may wait for a response. */
const MAX_REQUESTS = 64;

/** The size of a chunk that may take more than 2 ms to parse, in bytes. */
const LARGE_CHUNK = 16_384;

/** The memory of a request without its body, in bytes. */
const REQUEST_BYTES = 4_096;

/** The time limits of a connection without activity, in milliseconds. */
interface IdleLimits {
  /** Without a byte in either direction, while a request is in progress. */
  readonly idleTimeout: number;
  /** Between two requests. */
  readonly keepAliveTimeout: number;
}

/** The state that all connections of a server share. */
export interface ServerState {
  readonly arrivals: Arrivals;
  readonly lingering: Lingering;
  readonly resources: Resources;
  /** True if each connection closes after the response to its newest request. */
  isDraining: boolean;
  /** Resolves when a stop has closed the port. New requests wait for it. */
  portClosing: Promise<void> | undefined;
  readonly app: RequestListener;
  /** Sends the response to a failure, and closes the connection. */
  reject(connection: ClientConnection, response: ServerResponse, reason: HttpFailure): void;
}

/**
 * A client's connection, from its first byte until it is closed. Node may read several requests at
 * once. Each one begins after the response to the previous one.
 *
 * A chunk with many requests or many pieces of a body can take 10 ms to parse. So other connections
 * get a turn after each large chunk.
 */
export class ClientConnection {
  readonly socket: Socket;
  /** True if no further request is accepted. */
  isClosing = false;
  /** The failure of the body of the newest request, detected while the request waits. */
  bodyFailure: HttpFailure | undefined;
  /** The response that the app makes now. */
  served: RejectableResponse | undefined;
  /** The time when the connection was accepted, or when its last response was closed. */
  idleSince = performance.now();
  /** The number of requests that have arrived. */
  count = 0;
  readonly #server: ServerState;
  #newestResponse: ServerResponse | undefined;
  /** True from the start of a request until its response is closed. */
  #isAnswering = false;
  /** Functions that begin the next requests or end the connection, in order. */
  readonly #next: (() => void)[] = [];
  /** The number of requests that reserve memory of the server. */
  #reserved = 0;
  /** The position of the first request whose body has not been read. */
  #unreadFrom = 0;
  #transferredBytes = -1;
  /** The first byte of the chunk that Node parses now, as a position in the connection. */
  #chunkStart = 0;
  /** The byte after that chunk. */
  #chunkEnd = -1;
  /** True if each chunk is paced. */
  #isPaced = false;

  constructor(socket: Socket, server: ServerState) {
    this.socket = socket;
    this.#server = server;
    onLastResponse(socket, () => this.linger());
    socket.once('close', () => {
      this.#next.length = 0;
      server.resources.memory.reserve(-REQUEST_BYTES * this.#reserved);
      this.#reserved = 0;
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

  /** True if the newest request waits for the response to a previous one. */
  get isWaiting(): boolean {
    return this.#next.length > 0;
  }

  /**
   * True if a request may be late because of unfinished responses: Node stops reading while many
   * bytes wait to be written.
   */
  get waitsForResponses(): boolean {
    return this.#isAnswering && (this.isWaiting || this.#newestResponse?.req.complete === true);
  }

  /** True if no request waits for a response. */
  get #isIdle(): boolean {
    return !this.#isAnswering && !this.isWaiting;
  }

  /**
   * An upper bound of the memory of unread requests and unsent responses. Headers take up to 8
   * times their bytes, since they become separate strings.
   */
  get estimatedBytes(): number {
    const { socket, newestResponse } = this;
    const { bytesRead, writableLength } = socket;
    const isRead = !this.isWaiting && newestResponse?.req.readableDidRead === true;
    if (isRead || this.#server.lingering.has(socket)) return writableLength;
    const size = newestResponse === undefined ? 8 : 1;
    return writableLength + (bytesRead - this.#unreadFrom) * size;
  }

  /**
   * Begins a request when the responses to all previous requests are closed. Closes the connection
   * if too many requests wait, or if this request would have to wait and there is no memory for it.
   *
   * @param failure the reason to reject the request.
   */
  add(response: ServerResponse, failure?: HttpFailure): void {
    const { socket } = this;
    const { req: request } = response;
    const { arrivals, isDraining, resources } = this.#server;
    const { memory } = resources;
    const isIdle = this.#isIdle;
    const isPipelined = this.#onHead(request);
    const hasMemory = memory.reserve(REQUEST_BYTES);
    if (hasMemory) this.#reserved += 1;
    if (!isIdle && (!hasMemory || this.#next.length >= MAX_REQUESTS - 1)) {
      this.isClosing = true;
      socket.destroy();
      return;
    }
    if (!this.isWaiting) this.#unreadFrom = this.#chunkStart;
    const isLargeChunk = this.#chunkEnd - this.#chunkStart >= LARGE_CHUNK;
    if (this.count === 0) arrivals.onFirstRequest(socket, isLargeChunk);
    // The connection stays open after other responses. The decision takes 2 µs.
    if (isDraining || isLarge(request)) this.#decideAtHead(response);
    response.on('close', () => this.#onClose(request, hasMemory));
    this.#newestResponse = response;
    this.count += 1;
    const reason = hasMemory ? failure : NO_MEMORY;
    if (isIdle && !isPipelined) this.#begin(response, reason);
    else {
      // Keeps the async context of this request, which tracers use. Otherwise it would run in the
      // context of the previous request.
      this.#next.push(AsyncResource.bind(() => this.#begin(response, reason)));
      // Another request came in the same chunk, so this one takes turns with those of others.
      if (isIdle) this.#takeTurn();
    }
  }

  /**
   * Records that Node has parsed the head of a request.
   *
   * @returns true if the head of another request was in the same chunk.
   */
  #onHead({ headers }: IncomingMessage): boolean {
    const { bytesRead } = this.socket;
    const isPipelined = bytesRead === this.#chunkEnd;
    if (!isPipelined) this.#chunkStart = Math.max(0, this.#chunkEnd);
    this.#chunkEnd = bytesRead;
    const hasPieces = isPipelined || headers['transfer-encoding'] !== undefined;
    if (hasPieces && !this.#isPaced) this.#startPace();
    return isPipelined;
  }

  #startPace(): void {
    this.#isPaced = true;
    const size = this.#chunkEnd - this.#chunkStart;
    onBytes(this.socket, ({ length }) => this.#onChunk(length));
    setImmediate(() => this.#onChunk(size));
  }

  #onChunk(size: number): void {
    const { socket } = this;
    // After the end of its side, the server only drops bytes.
    if (!socket.writable) return;
    const request = this.newestResponse?.req;
    // A body without a listener for its bytes is not being read.
    const isUnread = request?.readableFlowing === null && !request.readableDidRead;
    if (request?.complete === false && isUnread && isLarge(request)) {
      // Reads on demand. Node resumes the socket itself for `readable`.
      socket.pause();
      request.once('resume', () => socket.resume());
    } else if (size >= LARGE_CHUNK && !socket.isPaused()) {
      this.#pauseForRound();
    }
  }

  /** Reads no bytes until a later round of the event loop. */
  #pauseForRound(): void {
    this.socket.pause();
    void this.#server.resources.turns.nextRound(this).then(() => this.socket.resume());
  }

  /** Passes a request to the app, or rejects it if there is a failure. */
  #begin(response: RejectableResponse, failure?: HttpFailure): void {
    const { portClosing, reject, app } = this.#server;
    this.#isAnswering = true;
    const bodyFailure = response === this.#newestResponse ? this.bodyFailure : undefined;
    const reason = bodyFailure ?? failure;
    if (portClosing !== undefined) void portClosing.then(() => this.#begin(response, failure));
    // The body may have been rejected while the request waited.
    else if (response.headersSent) return;
    else if (reason !== undefined) reject(this, response, reason);
    else {
      this.served = response;
      app(response.req, response);
    }
  }

  #onClose(request: IncomingMessage, isReserved: boolean): void {
    // The end of the connection releases all.
    if (isReserved && this.#reserved > 0) {
      this.#reserved -= 1;
      this.#server.resources.memory.reserve(-REQUEST_BYTES);
    }
    this.served = undefined;
    this.#isAnswering = false;
    this.idleSince = performance.now();
    if (this.isWaiting) {
      this.#takeTurn();
      return;
    }
    this.#unreadFrom = this.socket.bytesRead;
    // Releases the memory of the last request while the connection is idle.
    if (request.complete) this.#newestResponse = undefined;
  }

  #takeTurn(): void {
    void this.#server.resources.turns.run(this, () => this.#beginNext());
  }

  #beginNext(): void {
    // After a response with `Connection: close`, no other response can be sent.
    if (this.socket.writable) this.#next.shift()?.();
  }

  /** Decides whether the connection stays open when Node writes the head of a response. */
  #decideAtHead(response: ServerResponse): void {
    beforeHead(response, () => {
      if (this.#isLast(response)) this.closeAfter(response);
    });
  }

  #isLast(response: ServerResponse): boolean {
    const { req: request } = response;
    const isNewest = response === this.newestResponse;
    // To read the rest of a large body would take too long.
    return (this.#server.isDraining && isNewest) || (!request.complete && isLarge(request));
  }

  /** Closes the connection after the response to its newest request. */
  drain(): void {
    const { newestResponse } = this;
    if (newestResponse !== undefined) this.#decideAtHead(newestResponse);
  }

  /** Calls `last` when the responses to all requests are closed. Ignores later requests. */
  end(last: () => void): void {
    this.isClosing = true;
    const isIdle = this.#isIdle;
    this.#next.push(() => {
      this.#isAnswering = true;
      last();
    });
    if (isIdle) this.#beginNext();
  }

  /** Closes the connection after a response that has not started. Ignores later requests. */
  closeAfter(response: ServerResponse): void {
    this.isClosing = true;
    // Node then writes `Connection: close`.
    response.shouldKeepAlive = false;
  }

  /** Closes the connection after its last response. */
  linger(): void {
    this.isClosing = true;
    const request = this.newestResponse?.req;
    // Node forgets a request when its response is sent, and would let its readers wait forever.
    if (request?.complete === false) this.socket.once('close', () => request.destroy());
    this.#server.lingering.add(this.socket, () => this.#pauseForRound());
  }

  /** Closes the connection without a response to its requests. */
  cutOff(failure: HttpFailure): void {
    if (this.served !== undefined) this.served.failure = failure;
    this.socket.destroy();
  }

  /**
   * Calls `onLate` if no further request arrives within `timeout` milliseconds after the newest
   * response is closed.
   */
  watch(timeout: number, onLate: () => void): void {
    const { count, newestResponse } = this;
    newestResponse?.once('close', () => {
      const timer = setTimeout(() => {
        if (this.count === count) onLate();
      }, timeout);
      this.socket.once('close', () => clearTimeout(timer));
    });
  }

  /**
   * Returns the time until the next check, in milliseconds; 0 if the connection has been idle for
   * too long, the client does not read, or no byte was transferred since the last check. Called
   * after each such time without activity, at first after half of the idle timeout.
   */
  timeLeft({ idleTimeout, keepAliveTimeout }: IdleLimits): number {
    if (this.newestResponse === undefined) {
      const left = this.idleSince + keepAliveTimeout - performance.now();
      return left < 1 ? 0 : Math.max(left, idleTimeout / 2);
    }
    const bytesBefore = this.#transferredBytes;
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    this.#transferredBytes = bytesRead + bytesWritten;
    const isStuck = writableLength > 0 || this.#transferredBytes === bytesBefore;
    return isStuck ? 0 : idleTimeout / 2;
  }
}
