import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { faultOf } from './faults.ts';
import { CUT_OFF, LIMITS, type ListenOptions, type Problem } from './options.ts';
import { rejecter } from './rejected.ts';

// An import of node:http loads a whole HTTP client beside it, for 30 ms of the start.
const { createServer } = process.getBuiltinModule('node:http');

/** Descriptors that are kept for files, databases and other servers. */
const RESERVED_FILES = 64;

/** How often connections are looked at while a stop waits for them. Milliseconds. */
const ARRIVAL_CHECK = 10;

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
  const limits = { ...LIMITS, ...options.limits };
  const { headersTimeout, idleTimeout, quietTimeout } = limits;
  const connections = new Map<Duplex, Connection>();
  let accepted = 0;
  /** The requests that wait while the port closes. */
  let held: (() => void)[] | undefined;
  let draining = false;

  const server = createServer(
    {
      ...limits,
      connectionsCheckingInterval: Math.min(1000, headersTimeout),
      // Node would answer these itself, without a body.
      requireHostHeader: false,
      // Node would take the first of two values, and other software may take the second one. Both together are no value.
      joinDuplicateHeaders: true,
    },
    onRequest,
  );
  const { answerProblem, rejectConnection } = rejecter(server, connections, limits, options);

  /** @param fault why the request does not reach the app. */
  function onRequest(request: IncomingMessage, response: ServerResponse, fault = faultOf(request)): void {
    const connection = connections.get(request.socket);
    // The answer before this request has told the client that no other will follow (RFC 9112 §9.6).
    if (connection === undefined || connection.closing) return;
    // Node drops the bytes after a request for an upgrade.
    if (request.headers.upgrade !== undefined) closeAfter(connection, response);
    connection.inTurn(response, fault);
  }

  function begin(response: ServerResponse, fault: Problem | undefined, isLater = false): void {
    // The body may have been rejected while the request waited.
    if (response.headersSent) return;
    // In the next round, a body that has come with its head is complete: its answer can say that it is the last one.
    if (draining && !isLater) return void setImmediate(begin, response, fault, true);
    if (held !== undefined) return void held.push(() => begin(response, fault, true));
    const connection = connections.get(response.req.socket);
    if (draining && connection !== undefined) closeAfterBody(connection, response);
    if (fault === undefined) app(response.req, response);
    else answerProblem(response, fault);
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
    accepted += 1;
    const onHeaderOverflow = (): void => rejectConnection({ code: 'HPE_HEADER_OVERFLOW' }, socket);
    connections.set(socket, new Connection(socket, { ...limits, begin, onHeaderOverflow }));
    socket.once('close', () => connections.delete(socket));
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

  /**
   * Resolves when no connection waits for a request that may be on its way, and none has come for the time `quiet`.
   * Closes those that wait for long.
   */
  async function requestsArrived(waits: (connection: Connection) => boolean, quiet: number): Promise<void> {
    const latest = performance.now() + limits.idleStopTimeout;
    let [before, since] = [accepted, performance.now()];
    for (;;) {
      const isLate = performance.now() > latest;
      // Who replaces a server quickly passes on connections, but answers no questions.
      if (quiet > 0) await options.allAccepted?.();
      // Right after the event loop has accepted and read.
      await immediate();
      if (accepted > before) [before, since] = [accepted, performance.now()];
      const waiting = [...connections].filter(([, connection]) => waits(connection));
      if (isLate) for (const [socket] of waiting) socket.destroy();
      if (isLate || (waiting.length === 0 && performance.now() - since >= quiet)) return;
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
        held = [];
      }
      await requestsArrived(({ isUsed }) => !isUsed, quick ? 0 : quietTimeout);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Other workers that share the port close it about now.
      if (!quick) await delay(quietTimeout);
      const waiting = held ?? [];
      held = undefined;
      for (const begin of waiting) begin();
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

/** Closes a connection after a response that has waited for the whole request: no client is reset while it sends. */
function closeAfterBody(connection: Connection, response: ServerResponse): void {
  const { req: request } = response;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  if (request.complete || (length === '0' && coding === undefined)) closeAfter(connection, response);
  else request.once('end', () => closeAfter(connection, response));
}

/**
 * Limits the connections of a server to what the limit of open files (`ulimit -n`) leaves room for: beyond it, the system
 * would drop them without a word. Only Linux tells its limit in a file.
 */
function limitConnections(server: Server, onDropped: ListenOptions['onDropped']): void {
  if (process.platform !== 'linux') return;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (Number(limit) > RESERVED_FILES) server.maxConnections = Number(limit) - RESERVED_FILES;
  let dropped = 0;
  const tell = (): void => {
    onDropped?.(dropped);
    dropped = 0;
  };
  server.on('drop', () => {
    dropped += 1;
    if (dropped === 1) setTimeout(tell, 1_000).unref();
  });
}
