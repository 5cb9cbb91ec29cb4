import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connection } from './connection.ts';
import { parserError } from './faults.ts';
import { type Limits, type ListenOptions, PROBLEM_DETAILS, type Problem } from './options.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Answers what Node's parser rejects: bytes that are not HTTP, what does not arrive in time, and `CONNECT`. */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  { maxHeaderSize, lingerTimeout }: Limits,
  { errorBody: { make, mediaType } = PROBLEM_DETAILS, onRejected }: ListenOptions,
) {
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node has let go of the connection and its errors.
    socket.on('error', () => undefined);
    // An empty Allow: there is no method for such a target (RFC 9110 §10.2.1).
    close(socket, { status: 405, message: 'CONNECT is not a method of this service' }, 'Allow: \r\n');
  });
  server.on('clientError', rejectConnection);
  return { answerProblem, rejectConnection };

  /** Rejects what comes on a connection, for an error of Node's parser. */
  function rejectConnection({ code = '' }: { readonly code?: string }, socket: Duplex): void {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable || code === 'ECONNRESET') return void socket.destroy();
    const { newest, closing } = connection;
    // The parser fails with each byte that still comes.
    if (closing && !socket.readableEnded) return;
    const why = parserError(code, maxHeaderSize);
    if (newest === undefined || newest.req.complete) close(socket, why);
    else if (newest.headersSent) close(socket);
    else {
      // It is the body of the newest request that is broken.
      connection.closing = true;
      answerProblem(newest, why);
    }
  }

  /** Closes a connection once its requests are answered. @param why what the client is told */
  function close(socket: Duplex | Socket, why?: Problem, header = ''): void {
    connections.get(socket)?.end(() => {
      if (why === undefined || !socket.writable) return;
      const text = JSON.stringify(make(why));
      const head = `HTTP/1.1 ${why.status} ${STATUS_CODES[why.status]}\r\nContent-Type: ${mediaType}\r\n`;
      const framing = `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n`;
      socket.write(`${head}${framing}Date: ${new Date().toUTCString()}\r\n${header}\r\n${text}`);
      onRejected?.(why, 'remoteAddress' in socket ? socket.remoteAddress : undefined);
    });
  }

  /**
   * Answers a request with a problem, and closes the connection then: after the rest of the request, which the client may
   * still be sending, or after a while.
   */
  function answerProblem(response: ServerResponse, problem: Problem): void {
    const { req: request } = response;
    const text = JSON.stringify(make(problem));
    response.writeHead(problem.status, {
      'Content-Type': mediaType,
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    });
    response.write(text);
    onRejected?.(problem, request.socket.remoteAddress, response);
    const end = (): void => void response.end();
    const linger = setTimeout(end, lingerTimeout);
    response.once('close', () => clearTimeout(linger));
    request.once('end', end).once('close', end).resume();
  }
}
