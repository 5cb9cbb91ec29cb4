import type { Server } from 'node:http';

/** Descriptors that are kept for files, databases and other servers. */
const RESERVE = 64;

/**
 * Limits the connections of a server to what the limit of open files (`ulimit -n`) leaves room for: beyond it, the system
 * would drop them without a word. It takes 10 ms to find out, so it is for servers with many connections.
 *
 * @param onDropped called with the number of connections that were dropped: at most once a second.
 */
export function limitConnections(server: Server, onDropped: (connections: number) => void): void {
  if (server.listenerCount('drop') > 0) return;
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // It would look up the name of each client.
  report.excludeNetwork = true;
  const { userLimits }: { userLimits?: { open_files?: { soft?: unknown } } } = Object(report.getReport());
  const files = Number(userLimits?.open_files?.soft);
  if (files > RESERVE) server.maxConnections = files - RESERVE;
  let dropped = 0;
  const tell = (): void => {
    onDropped(dropped);
    dropped = 0;
  };
  server.on('drop', () => {
    dropped += 1;
    if (dropped === 1) setTimeout(tell, 1_000).unref();
  });
}
