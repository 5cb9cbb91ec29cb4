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
export function answerRejected(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  { limits, errorBody, onRejected }: RejectedOptions,
): void {
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node has let go of the connection, its errors and its timeouts.
    socket.on('error', () => undefined);
    socket.on('timeout', () => socket.destroy());
    // An empty Allow: there is no method for such a target (RFC 9110 §10.2.1).
    close(socket, { status: 405, message: 'CONNECT is not a method of this service' }, '');
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
      if (!closing) close(socket, why);
    } else if (!newest.headersSent) {
      // It is the body of the newest request that is broken.
      connection.closing = true;
      answerProblem(newest, why, errorBody);
      onRejected(why, connection.client, newest);
    } else if (!closing) close(socket);
  });

  /** Closes a connection once its requests are answered. @param why what the client is told */
  function close(socket: Duplex, why?: Problem, allow?: string): void {
    const connection = connections.get(socket);
    connection?.end(() => {
      if (why === undefined || !socket.writable) return;
      socket.write(rawResponse(why, errorBody, allow));
      onRejected(why, connection.client);
    });
  }
}

/** Answers a request with a problem, and closes the connection then. */
export function answerProblem(response: ServerResponse, problem: Problem, { make, mediaType }: ProblemBody): void {
  const text = JSON.stringify(make(problem));
  const headers = { 'Content-Type': mediaType, 'Content-Length': Buffer.byteLength(text), Connection: 'close' };
  response.writeHead(problem.status, headers).end(text);
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
