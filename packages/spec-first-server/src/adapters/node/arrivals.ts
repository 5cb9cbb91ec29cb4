import type { Socket } from 'node:net';

/** Paused connections. The last one is resumed first. */
const waiting: Socket[] = [];

/** Connections that are being read and have sent no bytes yet. */
const silent = new Set<Socket>();

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
  socket.once('close', () => silent.delete(socket));
  schedule();
}

/**
 * Records that the first bytes of a connection have arrived. After a large chunk, silent
 * connections are queued again: if all sent large chunks at once, Node would parse them in one
 * round.
 */
export function onFirstBytes(socket: Socket, isLargeChunk: boolean): void {
  silent.delete(socket);
  if (!isLargeChunk || silent.size === 0) return;
  for (const other of silent) other.pause();
  waiting.unshift(...silent);
  silent.clear();
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
  if (socket?.destroyed === false) silent.add(socket.resume());
  if (waiting.length > 0) schedule();
}
