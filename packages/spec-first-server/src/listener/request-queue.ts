import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The maximum number of requests of one connection that may wait for a response. */
const MAX_REQUESTS = 64;

/**
 * The requests of a connection. Node may read several at once. Each one begins after the response
 * to the previous one.
 */
export class RequestQueue {
  /** The time when the connection was accepted, or when its last response was closed. */
  idleSince = performance.now();
  /** The number of requests that have arrived. */
  count = 0;
  readonly #socket: Socket;
  readonly #inTurn: (work: () => void) => unknown;
  #newestResponse: ServerResponse | undefined;
  /** True from the start of a request until its response is closed. */
  #isAnswering = false;
  /** Functions that begin the next requests or end the connection, in order. */
  readonly #next: (() => void)[] = [];

  /** @param inTurn see `Turns.run`. */
  constructor(socket: Socket, inTurn: (work: () => void) => unknown) {
    this.#socket = socket;
    this.#inTurn = inTurn;
    socket.once('close', () => {
      this.#next.length = 0;
    });
  }

  /**
   * The newest response; `undefined` once it is sent and its request is complete. A response may be
   * sent before the request body has arrived.
   */
  get newestResponse(): ServerResponse | undefined {
    return this.isIdle && this.#newestResponse?.req.complete !== false
      ? undefined
      : this.#newestResponse;
  }

  /** True if no request waits for a response. */
  get isIdle(): boolean {
    return !this.#isAnswering && !this.isWaiting;
  }

  /** True if the newest request waits for the response to a previous one. */
  get isWaiting(): boolean {
    return this.#next.length > 0;
  }

  get isFull(): boolean {
    return this.#next.length >= MAX_REQUESTS - 1;
  }

  /**
   * True if a request may be late because of unfinished responses: Node stops reading while many
   * bytes wait to be written.
   */
  get waitsForResponses(): boolean {
    return this.#isAnswering && (this.isWaiting || this.#newestResponse?.req.complete === true);
  }

  /**
   * Calls `begin` when the responses to all previous requests are closed.
   *
   * @param isPipelined true if another request came in the same chunk. This one then takes turns
   *   with the requests of other connections.
   */
  add(response: ServerResponse, begin: () => void, isPipelined: boolean): void {
    const isFirst = this.isIdle;
    this.#newestResponse = response;
    this.count += 1;
    if (isFirst && !isPipelined) {
      this.#isAnswering = true;
      begin();
    } else {
      // Keeps the async context of this request, which tracers use. Otherwise it would run in the
      // context of the previous request.
      this.#next.push(AsyncResource.bind(begin));
      if (isFirst) this.#takeTurn();
    }
  }

  /** Calls `last` when the responses to all requests are closed. */
  end(last: () => void): void {
    const isIdle = this.isIdle;
    this.#next.push(last);
    if (isIdle) this.#beginNext();
  }

  /** Begins the next request, since the response to the previous one is closed. */
  continue(): void {
    this.#isAnswering = false;
    this.idleSince = performance.now();
    // Releases the memory of the last request while the connection is idle.
    this.#newestResponse = this.newestResponse;
    if (this.isWaiting) this.#takeTurn();
  }

  #takeTurn(): void {
    void this.#inTurn(() => this.#beginNext());
  }

  #beginNext(): void {
    // After a response with `Connection: close`, no other response can be sent.
    if (!this.#socket.writable) return;
    this.#isAnswering = true;
    this.#next.shift()?.();
  }
}
