import type { Socket } from 'node:net';

/** Loaded without `import`, which would also load HTTP/2 and undici, and take 40 ms. */
export const http = process.getBuiltinModule('node:http');

/**
 * A request of a server of `listen`. If its connection is closed, it has the mark of an upgrade,
 * which Node does not queue: one chunk may contain 2,400 further requests, and Node would create a
 * response and an error for each of them.
 */
export class ServerRequest extends http.IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    // Node sets the property when it has parsed the headers.
    if (socket.destroyed)
      Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
  }
}
