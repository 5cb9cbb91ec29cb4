import type { Socket } from 'node:net';

/** Paused connections. The last one is resumed first. */
const waiting: Socket[] = [];

/** Connections that are being read and have not sent a complete header section yet. */
const withoutRequest = new Set<Socket>();

let isScheduled = false;

/**
 * Delays reading from a new connection. Each round of the event loop starts to read only one: Node
 * parses up to 64 KiB of each at once, which can take 10 ms. The newest connection is read first,
 * so a flood of connections does not delay the clients that connect after it.
 */
export function admit(socket: Socket): void {
  waiting.push(socket);
  // Delayed: Node starts to read a new connection at the end of this tick.
  process.nextTick(() => socket.pause());
  socket.once('close', () => withoutRequest.delete(socket));
  schedule();
}

/**
 * Records that the first request of a connection has arrived. If it came in a large chunk, the
 * connections without a request are queued again: if all sent large chunks at once, Node would
 * parse them in one round.
 */
export function onFirstRequest(socket: Socket, isLargeChunk: boolean): void {
  withoutRequest.delete(socket);
  if (!isLargeChunk || withoutRequest.size === 0) return;
  for (const other of withoutRequest) other.pause();
  waiting.unshift(...withoutRequest);
  withoutRequest.clear();
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(startRound);
}

function startRound(): void {
  isScheduled = false;
  const socket = waiting.pop();
  if (socket?.destroyed === false) withoutRequest.add(socket.resume());
  if (waiting.length > 0) schedule();
}
