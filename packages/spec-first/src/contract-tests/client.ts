import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';

export interface SerializedRequest {
  readonly method: string;
  /** The path and the query, relative to the base URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

export interface ReceivedResponse {
  /** The absolute URL of the request. */
  readonly url: string;
  readonly status: number;
  /** The headers, by names in lower case. Several values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** True if the client stopped reading before the end of a stream. */
  readonly isCut: boolean;
}

const MAX_IDLE_SECONDS = 10;

/** The origin in messages for a service that stops with the tests. */
export const PLACEHOLDER_ORIGIN = 'http://localhost:3000';

/**
 * The maximum time from a request to the first chunk of a stream. After late headers, the first
 * chunk may take `NEXT_CHUNK_MS`. A stream may have no end.
 */
const FIRST_CHUNK_MS = 500;

/** The maximum time from one chunk of a stream to the next one. */
const NEXT_CHUNK_MS = 50;

/** The time to read a chunk that arrived in time, while this process was suspended. */
const ARRIVED_CHUNK_MS = 10;

/** The number of chunks after which a stream is cut at its next pause. */
const MAX_CHUNKS = 10;

export type Client = ReturnType<typeof createClient>;

/**
 * Makes a client for a service.
 *
 * @param base the URL before the paths of the document.
 * @param displayedOrigin the origin in messages.
 */
export function createClient(base: string, displayedOrigin = new URL(base).origin) {
  const { protocol, origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const { Agent, request } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true });
  return {
    /** The URL before the paths of the document, for messages. */
    base: displayedOrigin + prefix,

    /** Sends a request, and reads the response. @throws {Error} if there is no response. */
    async send({ method, url, headers, body }: SerializedRequest): Promise<ReceivedResponse> {
      // Node sets no Content-Length for some methods, such as DELETE.
      const length = body && { 'Content-Length': body.length };
      const options = { method, path: prefix + url, headers: { ...headers, ...length }, agent };
      const start = () => {
        const outgoing = request(origin, options);
        limitIdleTime(outgoing);
        // Prevents an uncaught error if the connection is reset during the response. Reading the
        // response then throws.
        outgoing.on('error', () => {});
        outgoing.end(body);
        return outgoing;
      };
      const startTime = performance.now();
      const incoming = await sendWithRetry(start);
      const type = incoming.headers['content-type'] ?? '';
      const isStream = /event-stream|multipart\/mixed|json-seq|jsonl|ndjson/.test(type);
      let isCut = false;
      const cutStream = () => {
        isCut = isStream;
        if (isStream) incoming.destroy();
      };
      let timer: NodeJS.Timeout;
      const cutSoon = () => {
        timer = setTimeout(cutStream, ARRIVED_CHUNK_MS);
      };
      const chunks: Buffer[] = [];
      // Includes the time until the headers, since a service may send them with the first chunk.
      const remaining = FIRST_CHUNK_MS - (performance.now() - startTime);
      timer = setTimeout(cutSoon, Math.max(NEXT_CHUNK_MS, remaining));
      try {
        for await (const chunk of incoming) {
          clearTimeout(timer);
          const isEnough = chunks.push(chunk) >= MAX_CHUNKS;
          timer = isEnough ? setTimeout(cutStream, 0) : setTimeout(cutSoon, NEXT_CHUNK_MS);
        }
      } catch (error) {
        if (!isCut) throw error;
      }
      clearTimeout(timer);
      const joined = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
      return {
        url: origin + prefix + url,
        status: incoming.statusCode ?? 0,
        headers: Object.fromEntries(joined),
        body: Buffer.concat(chunks),
        isCut,
      };
    },
  };
}

/**
 * If a reused connection is reset, sends the request again: the service may close an idle
 * connection at any time.
 */
async function sendWithRetry(start: () => http.ClientRequest): Promise<http.IncomingMessage> {
  const outgoing = start();
  try {
    return (await once(outgoing, 'response'))[0];
  } catch (error) {
    if (outgoing.reusedSocket && Object(error).code === 'ECONNRESET') return sendWithRetry(start);
    throw error;
  }
}

/**
 * Ends a request after `MAX_IDLE_SECONDS` without data in either direction. Counts only seconds in
 * which this process runs, since a busy machine may suspend it together with the service.
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

/** Serves an app on a free local port. Resolves to the origin. Does not keep the process alive. */
export async function listen(app: http.RequestListener): Promise<string> {
  const server = http.createServer(app).listen(0, '127.0.0.1').unref();
  // `unref` of the server does not apply to its connections.
  server.on('connection', (socket) => socket.unref());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
