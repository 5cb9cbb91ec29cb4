import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureOf, failureReply } from '../core/response/failures.ts';
import { type Failure, HttpError } from '../core/response/http-error.ts';
import { type ErrorBody, reasonPhrase } from '../core/response/problem.ts';
import { FRAMING_HEADERS } from '../core/response/reply.ts';
import type { ClientConnection } from './connection.ts';
import { parserFault } from './faults.ts';

/** Loaded without `import`, which would also load HTTP/2 and undici, and take 40 ms. */
export const http = process.getBuiltinModule('node:http');

/**
 * Called for each request that is rejected before the app gets it.
 *
 * @param client the address of the other end of the connection.
 */
export type OnRejected = (reason: Failure, client: string | undefined) => void;

/** The error of a socket that the server closed at a stop, before its request was answered. */
export const CUT_OFF = new HttpError(503, 'the service stopped before the request was answered');

const NO_TUNNELS = new HttpError(405, 'CONNECT is not a method of this service', {
  // Empty, since no method is allowed for this target (RFC 9110 §10.2.1).
  headers: { Allow: '' },
});

/** The failures of requests that were rejected while the app answered them, by response. */
const rejections = new WeakMap<ServerResponse, Failure>();

export const rejectionOf = (response: ServerResponse): Failure | undefined =>
  rejections.get(response);

/**
 * Rejects requests that the app must not get: bytes that are not HTTP, requests that do not arrive
 * in time, `CONNECT`.
 */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, ClientConnection>,
  requestTimeout: number,
  errorBody: ErrorBody,
  onRejected: OnRejected | undefined,
) {
  server.on('connect', ({ socket }) => {
    // Node no longer handles the errors of this connection.
    socket.on('error', () => undefined);
    const connection = connections.get(socket);
    if (connection !== undefined) rejectConnection(connection, NO_TUNNELS);
  });
  server.on('clientError', onClientError);
  return { rejectRequest, rejectConnection };

  function onClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
    const connection = connections.get(socket);
    const { code = '' } = error;
    if (connection === undefined || !socket.writable || code === 'ECONNRESET')
      return void socket.destroy();
    const { newestResponse: response, isWaiting, waitsForResponses } = connection.requests;
    if (connection.isClosing && !socket.readableEnded) return;
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && waitsForResponses) {
      connection.watch(requestTimeout, () => onClientError(error, socket));
      return;
    }
    if (response === undefined || response.req.complete)
      rejectConnection(connection, parserFault(code));
    // The body of the newest request is invalid.
    else if (isWaiting) {
      connection.isClosing = true;
      connection.fault = parserFault(code);
    } else if (!response.headersSent) rejectRequest(connection, response, parserFault(code));
    else connection.end(() => connection.linger());
  }

  function messageOf(reason: HttpError) {
    const { failure, reply } = failureReply(failureOf(reason), errorBody);
    const { status, type = '', body } = reply;
    const text = String(body);
    const others = Object.entries(reply.headers ?? {}).filter(
      ([name]) => !FRAMING_HEADERS.has(name.toLowerCase()),
    );
    const headers = {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      ...Object.fromEntries(others),
    };
    return { failure, status, headers, text };
  }

  /** Sends an error response after all other responses, and closes the connection. */
  function rejectConnection(connection: ClientConnection, reason: HttpError): void {
    connection.end(() => {
      const { socket } = connection;
      const { failure, status, headers, text } = messageOf(reason);
      const lines = { ...headers, Connection: 'close', Date: new Date().toUTCString() };
      const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${head.join('')}\r\n${text}`);
      connection.linger();
      onRejected?.(failure, socket.remoteAddress);
    });
  }

  function rejectRequest(
    connection: ClientConnection,
    response: ServerResponse,
    reason: HttpError,
  ): void {
    const { failure, status, headers, text } = messageOf(reason);
    if (connection.isServing) rejections.set(response, failure);
    else onRejected?.(failure, connection.socket.remoteAddress);
    connection.closeAfter(response);
    response.writeHead(status, headers).end(text);
  }
}
