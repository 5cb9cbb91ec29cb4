import type { Socket } from 'node:net';

/** The new connections of a server, whose first bytes are read one connection at a time. */
export class Arrivals {
  /** Paused connections. The last one is resumed first. */
  readonly #waiting: Socket[] = [];
  /** Connections that are being read and have not sent a complete header section yet. */
  readonly #withoutRequest = new Set<Socket>();
  #isScheduled = false;

  /**
   * Delays reading from a new connection. Each round of the event loop starts to read only one:
   * Node parses up to 64 KiB of each at once, which can take 10 ms. The newest connection is read
   * first, so a flood of connections does not delay the clients that connect after it.
   */
  admit(socket: Socket): void {
    this.#waiting.push(socket);
    // Delayed: Node starts to read a new connection at the end of this tick.
    process.nextTick(() => socket.pause());
    socket.once('close', () => this.#withoutRequest.delete(socket));
    this.#schedule();
  }

  /**
   * Records that the first request of a connection has arrived. If it came in a large chunk, the
   * connections without a request are queued again: if all sent large chunks at once, Node would
   * parse them in one round.
   */
  onFirstRequest(socket: Socket, isLargeChunk: boolean): void {
    this.#withoutRequest.delete(socket);
    if (!isLargeChunk || this.#withoutRequest.size === 0) return;
    for (const other of this.#withoutRequest) other.pause();
    this.#waiting.unshift(...this.#withoutRequest);
    this.#withoutRequest.clear();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#startRound());
  }

  #startRound(): void {
    this.#isScheduled = false;
    const socket = this.#waiting.pop();
    if (socket?.destroyed === false) this.#withoutRequest.add(socket.resume());
    if (this.#waiting.length > 0) this.#schedule();
  }
}
