import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request in its final form. */
export interface Sent {
  readonly method: string;
  /** Path and query, after the base URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** A response with its body. */
export interface ReceivedResponse {
  readonly status: number;
  /** By names in lower case. Values of the same name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** True if the rest of a stream was not read. */
  readonly isCut: boolean;
}

/** The time without data after which a request fails. */
const MAX_IDLE_SECONDS = 10;

/** The origin that messages show for a service that stops with the tests. */
export const PLACEHOLDER_ORIGIN = 'http://localhost:3000';

/** The time limit of the first chunk of a stream, from the request. A stream may have no end. */
const FIRST_CHUNK_MS = 500;

/** The time limit of each further chunk of a stream. */
const NEXT_CHUNK_MS = 50;

/** The maximum number of chunks that are read from a stream. */
const MAX_CHUNKS = 10;

export type Client = ReturnType<typeof connect>;

/**
 * Makes a client for a service.
 *
 * @param base the URL that the document's paths are relative to.
 * @param displayedOrigin the origin that messages show.
 */
export function connect(base: string, displayedOrigin = new URL(base).origin) {
  const { protocol, origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const { Agent, request } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  return {
    /** The URL before each path, for messages. */
    base: displayedOrigin + prefix,

    /** Sends a request, and reads the response. @throws {Error} if there is no response. */
    async send({ method, target, headers, body }: Sent): Promise<ReceivedResponse> {
      // Node sets no Content-Length for methods that rarely have a body, such as DELETE.
      const length = body && { 'Content-Length': body.length };
      const options = { method, path: prefix + target, headers: { ...headers, ...length }, agent };
      const start = () => {
        const outgoing = request(origin, options);
        limitIdleTime(outgoing);
        // If the connection is reset during the response, reading the response throws.
        outgoing.on('error', () => {});
        outgoing.end(body);
        return outgoing;
      };
      const startTime = performance.now();
      const incoming = await responseTo(start);
      const type = incoming.headers['content-type'] ?? '';
      const isStream = /event-stream|multipart\/mixed|json-seq|jsonl|ndjson/.test(type);
      let isCut = false;
      const cut = () => {
        isCut = isStream;
        if (isStream) incoming.destroy();
      };
      const chunks: Buffer[] = [];
      // A service may wait for the first chunk before it sends the headers.
      const remaining = FIRST_CHUNK_MS - (performance.now() - startTime);
      let timer = setTimeout(cut, Math.max(NEXT_CHUNK_MS, remaining));
      try {
        for await (const chunk of incoming) {
          clearTimeout(timer);
          timer = setTimeout(cut, chunks.push(chunk) < MAX_CHUNKS ? NEXT_CHUNK_MS : 0);
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

/**
 * Resolves to the response to a request. Sends the request again if its connection was idle before,
 * since the service may close an idle connection at any time.
 */
async function responseTo(start: () => http.ClientRequest): Promise<http.IncomingMessage> {
  const outgoing = start();
  try {
    return (await once(outgoing, 'response'))[0];
  } catch (error) {
    if (outgoing.reusedSocket && Object(error).code === 'ECONNRESET') return responseTo(start);
    throw error;
  }
}

/**
 * Ends a request if no data is sent or received for a time. Counts only seconds in which this
 * process runs, since a busy machine may suspend it together with the service.
 */
function limitIdleTime(outgoing: http.ClientRequest): void {
  let [idleSeconds, transferred] = [0, 0];
  const timer = setInterval(() => {
    const { bytesRead = 0, bytesWritten = 0 } = outgoing.socket ?? {};
    idleSeconds = bytesRead + bytesWritten === transferred ? idleSeconds + 1 : 0;
    transferred = bytesRead + bytesWritten;
    if (idleSeconds < MAX_IDLE_SECONDS) return;
    outgoing.destroy(new Error(`no data for ${MAX_IDLE_SECONDS} seconds`));
  }, 1_000);
  outgoing.once('close', () => clearInterval(timer));
}

/**
 * Serves an app on a free local port, without keeping the process alive. Resolves to the origin.
 */
export async function listen(app: http.RequestListener): Promise<string> {
  const server = http.createServer(app).listen(0, '127.0.0.1').unref();
  // Idle connections must not keep the process alive, either.
  server.on('connection', (socket) => socket.unref());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
