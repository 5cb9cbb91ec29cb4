import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpFailure, RejectableResponse } from '../http/failures.ts';
import { isLarge } from '../http/request-body.ts';
import type { Arrivals } from './arrivals.ts';
import { ConnectionMemory } from './connection-memory.ts';
import type { Lingering } from './lingering.ts';
import { Pace } from './pace.ts';
import { RequestQueue } from './request-queue.ts';
import type { Resources } from './resources.ts';

/** The state that all connections of a server share. */
export interface ServerState {
  readonly arrivals: Arrivals;
  readonly lingering: Lingering;
  readonly resources: Resources;
  /** True if each connection closes after the response to its newest request. */
  isDraining: boolean;
}

/** A client's connection, from its first byte until it is closed. */
export class ClientConnection {
  readonly socket: Socket;
  readonly requests: RequestQueue;
  /** True if no further request is accepted. */
  isClosing = false;
  /** The failure of the body of the newest request, detected while the request waits. */
  bodyFailure: HttpFailure | undefined;
  /** The response that the app makes now. */
  served: RejectableResponse | undefined;
  readonly #server: ServerState;
  readonly #pace: Pace;
  readonly #memory: ConnectionMemory;
  #transferredBytes = -1;

  constructor(socket: Socket, server: ServerState) {
    this.socket = socket;
    this.#server = server;
    const { memory, turns } = server.resources;
    this.requests = new RequestQueue(socket, (work) => turns.run(this, work));
    this.#memory = new ConnectionMemory(socket, memory);
    this.#pace = new Pace(
      socket,
      () => turns.nextRound(this),
      () => this.requests.newestResponse?.req,
    );
    // Node calls it after each response with `Connection: close`.
    socket.destroySoon = () => this.linger();
  }

  /** The client's address, or that of a proxy: the connection takes turns with those of others. */
  get caller(): string {
    return this.socket.remoteAddress ?? '';
  }

  /** An upper bound of the memory of unread requests and unsent responses. */
  get estimatedBytes(): number {
    const { writableLength } = this.socket;
    const { isWaiting, newestResponse } = this.requests;
    const isRead = !isWaiting && newestResponse?.req.readableDidRead === true;
    if (isRead || this.#server.lingering.has(this.socket)) return writableLength;
    return writableLength + this.#memory.estimate(newestResponse === undefined);
  }

  /**
   * Calls `begin` when the responses to all previous requests are closed. Closes the connection if
   * too many requests wait, or if this request would have to wait and there is no memory for it.
   *
   * @param begin called with true if there is memory for the request.
   */
  add(response: ServerResponse, begin: (hasMemory: boolean) => void): void {
    const { socket, requests } = this;
    const { req: request } = response;
    const isPipelined = this.#pace.onHead(request);
    const hasMemory = this.#memory.reserve();
    if (!requests.isIdle && (!hasMemory || requests.isFull)) {
      this.isClosing = true;
      socket.destroy();
      return;
    }
    if (!requests.isWaiting) this.#memory.countFrom(this.#pace.chunkStart);
    if (requests.count === 0) this.#server.arrivals.onFirstRequest(socket, this.#pace.isLargeChunk);
    // The connection stays open after other responses. The decision takes 2 µs.
    if (isLarge(request) || this.#server.isDraining) this.#decideAtHead(response);
    response.on('close', () => {
      if (hasMemory) this.#memory.releaseRequest();
      if (!requests.isWaiting) this.#memory.countFrom();
      this.served = undefined;
      requests.continue();
    });
    requests.add(response, () => begin(hasMemory), isPipelined);
  }

  /**
   * Decides whether the connection stays open when Node writes the head of a response. All apps and
   * frameworks call `writeHead`, at least through Node.
   */
  #decideAtHead(response: ServerResponse): void {
    const { writeHead } = response;
    response.writeHead = (status: number, ...rest: unknown[]) => {
      if (this.#isLast(response)) this.closeAfter(response);
      return Reflect.apply(writeHead, response, [status, ...rest]);
    };
  }

  #isLast(response: ServerResponse): boolean {
    const { req: request } = response;
    const isNewest = response === this.requests.newestResponse;
    // To read the rest of a large body would take too long.
    return (this.#server.isDraining && isNewest) || (!request.complete && isLarge(request));
  }

  /** Closes the connection after the response to its newest request. */
  drain(): void {
    const { newestResponse } = this.requests;
    if (newestResponse !== undefined) this.#decideAtHead(newestResponse);
  }

  /** Calls `last` when the responses to all requests are closed. Ignores later requests. */
  end(last: () => void): void {
    this.isClosing = true;
    this.requests.end(last);
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
    const request = this.requests.newestResponse?.req;
    // Node forgets a request when its response is sent, and would let its readers wait forever.
    if (request?.complete === false) this.socket.once('close', () => request.destroy());
    this.#server.lingering.add(this.socket, this.#pace);
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
    const { count, newestResponse } = this.requests;
    newestResponse?.once('close', () => {
      const timer = setTimeout(() => {
        if (this.requests.count === count) onLate();
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
    return (
      this.requests.newestResponse === undefined || writableLength > 0 || bytes === bytesBefore
    );
  }
}
