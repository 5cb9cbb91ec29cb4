import { listen } from '../adapters/node/index.ts';

/** The time limit for a request to arrive. Milliseconds. */
const REQUEST_LIMIT = 5_000;

/** A page for operators. If `read` fails, the response is 503. */
export interface Page {
  readonly contentType: string;
  readonly read: () => Promise<string>;
}

/**
 * Serves pages for operators, by path, on a separate address. With `node:cluster`, each worker
 * needs a separate port: a shared one would answer for a random worker.
 *
 * @throws {Error} of Node if the address is not available.
 */
export async function serveOperators(
  host: string,
  port: number,
  pages: ReadonlyMap<string, Page>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { server, url } = await listen(
    async ({ url: target = '', method }, response) => {
      const page = pages.get(target.replace(/\?.*/s, ''));
      if (page === undefined) return void response.writeHead(404).end();
      if (method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
      try {
        const text = await page.read();
        response.writeHead(200, { 'Content-Type': page.contentType }).end(text);
      } catch {
        response.writeHead(503).end();
      }
    },
    {
      host,
      port,
      exclusive: true,
      limits: { requestTimeout: REQUEST_LIMIT, headersTimeout: REQUEST_LIMIT },
    },
  );
  return {
    url,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
