import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Connection, fault, MAX_HEADER_SIZE, type Problem } from './connection.ts';

/** An import of node:http would load a whole HTTP client beside it, for 40 ms of the start. */
export const http = process.getBuiltinModule('node:http');

/**
 * Called with each request that is rejected before the app gets it.
 *
 * @param client the address of the connection's other end.
 * @param response what the app was about to answer with, if the request had come that far.
 */
export type OnRejected = (why: Problem, client: string | undefined, response?: ServerResponse) => void;

/** How the body of an answer to a rejected request is made. */
export interface ProblemBody {
  /** The media type of what `make` returns. */
  readonly mediaType: string;
  /** Returns a value that is written as JSON. */
  readonly make: (problem: Problem) => unknown;
}

/** Problem details (RFC 9457). */
export const PROBLEM_DETAILS: ProblemBody = {
  mediaType: 'application/problem+json',
  make: ({ status, message }) => ({ status, title: message }),
};

/** What the client learns of bytes that never became a request, by Node's codes (RFC 9112). */
const PARSER_ERRORS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: `the header section must have at most ${MAX_HEADER_SIZE} bytes` },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'the chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
  HPE_INVALID_METHOD: fault('the request line must begin with a method of HTTP in capitals (RFC 9112 §3.1)'),
  HPE_INVALID_URL: fault('the request target must be percent-encoded (RFC 9112 §3.2)'),
  HPE_INVALID_VERSION: fault('the version of HTTP must be 1.1 (RFC 9112 §2.3)'),
  HPE_INVALID_HEADER_TOKEN: fault('a header must be a name, a colon and visible characters (RFC 9112 §5)'),
  HPE_INVALID_CONTENT_LENGTH: fault('Content-Length must be a number, without Transfer-Encoding (RFC 9112 §6)'),
  HPE_UNEXPECTED_CONTENT_LENGTH: fault('Content-Length must come once, without Transfer-Encoding (RFC 9112 §6)'),
  HPE_INVALID_TRANSFER_ENCODING: fault('the transfer coding must be chunked, without Content-Length (RFC 9112 §6.1)'),
  HPE_INVALID_CHUNK_SIZE: fault('a chunk must begin with its size in hex digits (RFC 9112 §7.1)'),
  HPE_INVALID_EOF_STATE: fault('the request was cut off'),
};

/** Answers what Node's parser rejects: bytes that are not HTTP, what does not arrive in time, and `CONNECT`. */
export function rejecter(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  lingerTimeout: number,
  { make, mediaType }: ProblemBody,
  onRejected: OnRejected | undefined,
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
    const why = PARSER_ERRORS[code] ?? fault('the request is not HTTP/1.1 (RFC 9112)');
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
      const head = `HTTP/1.1 ${why.status} ${http.STATUS_CODES[why.status]}\r\nContent-Type: ${mediaType}\r\n`;
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

/** Descriptors that are kept for files, databases and other servers. */
const RESERVED_FILES = 64;

/**
 * Limits the connections of a server to what the limit of open files (`ulimit -n`) leaves room for: beyond it, the system
 * would drop them without a word. Only Linux tells its limit in a file.
 */
export function limitConnections(server: Server, onDropped?: (connections: number) => void): void {
  if (process.platform !== 'linux') return;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (Number(limit) > RESERVED_FILES) server.maxConnections = Number(limit) - RESERVED_FILES;
  let dropped = 0;
  server.on('drop', () => {
    dropped += 1;
    if (dropped > 1) return;
    setTimeout(() => {
      onDropped?.(dropped);
      dropped = 0;
    }, 1_000).unref();
  });
}
