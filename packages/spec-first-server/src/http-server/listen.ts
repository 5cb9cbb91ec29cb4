import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { type Connection, createConnection, MAX_HEADER_SIZE, type Problem } from './connection.ts';
import { http, limitConnections, type OnRejected, PROBLEM_DETAILS, type ProblemBody, rejecter } from './rejected.ts';

/** How often connections are looked at while a stop waits for them. Milliseconds. */
const ARRIVAL_CHECK = 10;

/** The error of a socket that the server closed at a stop, before its request was answered. */
export const CUT_OFF = new Error('the service stopped before the request was answered');

/** What a client may take, in milliseconds. The README names them. */
const LIMITS = {
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
  /** Without a new connection, before a stop closes the port. */
  quietTimeout: 50,
  /** How long a stop waits for requests on connections that have none, before it closes the port. */
  idleStopTimeout: 1_000,
  /** From then on, until a stop aborts what is still in flight. */
  stopTimeout: 10_000,
};

export type Limits = typeof LIMITS;

/** Where to listen, and how to answer what is not for the app. */
interface ListenOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly limits?: Partial<Limits>;
  readonly onRejected?: OnRejected;
  /** Called when connections are dropped, since the limit of open files is reached: at most once a second. */
  readonly onDropped?: (connections: number) => void;
  /** By default problem details. */
  readonly errorBody?: ProblemBody | undefined;
  /** Resolves when all connections so far have come, where another process accepts them for this one. */
  readonly allAccepted?: (() => Promise<void>) | undefined;
}

/** A server that listens. */
export interface Listening {
  readonly server: Server;
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** From now on each answer says `Connection: close`. */
  drain(): void;
  /**
   * Stops accepting, lets what is in flight finish, and aborts what is not finished in time. Connections get time for a
   * request that is on its way; if the stop is `quick`, as another server takes over, only those without one so far.
   */
  stop(quick?: boolean): Promise<void>;
}

/**
 * Listens, and gives the app the requests of each connection one after the other. What never becomes a request for the
 * app is answered here in the same form: bytes that are not HTTP, requests that can be read in two ways, `CONNECT`, an
 * `Expect` that cannot be met, what does not arrive in time.
 *
 * @throws {Error} of Node, if the address cannot be had.
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const { errorBody = PROBLEM_DETAILS, onRejected, allAccepted } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { headersTimeout, idleTimeout, quietTimeout, lingerTimeout } = limits;
  const connections = new Map<Duplex, Connection>();
  let acceptedAt = 0;
  let draining = false;
  /** Set while the port closes: requests wait for it. */
  let portClosing: PromiseWithResolvers<void> | undefined;

  const server = http.createServer(
    {
      ...limits,
      maxHeaderSize: MAX_HEADER_SIZE,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // Node would answer these itself, without a body.
      requireHostHeader: false,
      // Node would take the first of two values, and other software may take the second one. Both together are no value.
      joinDuplicateHeaders: true,
    },
    onRequest,
  );
  const { answerProblem, rejectConnection } = rejecter(server, connections, lingerTimeout, errorBody, onRejected);

  /** @param problem why the request does not reach the app. */
  function onRequest(request: IncomingMessage, response: ServerResponse, problem?: Problem): void {
    const connection = connections.get(request.socket);
    // The answer before this request has told the client that no other will follow (RFC 9112 §9.6).
    if (connection === undefined || connection.closing) return;
    // Node drops the bytes after a request for an upgrade.
    if (request.headers.upgrade !== undefined) closeAfter(connection, response);
    connection.inTurn(response, problem);
  }

  function begin(response: ServerResponse, problem: Problem | undefined, isLater = false): void {
    // The body may have been rejected while the request waited.
    if (response.headersSent) return;
    // In the next round, a body that has come with its head is complete: its answer can say that it is the last one.
    if (draining && !isLater) return void setImmediate(begin, response, problem, true);
    if (portClosing !== undefined) return void portClosing.promise.then(() => begin(response, problem, true));
    if (draining) closeAfterBody(response);
    if (problem === undefined) app(response.req, response);
    else answerProblem(response, problem);
  }

  // Node's timer takes up to twice as long while bytes wait to be written.
  server.timeout = idleTimeout / 2;
  server.on('timeout', (socket: Socket) => {
    if (connections.get(socket)?.isExpired() === false) socket.setTimeout(idleTimeout / 2);
    else socket.destroy();
  });
  // Node would leave out the headers beyond a count; their size is bounded anyway.
  server.maxHeadersCount = 0;
  limitConnections(server, options.onDropped);
  server.on('connection', (socket: Socket) => {
    acceptedAt = performance.now();
    const onHeaderOverflow = (): void => rejectConnection({ code: 'HPE_HEADER_OVERFLOW' }, socket);
    connections.set(socket, createConnection(socket, lingerTimeout, begin, onHeaderOverflow));
    socket.once('close', () => connections.delete(socket));
  });
  // With this listener Node leaves it to the app to ask for the body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    onRequest(request, response, { status: 417, message: 'the only expectation that can be met is 100-continue' }),
  );

  function drain(): void {
    draining = true;
    for (const { newest } of connections.values()) if (newest !== undefined) closeAfterBody(newest);
  }

  /** Closes a connection after a response that has waited for the whole request: no client is reset while it sends. */
  function closeAfterBody(response: ServerResponse): void {
    const { req: request } = response;
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (request.complete || (length === '0' && coding === undefined)) closeAfter(connection, response);
    else request.once('end', () => closeAfter(connection, response));
  }

  /**
   * Resolves when no connection waits for a request that may be on its way, and none has come for the time `quiet`.
   * Closes those that wait for long.
   */
  async function requestsArrived(waits: (connection: Connection) => boolean, quiet: number): Promise<void> {
    const start = performance.now();
    for (;;) {
      const isLate = performance.now() > start + limits.idleStopTimeout;
      // Who replaces a server quickly passes on connections, but answers no questions.
      if (quiet > 0) await allAccepted?.();
      // Right after the event loop has accepted and read.
      await immediate();
      const waiting = [...connections].filter(([, connection]) => waits(connection));
      if (isLate) for (const [socket] of waiting) socket.destroy();
      const isQuiet = performance.now() >= Math.max(start, acceptedAt) + quiet;
      if (isLate || (waiting.length === 0 && isQuiet)) return;
      await delay(ARRIVAL_CHECK);
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: 1024 }, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    server,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    drain,
    async stop(quick = false) {
      drain();
      if (!quick) {
        await requestsArrived(({ newest, closing }) => newest === undefined && !closing, 0);
        // Connections that wait to be accepted are reset when the port closes. Clients that wait for answers open none.
        portClosing = Promise.withResolvers();
      }
      await requestsArrived(({ isUsed }) => !isUsed, quick ? 0 : quietTimeout);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Other workers that share the port close it about now.
      if (!quick) await delay(quietTimeout);
      portClosing?.resolve();
      portClosing = undefined;
      // Connections whose answer could not say that it is the last one.
      const close = setInterval(() => server.closeIdleConnections(), ARRIVAL_CHECK);
      const abort = setTimeout(() => {
        // The error is for the log: it was not the client that went away.
        for (const socket of connections.keys()) socket.destroy(CUT_OFF);
      }, limits.stopTimeout);
      await closed;
      clearTimeout(abort);
      clearInterval(close);
    },
  };
}

/** Closes a connection after a response, if that can still be said in its headers. */
function closeAfter(connection: Connection, response: ServerResponse): void {
  if (response.headersSent) return;
  connection.closing = true;
  response.setHeader('Connection', 'close');
}
