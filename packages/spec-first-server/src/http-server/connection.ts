import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes that are parsed at once: at most about fifty requests. */
const SLICE = 1024;

/** Bytes that are parsed at once of a body of a known length. */
const BODY_SLICE = 16_384;

/** The maximum number of bytes of a header section, however it is composed. */
export const MAX_HEADER_SIZE = 16_384;

/** How long connections that have sent more than a slice are parsed in one round of the event loop. Milliseconds. */
const ROUND = 2;

/** A host and a port (RFC 3986 §3.2.2); an empty one is allowed (RFC 9112 §3.2). */
const HOST = /^(?:\[[\da-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** A target in absolute form, up to its path (RFC 9112 §3.2.2). */
const ORIGIN = /^https?:\/\/([^/?#@]+)(?=[/?#]|$)/i;

/** Why a request is rejected. */
export interface Problem {
  /** An HTTP status code from 400 to 599. */
  readonly status: number;
  /** What was wrong and what would be right. */
  readonly message: string;
  /** Where a request breaks the document: JSON pointers such as `/body/name`, and keywords of JSON Schema. */
  readonly errors?:
    | readonly { readonly path: string; readonly message: string; readonly keyword: string }[]
    | undefined;
  /** The request's id, as in the log; `undefined` for what never became a request. */
  readonly requestId?: string | undefined;
}

export const fault = (message: string): Problem => ({ status: 400, message });

/**
 * What is wrong with a request that Node's parser accepts. The target becomes a path with its query: without the origin
 * of an absolute form, and without a fragment, which is never sent (RFC 9110 §7.1).
 */
export function faultOf(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('the version of HTTP must be 1.1 (RFC 9112 §2.3)');
  if (headers.host === undefined ? httpVersion === '1.1' : !HOST.test(headers.host)) {
    return fault('the header host must come once, as host or host:port (RFC 9112 §3.2)');
  }
  if (!url.startsWith('/') && !(url === '*' && request.method === 'OPTIONS')) {
    const [origin = '', host = ''] = ORIGIN.exec(url) ?? [];
    if (origin === '' || !HOST.test(host))
      return fault('the target must be a path or http://host/path (RFC 9112 §3.2)');
    const path = url.slice(origin.length);
    request.url = path.startsWith('/') ? path : `/${path}`;
  }
  // Express would parse such a target in a way that can fail before any of its handlers runs.
  if (url.includes('#')) request.url = request.url?.replace(/#.*/s, '');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return fault('the transfer coding must be chunked alone, in HTTP/1.1 (RFC 9112 §6.1)');
  }
  return undefined;
}

/** The next slice of a connection, or of an answer. */
interface Task {
  takeTurn(): void;
  /** Whether it goes on after `takeTurn`, in a round of its own. */
  readonly goesOn?: boolean;
}

const waiting: Task[] = [];

export function waitForTurn(task: Task): void {
  if (waiting.push(task) === 1) setImmediate(takeTurns);
}

function takeTurns(): void {
  const end = performance.now() + ROUND;
  let isOver = false;
  while (waiting.length > 0 && !isOver) {
    waiting[0]?.takeTurn();
    // Not before: what waits again must not begin another round.
    isOver = waiting.shift()?.goesOn === true || performance.now() >= end;
  }
  if (waiting.length > 0) setImmediate(takeTurns);
}

export type Connection = ReturnType<typeof createConnection>;

/**
 * A client's connection. Its requests are answered one after the other: the next one begins when the former response is
 * finished. What comes meanwhile waits as bytes in the socket's buffer, which has a limit.
 *
 * Node's HTTP server parses what its socket emits as `data`. A stream with a listener for `readable` emits `data` only
 * when it is read: it is read here, a slice at a time, in turn with other connections.
 *
 * @param socket after Node's HTTP server has set it up.
 * @param lingerTimeout how long the client has to read the last answer. Milliseconds.
 * @param begin called with a request when the responses to all former ones are over, and why the app does not get it.
 * @param onHeaderOverflow called when a header section is too large.
 */
export function createConnection(
  socket: Socket,
  lingerTimeout: number,
  begin: (response: ServerResponse, problem: Problem | undefined) => void,
  onHeaderOverflow: () => void,
) {
  let newest: ServerResponse | undefined;
  /** Whether a response is under way. */
  let isAnswering = false;
  /** What comes after that: the second request of a slice, or the end of the connection. */
  const next: (() => void)[] = [];
  let isWaiting = false;
  let isBodyWanted = false;
  /** Bytes of the header section so far. */
  let headerBytes = 0;
  /** At least so many bytes of the newest request's body are still to come. */
  let bodyLeft = 0;
  /** Bytes so far, when `isExpired` was called last. */
  let bytes = -1;

  const connection = {
    /** Whether it has had a request. */
    isUsed: false,
    /** Nothing that comes after the newest request is answered. */
    closing: false,
    /** The response to the newest request, until both are over: an answer need not wait for the body. */
    get newest(): ServerResponse | undefined {
      return isAnswering || next.length > 0 || newest?.req.complete === false ? newest : undefined;
    },
    /** Begins a request when the responses to all former ones are over; never after one that closes the connection. */
    inTurn(response: ServerResponse, problem = faultOf(response.req)): void {
      response.on('close', onResponseClose);
      newest = response;
      connection.isUsed = true;
      isBodyWanted = false;
      headerBytes = 0;
      bodyLeft = Number(response.req.headers['content-length'] ?? 0);
      // The context of this request, which tracers keep, not of the one before it.
      if (isAnswering || next.length > 0) next.push(AsyncResource.bind(() => begin(response, problem)));
      else {
        isAnswering = true;
        begin(response, problem);
      }
    },
    /** Starts the next queued request, or parses the next slice. */
    takeTurn(): void {
      isWaiting = false;
      // After an answer with `Connection: close`, nothing more can be answered.
      if (!isAnswering && socket.writable) {
        isAnswering = next.length > 0;
        next.shift()?.();
      }
      parse();
    },
    /** Parses no more. Calls `last` when the responses to all requests are over, and closes the connection then. */
    end(last: () => void): void {
      connection.closing = true;
      next.push(() => {
        last();
        socket.end();
        // Not before: bytes that still arrive would have the client's system drop the answer unread (RFC 9112 §9.6).
        const linger = setTimeout(() => socket.destroy(), lingerTimeout);
        socket.once('close', () => clearTimeout(linger));
      });
      if (!isAnswering && next.length === 1) connection.takeTurn();
    },
    /** Whether the client reads nothing, or nothing happens at all. Called after each half of the idle timeout. */
    isExpired(): boolean {
      const before = bytes;
      bytes = socket.bytesRead + socket.bytesWritten;
      return connection.newest === undefined || socket.writableLength > 0 || bytes === before;
    },
  };
  socket.on('readable', parse).on('drain', parse);
  // Node asks for more of a body.
  socket.on('resume', () => {
    isBodyWanted = true;
    parse();
  });
  return connection;

  /** Parses a slice of what has come, if it may be parsed now. */
  function parse(): void {
    if (isWaiting || !socket.writable || socket.writableNeedDrain || next.length > 0) return;
    const body = connection.newest?.req;
    const isFull = body === undefined || body.readableLength >= body.readableHighWaterMark;
    // Once it is answered, the rest of a body is read and dropped.
    if (isAnswering && (isFull || body.complete || !isBodyWanted)) return;
    const size = Math.min(socket.readableLength, Math.max(SLICE, Math.min(BODY_SLICE, bodyLeft)));
    if (body === undefined) {
      if (headerBytes >= MAX_HEADER_SIZE) onHeaderOverflow();
      if (connection.closing) return;
      headerBytes += size;
    }
    socket.read(size);
    bodyLeft -= size;
    if (socket.readableLength > 0) wait();
  }

  function wait(): void {
    if (!isWaiting) waitForTurn(connection);
    isWaiting = true;
  }

  function onResponseClose(): void {
    isAnswering = false;
    // Keeps no request alive while it waits for the next one.
    newest = connection.newest;
    if (next.length > 0 || socket.readableLength > 0) wait();
  }
}
