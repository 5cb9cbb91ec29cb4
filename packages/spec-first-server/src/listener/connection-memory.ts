import type { Socket } from 'node:net';
import type { Memory } from './resources.ts';

/** The memory of a request without its body, in bytes. */
const REQUEST_BYTES = 4_096;

/** The memory that the requests of a connection take before the app reads them. */
export class ConnectionMemory {
  readonly #socket: Socket;
  readonly #memory: Memory;
  /** The bytes of the server's memory that its requests reserve. */
  #reservedBytes = 0;
  /** The position of the first request whose body has not been read. */
  #unreadFrom = 0;

  constructor(socket: Socket, memory: Memory) {
    this.#socket = socket;
    this.#memory = memory;
    socket.once('close', () => this.#release(this.#reservedBytes));
  }

  /** Reserves the memory of one request. @returns false if there is none left. */
  reserve(): boolean {
    const hasMemory = this.#memory.reserve(REQUEST_BYTES);
    if (hasMemory) this.#reservedBytes += REQUEST_BYTES;
    return hasMemory;
  }

  releaseRequest(): void {
    this.#release(REQUEST_BYTES);
  }

  /** Counts the bytes from a position on. By default, from the next byte that arrives. */
  countFrom(position = this.#socket.bytesRead): void {
    this.#unreadFrom = position;
  }

  /**
   * Returns an upper bound of the memory of unread requests. Headers take up to 8 times their
   * bytes, since they become separate strings.
   */
  estimate(areHeaders: boolean): number {
    return (this.#socket.bytesRead - this.#unreadFrom) * (areHeaders ? 8 : 1);
  }

  #release(bytes: number): void {
    const released = Math.min(bytes, this.#reservedBytes);
    this.#reservedBytes -= released;
    this.#memory.release(released);
  }
}
