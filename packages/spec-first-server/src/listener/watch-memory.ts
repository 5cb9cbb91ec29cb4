import type { Duplex } from 'node:stream';
import type { HttpFailure } from '../http/failures.ts';
import { type Memory, NO_MEMORY } from '../http/resources.ts';
import type { ClientConnection } from './connection.ts';

/** The interval between two checks, in milliseconds. */
const INTERVAL = 100;
/** The interval if memory is short, in milliseconds. */
const SHORT_INTERVAL = 10;

/** Below this number, nothing is checked: headers have at most 16 KiB per connection. */
const MIN_CONNECTIONS = 100;

/** The maximum number of connections that get a response when many are closed at once. */
const MAX_ANSWERED = 50;

/**
 * Closes the connections with the most bytes if incomplete requests and unread responses exceed the
 * rest of the budget that all requests share.
 *
 * @returns a function that stops the checks.
 */
export function watchMemory(
  connections: ReadonlyMap<Duplex, ClientConnection>,
  memory: Memory,
  reject: (connection: ClientConnection, reason: HttpFailure) => void,
): () => void {
  let timer = setTimeout(watch, INTERVAL).unref();
  return () => clearTimeout(timer);

  function watch(): void {
    const budget = memory.bytesLeft;
    let sum = 0;
    if (connections.size >= MIN_CONNECTIONS)
      for (const { estimatedBytes } of connections.values()) sum += estimatedBytes;
    if (sum > budget) closeLargest(sum - budget);
    timer = setTimeout(watch, sum > budget / 4 ? SHORT_INTERVAL : INTERVAL).unref();
  }

  function closeLargest(excess: number): void {
    const sizes = Array.from(connections.values(), (connection) => ({
      connection,
      bytes: connection.estimatedBytes,
    }));
    sizes.sort((a, b) => b.bytes - a.bytes);
    let bytesToFree = excess;
    for (const [index, { connection, bytes }] of sizes.entries()) {
      if (bytesToFree <= 0) return;
      bytesToFree -= bytes;
      const isWaiting = connection.newestResponse !== undefined;
      if (isWaiting || index >= MAX_ANSWERED) connection.socket.destroy();
      else reject(connection, NO_MEMORY);
    }
  }
}
