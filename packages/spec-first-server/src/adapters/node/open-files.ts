import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** Descriptors that are kept for files, databases and other servers. */
const RESERVED_FILES = 64;

/**
 * Limits the connections of a server by the limit of open files (`ulimit -n`). Beyond that limit,
 * the system would drop connections without a message. Works on Linux only, where a file contains
 * the limit.
 */
export function limitConnections(server: Server, onDropped?: (connections: number) => void): void {
  if (process.platform !== 'linux') return;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (Number(limit) > RESERVED_FILES) server.maxConnections = Number(limit) - RESERVED_FILES;
  let dropped = 0;
  server.on('drop', () => {
    dropped += 1;
    if (dropped > 1) return;
    setTimeout(() => {
      onDropped?.(dropped);
      dropped = 0;
    }, 1_000).unref();
  });
}
