import cluster from 'node:cluster';
import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import {
  type HttpFailure,
  MAX_HEADER_SIZE,
  MAX_HEADERS,
  requestFailure,
} from '../http/failures.ts';
import { allowHalfOpen, joinPieces, requestClass } from '../http/node-internals.ts';
import { continueRequest } from '../http/request-body.ts';
import type { Resources } from '../http/resources.ts';
import { Arrivals } from './arrivals.ts';
import { ClientConnection, type ServerState } from './connection.ts';
import { Lingering } from './lingering.ts';
import { type RejectOptions, rejecter } from './reject.ts';
import { watchMemory } from './watch-memory.ts';

/** Loaded without `import`, which would also load HTTP/2 and undici, and take 40 ms. */
const { createServer } = process.getBuiltinModule('node:http');

/** The interval between two checks of the open connections during a stop, in milliseconds. */
const STOP_CHECK = 10;

/** The failure of a response that was not complete when a stop closed its connection. */
const CUT_OFF: HttpFailure = {
  status: 503,
  message: 'the service stopped before it responded',
};

const UNKNOWN_EXPECTATION: HttpFailure = {
  status: 417,
  message: 'the header expect must be 100-continue (RFC 9110 §10.1.1)',
};

/** The default time limits, in milliseconds. */
const LIMITS = {
  /** For the header section, from the start of the connection or of the request. */
  headersTimeout: 10_000,
  /** For the whole request. */
  requestTimeout: 30_000,
  /** Between two requests of a connection. */
  keepAliveTimeout: 65_000,
  /** Without a byte in either direction, also while the client does not read a response. */
  idleTimeout: 60_000,
  /** Without a byte from the client, after the last response of a connection. */
  lingerTimeout: 5_000,
  /** For the client to send the rest of its request, after the last response of a connection. */
  maxLinger: 30_000,
  /** The time that a stop waits for another request on a used connection. */
  idleStopTimeout: 1_000,
  /** The time that a stop waits for the first request of a connection. */
  arrivalStopTimeout: 1_000,
  /** The longest that each of the two waits above may take, even if new connections arrive. */
  maxArrivalStop: 5_000,
  /** The time without new connections, requests and responses until a stop closes the port. */
  quietTimeout: 50,
  /** The time from the closing of the port until a stop aborts the requests in flight. */
  stopTimeout: 10_000,
};

export type Limits = typeof LIMITS;

interface ListenOptions extends RejectOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** True if workers of `node:cluster` do not share the port. By default false. */
  readonly exclusive?: boolean;
  readonly limits?: Partial<Limits>;
  readonly resources: Resources;
}

export type Listening = Awaited<ReturnType<typeof listen>>;

/**
 * Listens, and passes the requests of each connection to the app one after the other. Rejects
 * requests that the app must not get: bytes that are not HTTP, ambiguous requests, `CONNECT`, an
 * unknown `Expect`, and requests that do not arrive in time.
 *
 * @throws {Error} of Node, if the address is not available.
 */
export async function listen(app: RequestListener, options: ListenOptions) {
  const { resources } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { headersTimeout, requestTimeout, idleTimeout } = limits;
  const connections = new Map<Duplex, ClientConnection>();

  const server: Server = createServer(
    {
      ...limits,
      IncomingMessage: requestClass(),
      maxHeaderSize: MAX_HEADER_SIZE,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // Limits the memory of unread bodies and responses.
      highWaterMark: 16_384,
      // By default, Node itself rejects requests without a Host header, and sends no body.
      requireHostHeader: false,
      // Joins the values of a repeated header, so that both are validated. By default, Node uses
      // the first value of some headers, and a proxy may use the second one.
      joinDuplicateHeaders: true,
    },
    onRequest,
  );
  const { rejectRequest, rejectConnection } = rejecter(
    server,
    connections,
    requestTimeout,
    options,
  );
  const state: ServerState = {
    arrivals: new Arrivals(),
    lingering: new Lingering(limits),
    resources,
    isDraining: false,
    portClosing: undefined,
    app,
    reject: rejectRequest,
  };
  server.once('close', watchMemory(connections, resources.memory, rejectConnection));

  function onRequest(
    request: ServerResponse['req'],
    response: ServerResponse,
    failure = requestFailure(request),
  ): void {
    joinPieces(request);
    const connection = connections.get(request.socket);
    // The previous response has announced that the connection closes (RFC 9112 §9.6).
    if (connection === undefined || connection.isClosing) return;
    // Node drops the bytes after a request for an upgrade.
    if (request.headers.upgrade !== undefined) connection.closeAfter(response);
    connection.add(response, failure);
  }

  // Node's timer takes up to twice as long while bytes wait to be written.
  server.timeout = idleTimeout / 2;
  // Node would create two timers for each request. `timeLeft` ends idle connections.
  server.keepAliveTimeout = 0;
  server.on('timeout', (socket) => {
    const timeLeft = connections.get(socket)?.timeLeft(limits) ?? 0;
    if (timeLeft > 0) socket.setTimeout(timeLeft);
    else socket.destroy();
  });
  server.maxHeadersCount = MAX_HEADERS;
  allowHalfOpen(server);
  server.on('connection', (socket) => {
    connections.set(socket, new ClientConnection(socket, state));
    socket.once('close', () => connections.delete(socket));
    state.arrivals.admit(socket);
  });
  // With this listener, Node does not send `100 Continue`. It is sent when the app or middleware
  // begins to read the body.
  server.on('checkContinue', (request, response) => {
    request.on('newListener', (event) => {
      if (event === 'data' || event === 'readable') continueRequest(request, response);
    });
    onRequest(request, response);
  });
  server.on('checkExpectation', (request, response) =>
    onRequest(request, response, UNKNOWN_EXPECTATION),
  );

  /** Closes each connection after the response to its newest request. */
  function drain(): void {
    state.isDraining = true;
    for (const connection of connections.values()) connection.drain();
  }

  /**
   * Resolves when no connection waits for a request. Closes connections that have waited longer
   * than the timeout.
   *
   * @param waits returns true if a request may be on its way.
   * @param quiet the time without new connections, requests and responses.
   */
  async function requestsArrived(
    waits: (connection: ClientConnection) => boolean,
    timeout: number,
    quiet: number,
  ): Promise<void> {
    const start = performance.now();
    let lastChange = start;
    let inFlight = 0;
    for (;;) {
      // Continues when the event loop has accepted connections and read requests.
      await immediate();
      const now = performance.now();
      const isOver = now > start + limits.maxArrivalStop;
      const inFlightBefore = inFlight;
      let isWaiting = false;
      inFlight = 0;
      for (const [socket, connection] of connections) {
        const { newestResponse, idleSince } = connection;
        if (newestResponse !== undefined) inFlight += 1;
        lastChange = Math.max(lastChange, idleSince);
        if (!waits(connection)) continue;
        const isLate = now > Math.max(start, idleSince) + timeout;
        if (isLate || isOver) socket.destroy();
        else isWaiting = true;
      }
      // Clients may open further connections after they receive a response.
      if (inFlight !== inFlightBefore) lastChange = now;
      if (isOver || (!isWaiting && now >= lastChange + quiet)) return;
      await delay(STOP_CHECK);
    }
  }

  const { host, port: requestedPort, exclusive = false } = options;
  server.listen({ host, port: requestedPort, exclusive, backlog: 1024 });
  await once(server, 'listening');
  const { address, port, family } = server.address() as AddressInfo;
  return {
    server,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    drain,
    /** Stops accepting, finishes the requests in flight, and aborts those that take too long. */
    async stop(): Promise<void> {
      drain();
      await requestsArrived(
        ({ count, newestResponse, isClosing }) =>
          count > 0 && newestResponse === undefined && !isClosing,
        limits.idleStopTimeout,
        0,
      );
      // Closing the port resets connections that are not accepted yet. Holds new requests until the
      // port is closed: a client that waits for a response does not connect again. A worker of a
      // cluster needs no delay: the primary gives new connections to other workers.
      const portClosing = Promise.withResolvers<void>();
      if (!cluster.isWorker) state.portClosing = portClosing.promise;
      await requestsArrived(
        ({ count }) => count === 0,
        limits.arrivalStopTimeout,
        cluster.isWorker ? 0 : limits.quietTimeout,
      );
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      state.portClosing = undefined;
      portClosing.resolve();
      // Closes idle connections whose last response was sent without `Connection: close`.
      using _closeTimer = setInterval(() => {
        for (const [socket, { newestResponse, isClosing }] of connections) {
          if (newestResponse === undefined && !isClosing) socket.destroy();
        }
      }, STOP_CHECK);
      using _abortTimer = setTimeout(() => {
        for (const connection of connections.values()) connection.cutOff(CUT_OFF);
      }, limits.stopTimeout);
      await closed;
      // Node closes the server before its last connection, which releases its memory then.
      while (connections.size > 0) await immediate();
    },
  };
}
