import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  /** Path and query, after the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  /** By names in lower case; values of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the rest of a stream was not read. */
  readonly isCut: boolean;
}

const SECONDS = 10;

/** Stands in messages for the origin of a service that ends with the tests. */
export const SHOWN = 'http://localhost:3000';

/** How long a stream is read, since it may have no end: until the first item, and until the next one. Milliseconds. */
const FIRST = 500;
const NEXT = 50;

/** How many chunks of a stream are read at most. */
const CHUNKS = 10;

export type Client = ReturnType<typeof connect>;

/**
 * A client for a URL: the base of the document's paths.
 *
 * @param shownOrigin stands for the URL's origin in messages.
 */
export function connect(base: string, shownOrigin = new URL(base).origin) {
  const { protocol, origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const { Agent, request } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  return {
    /** The URL before each path, for messages. */
    base: shownOrigin + prefix,

    /** @throws {Error} if there is no answer. */
    async send({ method, target, headers, body }: Sent): Promise<Answer> {
      const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
      const outgoing = request(origin, { method, path: prefix + target, headers: { ...headers, ...length }, agent });
      outgoing.setTimeout(SECONDS * 1_000, () => outgoing.destroy(new Error(`no answer in ${SECONDS} seconds`)));
      // A connection that is reset after the answer has begun: reading says so.
      outgoing.on('error', () => {});
      outgoing.end(body);
      const incoming: http.IncomingMessage = (await once(outgoing, 'response'))[0];
      const type = incoming.headers['content-type'] ?? '';
      const isStream = /event-stream|multipart\/mixed|json-seq|jsonl|ndjson/.test(type);
      let isCut = false;
      const cut = () => {
        isCut = isStream;
        if (isStream) incoming.destroy();
      };
      const chunks: Buffer[] = [];
      let timer = setTimeout(cut, FIRST);
      try {
        for await (const chunk of incoming) {
          clearTimeout(timer);
          timer = setTimeout(cut, chunks.push(chunk) < CHUNKS ? NEXT : 0);
        }
      } catch (error) {
        if (!isCut) throw error;
      }
      clearTimeout(timer);
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
