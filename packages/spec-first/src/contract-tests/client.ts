import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Answer, Sent } from './values.ts';

/** Sends requests to a service. */
export interface Client {
  /** @throws {Error} if there is no answer. */
  send(sent: Sent): Promise<Answer>;
  /** The URL before each path, for messages. */
  readonly base: string;
  close(): Promise<void>;
}

const SECONDS = 10;

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
  const secure = protocol === 'https:';
  const agent = new (secure ? SecureAgent : Agent)({ keepAlive: true });
  return {
    base: shownOrigin + prefix,
    async send({ method, target, headers, body }) {
      const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
      const options = { method, path: prefix + target, headers: { ...headers, ...length }, agent };
      const outgoing = (secure ? secureRequest : request)(origin, options);
      outgoing.setTimeout(SECONDS * 1_000, () => outgoing.destroy(new Error(`no answer in ${SECONDS} seconds`)));
      // A connection that is reset after the answer has begun: reading says so.
      outgoing.on('error', () => {});
      outgoing.end(body);
      const [incoming] = await once(outgoing, 'response');
      const chunks: Buffer[] = [];
      let isCut = false;
      const cut = () => {
        isCut = true;
        incoming.destroy();
      };
      const timer = STREAMS.test(incoming.headers['content-type'] ?? '') ? setTimeout(cut, STREAM) : undefined;
      let quiet: NodeJS.Timeout | undefined;
      try {
        for await (const chunk of incoming) {
          chunks.push(chunk);
          clearTimeout(quiet);
          if (timer !== undefined) quiet = setTimeout(cut, SILENCE);
        }
      } catch (error) {
        if (!isCut) throw error;
      }
      clearTimeout(timer);
      clearTimeout(quiet);
      const joined = Object.entries<string | string[]>(incoming.headers).map(([name, value]) => [name, String(value)]);
      const read = Buffer.concat(chunks);
      return { status: incoming.statusCode, headers: Object.fromEntries(joined), body: read, isCut };
    },
    async close() {
      agent.destroy();
    },
  };
}

/** Serves an app on a free port of this machine until the client is closed. */
export async function serveApp(app: RequestListener, basePath: string): Promise<Client> {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(`http://127.0.0.1:${port}${basePath}`, 'http://localhost:3000');
  return {
    ...client,
    async close() {
      await client.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
