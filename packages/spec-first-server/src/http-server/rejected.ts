import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Connection } from './connection.ts';
import type { Limits } from './limits.ts';
import { parserError } from './parser-errors.ts';
import type { Problem, ProblemBody } from './problem.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Called with each request that is rejected before the app gets it.
 *
 * @param client the address of the connection's other end.
 * @param response what the app was about to answer with, if the request had come that far.
 */
export type OnRejected = (why: Problem, client: string | undefined, response?: ServerResponse) => void;

/** How rejected requests are answered. */
interface RejectedOptions {
  readonly limits: Limits;
  readonly errorBody: ProblemBody;
  readonly onRejected: OnRejected;
}

/** Answers what Node's parser rejects: bytes that are not HTTP, what does not arrive in time, and `CONNECT`. */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  { limits, errorBody, onRejected }: RejectedOptions,
) {
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node has let go of the connection and its errors.
    socket.on('error', () => undefined);
    // An empty Allow: there is no method for such a target (RFC 9110 §10.2.1).
    close(socket, { status: 405, message: 'CONNECT is not a method of this service' }, '');
  });
  server.on('clientError', rejectConnection);
  return { answerProblem, rejectConnection };

  /** Rejects what comes on a connection, for an error of Node's parser. */
  function rejectConnection(error: { readonly code?: string }, socket: Duplex): void {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const { newest, closing } = connection;
    // The parser fails with each byte that still comes.
    if (closing && !socket.readableEnded) return;
    const why = parserError(error, limits);
    if (newest === undefined || newest.req.complete) close(socket, why);
    else if (newest.headersSent) close(socket);
    else {
      // It is the body of the newest request that is broken.
      connection.closing = true;
      answerProblem(newest, why);
    }
  }

  /** Closes a connection once its requests are answered. @param why what the client is told */
  function close(socket: Duplex, why?: Problem, allow?: string): void {
    const connection = connections.get(socket);
    connection?.end(() => {
      if (why === undefined || !socket.writable) return;
      socket.write(rawResponse(why, errorBody, allow));
      onRejected(why, connection.client);
    });
  }

  /**
   * Answers a request with a problem, and closes the connection then: after the rest of the request, which the client may
   * still be sending, or after a while.
   */
  function answerProblem(response: ServerResponse, problem: Problem): void {
    const { req: request } = response;
    const text = JSON.stringify(errorBody.make(problem));
    response.writeHead(problem.status, {
      'Content-Type': errorBody.mediaType,
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    });
    response.write(text);
    onRejected(problem, request.socket.remoteAddress, response);
    const end = (): void => void response.end();
    const linger = setTimeout(end, limits.lingerTimeout);
    response.once('close', () => clearTimeout(linger));
    request.once('end', end).once('close', end).resume();
  }
}

/** A whole HTTP response, for a connection that has no other way to answer. */
function rawResponse(problem: Problem, { make, mediaType }: ProblemBody, allow: string | undefined): string {
  const text = JSON.stringify(make(problem));
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${mediaType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    ...(allow === undefined ? [] : [`Allow: ${allow}`]),
    '',
    text,
  ].join('\r\n');
}
