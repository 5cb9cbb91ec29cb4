import { listen } from '../adapters/node/index.ts';
import { HttpError } from '../core/response/http-error.ts';
import { PROBLEM_DETAILS } from '../core/response/problem.ts';
import type { ReadResource } from './page/page.ts';

/** The time limit for a request to arrive, in milliseconds. */
const REQUEST_TIMEOUT = 5_000;

/** Answers an error whose message is not for clients. */
const UNAVAILABLE = new HttpError(503, 'the page cannot be read');

/**
 * Serves pages for operators, by path, on a separate address. An error of a page becomes a 503 in
 * problem details (RFC 9457).
 * With `node:cluster`, each worker needs a separate port: a shared one would answer for a random
 * worker.
 *
 * @throws {Error} of Node if the address is not available.
 */
export async function serveOperators(
  host: string,
  port: number,
  pages: ReadonlyMap<string, ReadResource>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { server, url } = await listen(
    async ({ url: target = '', method }, response) => {
      const read = pages.get(target.replace(/\?.*/s, ''));
      if (read === undefined) return void response.writeHead(404).end();
      if (method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
      try {
        const { type, body } = await read();
        response.writeHead(200, { 'Content-Type': type }).end(body);
      } catch (error) {
        const failure = error instanceof HttpError ? error : UNAVAILABLE;
        const { mediaType, make } = PROBLEM_DETAILS;
        const body = JSON.stringify(make({ status: 503, message: failure.message }));
        response.writeHead(503, { ...failure.headers, 'Content-Type': mediaType }).end(body);
      }
    },
    {
      host,
      port,
      exclusive: true,
      limits: { requestTimeout: REQUEST_TIMEOUT, headersTimeout: REQUEST_TIMEOUT },
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
