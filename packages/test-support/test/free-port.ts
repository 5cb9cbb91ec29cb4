import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that Linux, macOS and Windows give to port 0 and to clients, so no other process
 * takes one by chance before the caller listens.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;

/** Returns a random port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('there is no free port on 127.0.0.1');
}
