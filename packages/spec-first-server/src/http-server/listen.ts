import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { Gate } from './gate.ts';
import { LIMITS, type Limits } from './limits.ts';
import { CutOff, PROBLEM_DETAILS, type Problem, type ProblemBody } from './problem.ts';
import { answerProblem, answerRejected, type OnRejected } from './rejected.ts';
import { faultOf } from './request-faults.ts';

// An import of node:http loads a whole HTTP client beside it, for 30 ms of the start.
const { createServer, IncomingMessage: Incoming, ServerResponse: Outgoing } = process.getBuiltinModule('node:http');

/** Where to listen, and how to answer what is not for the app. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly limits?: Partial<Limits>;
  readonly onRejected?: OnRejected;
  /** By default problem details. */
  readonly errorBody?: ProblemBody | undefined;
  /** Prototypes for requests and responses. An Express app has both, and would set them for each request. */
  readonly prototypes?: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
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
   * Stops accepting, lets what is in flight finish, and ends what is not finished in time. Idle connections get time for
   * a request that is on its way. If the stop is `quick`, as another server takes over, only those without a request so far.
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
  const { host, port, onRejected = () => {}, errorBody = PROBLEM_DETAILS, allAccepted } = options;
  const limits = { ...LIMITS, ...options.limits };
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize } = limits;
  const connections = new Map<Duplex, Connection>();
  const gate = new Gate();
  let draining = false;
  let stopping = false;

  /** @param fault why the request does not reach the app. */
  function accept(request: IncomingMessage, response: ServerResponse, fault = faultOf(request)): void {
    const connection = connections.get(request.socket);
    // The answer before this request has told the client that no other will follow (RFC 9112 §9.6).
    if (connection === undefined || connection.closing) return;
    response.on('close', over);
    // Node drops the bytes after a request for an upgrade.
    if (draining || request.headers.upgrade !== undefined) closeAfter(connection, response);
    const go = (): void => {
      if (gate.isClosed) gate.hold(go);
      else begin(request, response, fault);
    };
    connection.inTurn(response, go);
  }

  function begin(request: IncomingMessage, response: ServerResponse, fault: Problem | undefined): void {
    // The body may have been rejected while the request waited.
    if (response.writableEnded) return;
    if (fault === undefined) return void app(request, response);
    answerProblem(response, fault, errorBody);
    onRejected(fault, request.socket.remoteAddress);
  }

  function over(this: ServerResponse): void {
    const { req: request } = this;
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.over(this);
    // An answer that did not wait for the body is over before its request is.
    if (!request.complete) request.once('close', () => over.call(this));
    else if (stopping && connection.newest === undefined) request.socket.destroySoon();
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
      IncomingMessage: withPrototype(Incoming, options.prototypes?.request),
      ServerResponse: withPrototype(Outgoing, options.prototypes?.response),
    },
    accept,
  );
  server.timeout = limits.idleTimeout;
  // Node would leave out the headers beyond a count; their size is bounded anyway.
  server.maxHeadersCount = 0;
  // A client that has asked for all that it wants may close its side, and still reads (RFC 9293 §3.6).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => {
    gate.connections += 1;
    connections.set(socket, new Connection(socket, limits.lingerTimeout));
    socket.once('close', () => connections.delete(socket));
  });
  // With this listener Node leaves it to the app to ask for the body.
  server.on('checkContinue', accept);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    accept(request, response, { status: 417, message: 'the only expectation that can be met is 100-continue' }),
  );
  answerRejected(server, connections, { limits, errorBody, onRejected });

  function drain(): void {
    draining = true;
    for (const connection of connections.values()) {
      if (connection.newest !== undefined) closeAfter(connection, connection.newest);
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
      if (!quick) await gate.close(limits.quietTimeout, allAccepted);
      stopping = true;
      // Not that of the HTTP server, which would cut off connections whose first request is still on its way.
      const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
      // Other workers that share the port close it about now.
      if (!quick) await delay(limits.quietTimeout);
      gate.open();
      const closeIdle = (andUnused: boolean) => {
        for (const [socket, { newest, isUsed }] of connections) {
          if (newest === undefined && (isUsed || andUnused)) socket.destroy();
        }
      };
      const idle = quick ? setTimeout(closeIdle, limits.quietTimeout, false) : undefined;
      // A request may be on its way, or may have come since the event loop looked.
      const unused = setTimeout(setImmediate, limits.idleStopTimeout, closeIdle, true);
      const end = setTimeout(() => {
        // The error is for the log: it was not the client that went away.
        for (const socket of connections.keys()) socket.destroy(new CutOff());
      }, limits.stopTimeout);
      await closed;
      clearTimeout(idle);
      clearTimeout(unused);
      clearTimeout(end);
    },
  };
}

/** A class whose objects have a prototype from the start: to change it later costs a request 2 µs. */
function withPrototype<Class extends typeof IncomingMessage | typeof ServerResponse>(
  base: Class,
  prototype: object = base.prototype,
): Class {
  function Made(...values: unknown[]) {
    return Reflect.construct(base, values, Made);
  }
  Made.prototype = prototype;
  return Made as unknown as Class;
}

/** Closes a connection after a response, if that can still be said in its headers. */
function closeAfter(connection: Connection, response: ServerResponse): void {
  if (response.headersSent) return;
  connection.closing = true;
  response.setHeader('Connection', 'close');
}
