import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { HttpError } from '../response/http-error.ts';
import { type ErrorBody, PROBLEM_DETAILS, type Problem } from '../response/problem.ts';
import { parserError, rawResponse } from './parser-errors.ts';

// An import of node:http loads a whole HTTP client beside it, for 30 ms of the start.
const { createServer } = process.getBuiltinModule('node:http');

/** What a client may take, in milliseconds and bytes. The README names them. */
export const LIMITS = {
  /** Until the header section is there, counted from the start of the connection or of the request. */
  headersTimeout: 10_000,
  /** Until the whole request is there. */
  requestTimeout: 30_000,
  /** Between two requests of a connection. */
  keepAliveTimeout: 65_000,
  /** Without a byte either way, also while an answer is not read. */
  idleTimeout: 60_000,
  /** Until a connection that was given up is closed, so that the client can read why. */
  lingerTimeout: 2_000,
  /** Until a stop ends what is still in flight. */
  stopTimeout: 10_000,
  maxHeaderSize: 16_384,
};

/** A server that listens. */
export interface Listening {
  readonly server: Server;
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Stops accepting, lets what is in flight finish, and ends what is not finished in time. */
  stop(): Promise<void>;
}

/**
 * Told why a request is refused past the app.
 *
 * @param response what the app was about to answer it with, if the request had come that far.
 */
export type Refused = (why: Problem, response?: ServerResponse) => void;

/** What is known of a connection. */
interface Connection {
  /** The answer to its newest request, until both are over. */
  newest: ServerResponse | undefined;
  /** A request has come. */
  used: boolean;
  /** Nothing that comes after its newest request is answered. */
  closing: boolean;
}

/**
 * Listens, and answers what never becomes a request for the app in the same form: bytes that are no HTTP, requests that
 * can be read in two ways, `CONNECT`, an `Expect` that cannot be met, what does not arrive in time.
 *
 * @param limits other limits, for tests that cannot wait.
 * @param refused told of each request that is answered here.
 * @param errorBody how these answers are written.
 * @throws {Error} of Node, if the address cannot be had.
 */
export async function listen(
  app: RequestListener,
  host: string,
  port: number,
  limits: typeof LIMITS = LIMITS,
  refused: Refused = () => {},
  errorBody: ErrorBody = PROBLEM_DETAILS,
): Promise<Listening> {
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits;
  const connections = new Map<Duplex, Connection>();
  let stopping = false;

  /** @param fault why the request does not reach the app. */
  function accept(request: IncomingMessage, response: ServerResponse, fault = faultOf(request)): void {
    const connection = connections.get(request.socket);
    // The answer before this request has told the client that no other will follow (RFC 9112 §9.6).
    if (connection === undefined || connection.closing) return;
    connection.newest = response;
    connection.used = true;
    const over = () => {
      if (connection.newest === response && request.complete) connection.newest = undefined;
      if (stopping && connection.newest === undefined) request.socket.destroySoon();
    };
    response.once('close', () => {
      over();
      // An answer that did not wait for the body is over before its request is.
      if (!request.complete) request.once('close', over);
    });
    if (stopping) closeAfter(connection);
    if (fault === undefined) app(request, response);
    else {
      refuse(response, fault, errorBody);
      refused(fault);
    }
  }

  const server = createServer(
    {
      headersTimeout,
      requestTimeout,
      keepAliveTimeout,
      maxHeaderSize,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // Node would answer these itself, without a body.
      requireHostHeader: false,
    },
    accept,
  );
  server.timeout = limits.idleTimeout;
  // Node would leave out the headers beyond a count; their size is bounded anyway.
  server.maxHeadersCount = 0;
  // A client that has asked for all that it wants may close its side, and still reads (RFC 9293 §3.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Duplex) => {
    // Each of many pipelined requests may want to know that the client is gone.
    socket.setMaxListeners(0);
    connections.set(socket, { newest: undefined, used: false, closing: false });
    socket.once('close', () => connections.delete(socket));
  });
  // With this listener the body is asked for only once it is wanted: see body.ts.
  server.on('checkContinue', accept);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    accept(request, response, { status: 417, message: 'the only expectation that can be met is 100-continue' }),
  );
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node has let go of the connection, its errors and its timeouts.
    socket.on('error', () => undefined);
    socket.on('timeout', () => socket.destroy());
    // An empty Allow: there is no method for such a target (RFC 9110 §10.2.1).
    giveUp(socket, { status: 405, message: 'CONNECT is not a method of this service' }, { Allow: '' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const { newest, closing } = connection;
    const why = parserError(error, limits);
    if (newest === undefined || newest.req.complete) {
      if (!closing) giveUp(socket, why);
    } else if (!newest.headersSent) {
      // It is the body of the newest request that is broken.
      connection.closing = true;
      refuse(newest, why, errorBody);
      refused(why, newest);
    } else if (!closing) giveUp(socket);
  });

  /** Closes a connection once its requests are answered, with a last word about what came after them. */
  function giveUp(socket: Duplex, why?: Problem, headers?: Readonly<Record<string, string>>): void {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.closing = true;
    const end = () => {
      if (why !== undefined && socket.writable) {
        socket.write(rawResponse(why, errorBody, headers));
        refused(why);
      }
      socket.end();
      // Closed at once, bytes that are still arriving would have the client's system throw the answer away unread.
      const linger = setTimeout(() => socket.destroy(), limits.lingerTimeout);
      socket.once('close', () => clearTimeout(linger));
      socket.resume();
    };
    if (connection.newest === undefined || connection.newest.closed) end();
    else connection.newest.once('close', end);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    server,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async stop() {
      stopping = true;
      // Not that of the HTTP server, which would cut off connections whose first request is still on its way.
      const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
      const unheard = setTimeout(() => {
        for (const [socket, { newest }] of connections) if (newest === undefined) socket.destroy();
      }, limits.lingerTimeout);
      for (const [socket, connection] of connections) {
        if (connection.newest === undefined && connection.used) socket.destroy();
        else closeAfter(connection);
      }
      const end = setTimeout(() => {
        // The error is for the log: it was not the client that went away.
        const cutOff = new HttpError(503, 'the service stopped before the request was answered');
        for (const socket of connections.keys()) socket.destroy(cutOff);
      }, limits.stopTimeout);
      await closed;
      clearTimeout(unheard);
      clearTimeout(end);
    },
  };
}

/** Closes a connection after its newest answer, if that can still be said in its headers. */
function closeAfter(connection: Connection): void {
  if (connection.newest === undefined || connection.newest.headersSent) return;
  connection.closing = true;
  connection.newest.setHeader('Connection', 'close');
}

/** What a host and port look like (RFC 3986 §3.2.2); an empty one is allowed (RFC 9112 §3.2). */
const HOST = /^(?:\[[\da-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Fields that mean one thing and may come once; of two, other software may believe the other one. */
const ONCE = new Set(['host', 'authorization', 'content-type']);
const ONCE_LENGTHS = new Set([...ONCE].map(({ length }) => length));

/** A target in absolute form, up to its path (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#@]+)(?=[/?#]|$)/i;

/** What is wrong with a request that Node's parser lets pass. A target in absolute form becomes the path within it. */
function faultOf(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers, rawHeaders, method, url = '' } = request;
  const fault = (message: string): Problem => ({ status: 400, message });
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('the version of HTTP must be 1.1 (RFC 9112 §2.3)');
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] ?? '';
    if (!ONCE_LENGTHS.has(raw.length)) continue;
    const name = raw.toLowerCase();
    if (ONCE.has(name) && seen.size === seen.add(name).size) return fault(`the header ${name} must come once`);
  }
  if (headers.host === undefined ? httpVersion === '1.1' : !HOST.test(headers.host)) {
    return fault('the header host is required, as host or host:port (RFC 9112 §3.2)');
  }
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    const [origin = '', host = ''] = ORIGIN.exec(url) ?? [];
    if (origin === '' || !HOST.test(host))
      return fault('the target must be a path or http://host/path (RFC 9112 §3.2)');
    const path = url.slice(origin.length);
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return fault('the transfer coding must be chunked alone, in HTTP/1.1 (RFC 9112 §6.1)');
  }
  return undefined;
}

function refuse(response: ServerResponse, error: Problem, { make, mediaType }: ErrorBody): void {
  const text = JSON.stringify(make(error));
  response.writeHead(error.status, {
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.end(text);
}
