import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type HttpFailure, parserFailure, type RejectableResponse } from '../http/failures.ts';
import type { ClientConnection } from './connection.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The response to a request that the app does not get. */
export interface FailureResponse {
  /** For the log. Another one than the given failure if its response cannot be made. */
  readonly failure: HttpFailure;
  /** Names and values alternate. Includes `Content-Length`. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
}

export interface RejectOptions {
  /** Returns the response to a failure. */
  readonly respond: (failure: HttpFailure, client: string | undefined) => FailureResponse;
  /**
   * Called for each request that is rejected before the app gets it.
   *
   * @param client the address of the other end of the connection.
   */
  readonly onRejected?: (failure: HttpFailure, client: string | undefined) => void;
}

const NO_TUNNELS: HttpFailure = {
  status: 405,
  message: 'CONNECT is not a method of this service',
  // Empty, since no method is allowed for this target (RFC 9110 §10.2.1).
  headers: { Allow: '' },
};

/**
 * Rejects requests that the app must not get: bytes that are not HTTP, requests that do not arrive
 * in time, `CONNECT`.
 */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, ClientConnection>,
  requestTimeout: number,
  { respond, onRejected }: RejectOptions,
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
    // The bytes of a connection that lingers are dropped. Node destroys a socket with an error.
    if (connection === undefined || !socket.writable) return;
    const { newestResponse: response, isWaiting, waitsForResponses } = connection;
    if (connection.isClosing && !socket.readableEnded) return;
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && waitsForResponses) {
      connection.watch(requestTimeout, () => onClientError(error, socket));
      return;
    }
    if (response === undefined || response.req.complete)
      rejectConnection(connection, parserFailure(code));
    // The body of the newest request is invalid.
    else if (isWaiting) {
      connection.isClosing = true;
      connection.bodyFailure = parserFailure(code);
    } else if (!response.headersSent) rejectRequest(connection, response, parserFailure(code));
    else connection.end(() => connection.linger());
  }

  /** Sends an error response after all other responses, and closes the connection. */
  function rejectConnection(connection: ClientConnection, reason: HttpFailure): void {
    connection.end(() => {
      const { socket } = connection;
      const { remoteAddress } = socket;
      const { failure, headers, body } = respond(reason, remoteAddress);
      const { status } = failure;
      const fields = ['Connection', 'close', 'Date', new Date().toUTCString(), ...headers];
      const lines = fields.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
      socket.cork();
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`);
      socket.write(body);
      socket.uncork();
      connection.linger();
      onRejected?.(failure, remoteAddress);
    });
  }

  function rejectRequest(
    connection: ClientConnection,
    response: RejectableResponse,
    reason: HttpFailure,
  ): void {
    const { remoteAddress } = connection.socket;
    const { failure, headers, body } = respond(reason, remoteAddress);
    if (connection.served === response) response.failure = failure;
    else onRejected?.(failure, remoteAddress);
    connection.closeAfter(response);
    response.writeHead(failure.status, [...headers]).end(body);
  }
}
