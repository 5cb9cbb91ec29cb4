import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isLarge } from '../http/request-body.ts';

/** The size of a chunk that may take more than 2 ms to parse, in bytes. */
const LARGE_CHUNK = 16_384;

/**
 * Gives other connections a turn after each large chunk of one connection. A chunk with many
 * requests or many pieces of a body can take 10 ms to parse.
 */
export class Pace {
  /** The first byte of the chunk that Node parses now, as a position in the connection. */
  chunkStart = 0;
  /** The byte after that chunk. */
  #chunkEnd = -1;
  #isPaced = false;
  readonly #socket: Socket;
  readonly #nextRound: () => Promise<void>;
  readonly #unsentRequest: () => IncomingMessage | undefined;

  /**
   * @param nextRound see `Turns`.
   * @param unsentRequest returns the newest request, if its response is not sent yet.
   */
  constructor(
    socket: Socket,
    nextRound: () => Promise<void>,
    unsentRequest: () => IncomingMessage | undefined,
  ) {
    this.#socket = socket;
    this.#nextRound = nextRound;
    this.#unsentRequest = unsentRequest;
  }

  get isLargeChunk(): boolean {
    return this.#chunkEnd - this.chunkStart >= LARGE_CHUNK;
  }

  /**
   * Records that Node has parsed the head of a request.
   *
   * @returns true if the head of another request was in the same chunk.
   */
  onHead(request: IncomingMessage): boolean {
    const { bytesRead } = this.#socket;
    const isPipelined = bytesRead === this.#chunkEnd;
    if (!isPipelined) this.chunkStart = Math.max(0, this.#chunkEnd);
    this.#chunkEnd = bytesRead;
    const hasPieces = isPipelined || request.headers['transfer-encoding'] !== undefined;
    if (hasPieces && !this.#isPaced) this.#start();
    return isPipelined;
  }

  #start(): void {
    this.#isPaced = true;
    const size = this.#chunkEnd - this.chunkStart;
    this.#socket.on('data', (chunk: Buffer) => this.#onChunk(chunk.length));
    setImmediate(() => this.#onChunk(size));
  }

  #onChunk(size: number): void {
    const socket = this.#socket;
    // After the end of its side, the server only drops bytes.
    if (!socket.writable) return;
    const request = this.#unsentRequest();
    // A body without a listener for its bytes is not being read.
    const isUnread = request?.readableFlowing === null && !request.readableDidRead;
    if (request?.complete === false && isUnread && isLarge(request)) {
      readOnDemand(request, socket);
    } else if (size >= LARGE_CHUNK && !socket.isPaused()) {
      this.pauseForRound();
    }
  }

  /** Reads no bytes until a later round of the event loop. */
  pauseForRound(): void {
    this.#socket.pause();
    void this.#nextRound().then(() => this.#socket.resume());
  }
}

/** Pauses a body until the app reads it. Node resumes the socket itself for `readable`. */
function readOnDemand(request: IncomingMessage, socket: Socket): void {
  socket.pause();
  request.once('resume', () => socket.resume());
}
