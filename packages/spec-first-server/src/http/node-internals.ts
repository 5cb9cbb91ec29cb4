/**
 * All that this package changes or reads in Node's HTTP server without a documented option. A new
 * version of Node may need changes here.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Returns the class of requests of a server. If its connection is closed, a request has the mark of
 * an upgrade, which Node does not queue: one chunk may contain 2,400 further requests, and Node
 * would create a response and an error for each of them.
 */
export function requestClass(): typeof import('node:http').IncomingMessage {
  const { IncomingMessage } = process.getBuiltinModule('node:http');
  return class extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket);
      // Node sets the property when it has parsed the headers.
      if (socket.destroyed)
        Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
    }
  };
}

/**
 * Lets a client close its side of the connection after its last request. Without this, responses
 * that take more than one round of the event loop would be lost.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Calls `close` in place of Node's own end of a connection, after `Connection: close`. */
export function onLastResponse(socket: Socket, close: () => void): void {
  socket.destroySoon = close;
}

/**
 * Calls `decide` before the head of a response is written. All apps and frameworks call
 * `writeHead`, at least through Node.
 */
export function beforeHead(response: ServerResponse, decide: () => void): void {
  const { writeHead } = response;
  response.writeHead = (...parameters: unknown[]) => {
    decide();
    return Reflect.apply(writeHead, response, parameters);
  };
}

/** Returns true if Node has sent `100 Continue`. */
export const hasSentContinue = (response: ServerResponse): boolean =>
  '_sent100' in response && response._sent100 === true;

/**
 * Adds a listener for the bytes of a connection of Node's server. Without one, the parser reads
 * from the handle, and its pauses leave the stream as if it were reading: if the connection is
 * paused, nothing would read from it again.
 */
export function onBytes(socket: Socket, listener: (bytes: Uint8Array) => void): void {
  socket.on('data', listener);
  socket._read(0);
}

/** Removes the listener of Node's parser, so that no further bytes are parsed. */
export function stopParsing(socket: Socket): void {
  socket.removeAllListeners('data');
}

/** The maximum size of a piece that is joined with others, in bytes. */
const SMALL_PIECE = 1024;

/**
 * Joins small pieces of a chunked body that arrive together. Node keeps each piece as a buffer, so
 * one of a single byte would take 1,000 bytes of memory. Must be called when Node emits `request`,
 * before it parses the body.
 */
export function joinPieces(request: IncomingMessage): void {
  const isJoined = Object.hasOwn(request, 'push');
  if (isJoined || request.headers['transfer-encoding'] === undefined) return;
  const push = request.push.bind(request);
  let bytes = Buffer.alloc(0);
  let size = 0;

  function flush(): void {
    const joined = bytes.subarray(0, size);
    bytes = Buffer.alloc(0);
    size = 0;
    if (joined.length > 0 && !request.destroyed) push(joined);
  }

  request.push = (piece: Uint8Array | null) => {
    if (piece === null || piece.length > SMALL_PIECE) {
      flush();
      return push(piece);
    }
    // Runs when Node has parsed the bytes that have arrived. Ticks run after each piece.
    if (size === 0) setImmediate(flush);
    if (size + piece.length > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (size + piece.length));
      bytes.copy(larger);
      bytes = larger;
    }
    bytes.set(piece, size);
    size += piece.length;
    return request.readableLength + size < request.readableHighWaterMark;
  };
}
