import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { noConnections, requestsArrived } from './arrivals.ts';
import { Connection } from './connection.ts';
import { LIMITS, type Limits } from './limits.ts';
import { limitConnections } from './open-files.ts';
import { CutOff, PROBLEM_DETAILS, type Problem, type ProblemBody } from './problem.ts';
import { type OnRejected, rejecter } from './rejected.ts';
import { faultOf } from './request-faults.ts';

// An import of node:http loads a whole HTTP client beside it, for 30 ms of the start.
const { createServer } = process.getBuiltinModule('node:http');

/** From so many connections on, their number is limited. */
const MANY = 250;

/** Where to listen, and how to answer what is not for the app. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly limits?: Partial<Limits>;
  readonly onRejected?: OnRejected;
  /** Called when connections are dropped, since the limit of open files is reached: at most once a second. */
  readonly onDropped?: ((connections: number) => void) | undefined;
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
  const { host, port, onRejected = () => {}, onDropped = () => {}, errorBody = PROBLEM_DETAILS, allAccepted } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { headersTimeout, requestTimeout, keepAliveTimeout, idleTimeout, lingerTimeout, maxHeaderSize } = limits;
  const connections = new Map<Duplex, Connection>();
  let accepted = 0;
  /** The requests that wait while the port closes. */
  let held: (() => void)[] | undefined;
  let draining = false;
  let stopping = false;

  const server = createServer(
    {
      headersTimeout,
      requestTimeout,
      keepAliveTimeout,
      maxHeaderSize,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // Node would answer these itself, without a body.
      requireHostHeader: false,
      // Node would take the first of two values, and other software may take the second one. Both together are no value.
      joinDuplicateHeaders: true,
    },
    onRequest,
  );
  const { answerProblem, rejectConnection } = rejecter(server, connections, { limits, errorBody, onRejected });

  /** @param fault why the request does not reach the app. */
  function onRequest(request: IncomingMessage, response: ServerResponse, fault = faultOf(request)): void {
    const connection = connections.get(request.socket);
    // The answer before this request has told the client that no other will follow (RFC 9112 §9.6).
    if (connection === undefined || connection.closing) return;
    response.on('close', onResponseClose);
    // Node drops the bytes after a request for an upgrade.
    if (request.headers.upgrade !== undefined) closeAfter(connection, response);
    else if (draining) closeAfterBody(connection, response);
    connection.inTurn(response, () => begin(request, response, fault));
  }

  function begin(request: IncomingMessage, response: ServerResponse, fault: Problem | undefined): void {
    // The body may have been rejected while the request waited.
    if (response.headersSent) return;
    if (held !== undefined) held.push(() => begin(request, response, fault));
    else if (fault === undefined) app(request, response);
    else answerProblem(response, fault);
  }

  function onResponseClose(this: ServerResponse): void {
    const { req: request } = this;
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.onResponseClose(this);
    // An answer that did not wait for the body is over before its request is.
    if (!request.complete) request.once('close', () => onResponseClose.call(this));
    else if (stopping && connection.newest === undefined) request.socket.destroySoon();
  }

  // Node's timer takes up to twice as long while bytes wait to be written.
  server.timeout = idleTimeout / 2;
  server.on('timeout', (socket: Socket) => {
    if (connections.get(socket)?.isExpired() === false) socket.setTimeout(idleTimeout / 2);
    else socket.destroy();
  });
  // Node would leave out the headers beyond a count; their size is bounded anyway.
  server.maxHeadersCount = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    const onHeaderOverflow = (): void => rejectConnection({ code: 'HPE_HEADER_OVERFLOW' }, socket);
    connections.set(socket, new Connection(socket, { maxHeaderSize, lingerTimeout, onHeaderOverflow }));
    socket.once('close', () => connections.delete(socket));
    if (connections.size === MANY) limitConnections(server, onDropped);
  });
  // With this listener Node leaves it to the app to ask for the body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    onRequest(request, response, { status: 417, message: 'the only expectation that can be met is 100-continue' }),
  );

  function drain(): void {
    draining = true;
    for (const connection of connections.values()) {
      if (connection.newest !== undefined) closeAfterBody(connection, connection.newest);
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    server,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    drain,
    async stop(quick = false) {
      drain();
      await requestsArrived(connections, limits.idleStopTimeout, quick);
      if (!quick) {
        // Connections that wait to be accepted are reset when the port closes. Clients that wait for answers open none.
        held = [];
        await noConnections(() => accepted, limits.quietTimeout, allAccepted);
        await requestsArrived(connections, limits.idleStopTimeout, true);
      }
      stopping = true;
      // Node closes the connections that wait for a request.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Other workers that share the port close it about now.
      if (!quick) await delay(limits.quietTimeout);
      const waiting = held ?? [];
      held = undefined;
      for (const begin of waiting) begin();
      const abort = setTimeout(() => {
        // The error is for the log: it was not the client that went away.
        for (const socket of connections.keys()) socket.destroy(new CutOff());
      }, limits.stopTimeout);
      await closed;
      clearTimeout(abort);
    },
  };
}

/** Closes a connection after a response, if that can still be said in its headers. */
function closeAfter(connection: Connection, response: ServerResponse): void {
  if (response.headersSent) return;
  connection.closing = true;
  response.setHeader('Connection', 'close');
}

/** Closes a connection after a response that has waited for the whole request: no client is reset while it sends. */
function closeAfterBody(connection: Connection, response: ServerResponse): void {
  const { req: request } = response;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  if (request.complete || (length === '0' && coding === undefined)) closeAfter(connection, response);
  else request.once('end', () => closeAfter(connection, response));
}
