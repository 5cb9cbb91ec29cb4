import type { IncomingMessage } from 'node:http';

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
