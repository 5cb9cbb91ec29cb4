import type { Socket } from 'node:net';
import { onBytes, stopParsing } from '../http/node-internals.ts';

/** The maximum number of connections of a server that linger at the same time. */
const MAX_LINGERING = 256;

/** The maximum number of bytes that are read and dropped after the last response. */
const MAX_DROPPED = 64 * 1024 ** 2;

/** The time limits of a lingering connection, in milliseconds. */
export interface LingerLimits {
  /** Without a byte from the client. */
  readonly lingerTimeout: number;
  /** In all. */
  readonly maxLinger: number;
}

/**
 * The connections whose last response is sent. Their further bytes are read and dropped: if the
 * server closed a connection with unread bytes, the client would get a reset, and could lose the
 * response (RFC 9112 §9.6). Some clients and proxies read the response only after they have sent
 * the whole body.
 */
export class Lingering {
  /** In the order of their last responses. */
  readonly #sockets = new Set<Socket>();
  readonly #limits: LingerLimits;

  constructor(limits: LingerLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sockets.size;
  }

  has(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  /**
   * Ends the server's side of a connection, and waits for the end of the client's side.
   *
   * @param pause reads no bytes until a later round of the event loop.
   */
  add(socket: Socket, pause: () => void): void {
    const [oldest] = this.#sockets;
    if (this.#sockets.size >= MAX_LINGERING) oldest?.destroy();
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), this.#limits.maxLinger);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    socket.setTimeout(this.#limits.lingerTimeout, () => socket.destroy());
    socket.end();
    dropBytes(socket, pause);
  }
}

function dropBytes(socket: Socket, pause: () => void): void {
  const maxBytesRead = socket.bytesRead + MAX_DROPPED;
  stopParsing(socket);
  onBytes(socket, () => {
    if (socket.bytesRead > maxBytesRead) socket.destroy();
    else pause();
  });
  // Node may parse the rest of the last chunk, and pause at the body of a further request.
  setImmediate(() => socket.resume());
}
