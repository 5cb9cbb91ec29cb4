import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody, Problem } from '../../core/response/problem.ts';
import type { Connection } from './connection.ts';
import { parserProblem } from './faults.ts';
import { hasBody } from './request-body.ts';

/** An `import` of node:http would also load the HTTP client, which takes 40 ms. */
export const http = process.getBuiltinModule('node:http');

/**
 * Called with each request that is rejected before the app gets it.
 *
 * @param client the address of the other end of the connection.
 * @param response the response of the request, unless the bytes were not a request.
 */
export type OnRejected = (
  problem: Problem,
  client: string | undefined,
  response?: ServerResponse,
) => void;

/** The problem of a request if there is no memory for it. */
export const NO_MEMORY: Problem = {
  status: 503,
  message: 'too many requests at once: try again later',
};

/**
 * Rejects requests that the app must not get: bytes that are not HTTP, requests that do not arrive
 * in time, `CONNECT`.
 *
 * @param linger closes a connection after the client has read the response.
 */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  requestTimeout: number,
  linger: (socket: Duplex) => void,
  { make, mediaType }: ErrorBody,
  onRejected: OnRejected | undefined,
) {
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node no longer handles the errors of this connection.
    socket.on('error', () => undefined);
    // The empty Allow means that no method is allowed for this target (RFC 9110 §10.2.1).
    rejectConnection(
      socket,
      { status: 405, message: 'CONNECT is not a method of this service' },
      'Allow: \r\n',
    );
  });
  server.on('clientError', onClientError);
  return { rejectRequest, rejectConnection };

  function onClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
    const connection = connections.get(socket);
    const { code = '' } = error;
    if (connection === undefined || !socket.writable || code === 'ECONNRESET')
      return void socket.destroy();
    if (connection.closing && !socket.readableEnded) return;
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.waitsForAnswers) {
      connection.watch(requestTimeout, () => onClientError(error, socket));
      return;
    }
    const { newest } = connection;
    if (newest === undefined || newest.req.complete) rejectConnection(socket, parserProblem(code));
    // The body of the newest request is invalid.
    else if (connection.isQueued) {
      connection.closing = true;
      connection.fault = parserProblem(code);
    } else if (!newest.headersSent) rejectRequest(newest, parserProblem(code));
    else connection.end(() => linger(socket));
  }

  /** Sends an error response after all other responses, and closes the connection. */
  function rejectConnection(socket: Duplex, problem: Problem, header = ''): void {
    connections.get(socket)?.end(() => {
      const text = JSON.stringify(make(problem));
      const { status } = problem;
      const head = [
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
        `Content-Type: ${mediaType}`,
        `Content-Length: ${Buffer.byteLength(text)}`,
        'Connection: close',
        `Date: ${new Date().toUTCString()}`,
      ];
      if (status === 503) head.push('Retry-After: 1');
      socket.write(`${head.join('\r\n')}\r\n${header}\r\n${text}`);
      linger(socket);
      onRejected?.(problem, 'remoteAddress' in socket ? String(socket.remoteAddress) : undefined);
    });
  }

  /** Sends an error response, and closes the connection. */
  function rejectRequest(response: ServerResponse, problem: Problem): void {
    const { socket } = response.req;
    const text = JSON.stringify(make(problem));
    const retry = problem.status === 503 ? { 'Retry-After': '1' } : undefined;
    response.writeHead(problem.status, {
      'Content-Type': mediaType,
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
      ...retry,
    });
    onRejected?.(problem, socket.remoteAddress, response);
    const connection = connections.get(socket);
    if (connection !== undefined) connection.closing = true;
    // Node would close the connection after `end`, and a client that still sends would lose the
    // response.
    if (response.req.complete || !hasBody(response.req)) response.end(text);
    else {
      response.write(text);
      linger(socket);
    }
  }
}
