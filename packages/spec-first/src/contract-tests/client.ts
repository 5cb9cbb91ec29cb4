import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Answer, Sent } from './values.ts';

/** Sends requests to a service. */
export interface Client {
  /** @throws {Error} if there is no answer. */
  send(sent: Sent): Promise<Answer>;
  /** The URL before each path, for messages. */
  readonly base: string;
}

const SECONDS = 10;

/** Stands in messages for the origin of a service that ends with the tests. */
export const SHOWN = 'http://localhost:3000';

/** How long a stream is read, since it may have no end: in all, and until the next item. Milliseconds. */
const STREAM = 500;
const SILENCE = 50;

/** Media types of streams. */
const STREAMS = /^(text\/event-stream|multipart\/mixed|application\/(.*json-seq|.*jsonl(ines)?|(x-)?ndjson))\b/;

/**
 * A client for a URL: the base of the document's paths.
 *
 * @param shownOrigin stands for the URL's origin in messages.
 */
export function connect(base: string, shownOrigin = new URL(base).origin): Client {
  const { protocol, origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const { Agent, request } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  return {
    base: shownOrigin + prefix,
    async send({ method, target, headers, body }) {
      const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
      const outgoing = request(origin, { method, path: prefix + target, headers: { ...headers, ...length }, agent });
      outgoing.setTimeout(SECONDS * 1_000, () => outgoing.destroy(new Error(`no answer in ${SECONDS} seconds`)));
      // A connection that is reset after the answer has begun: reading says so.
      outgoing.on('error', () => {});
      outgoing.end(body);
      const incoming: http.IncomingMessage = (await once(outgoing, 'response'))[0];
      const isStream = STREAMS.test(incoming.headers['content-type'] ?? '');
      const chunks: Buffer[] = [];
      let isCut = false;
      const cutAfter = (milliseconds: number) =>
        setTimeout(() => {
          isCut = isStream;
          if (isStream) incoming.destroy();
        }, milliseconds);
      const longest = cutAfter(STREAM);
      let quiet: NodeJS.Timeout | undefined;
      try {
        for await (const chunk of incoming) {
          chunks.push(chunk);
          clearTimeout(quiet);
          quiet = cutAfter(SILENCE);
        }
      } catch (error) {
        if (!isCut) throw error;
      } finally {
        clearTimeout(longest);
        clearTimeout(quiet);
      }
      const joined = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
      const status = incoming.statusCode ?? 0;
      return { status, headers: Object.fromEntries(joined), body: Buffer.concat(chunks), isCut };
    },
  };
}

/** Serves an app on a free port of this machine, without keeping the process alive. Resolves to the origin. */
export async function listen(app: http.RequestListener): Promise<string> {
  const server = http.createServer(app).listen(0, '127.0.0.1').unref();
  // Nor does a connection that a client keeps for its next request.
  server.on('connection', (socket) => socket.unref());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
