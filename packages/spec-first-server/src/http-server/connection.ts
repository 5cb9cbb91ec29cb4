import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const END_OF_HEADERS = Buffer.from('\r\n\r\n');

/**
 * A client's connection. Its requests are answered one after the other: the next one begins when the former response is
 * finished. What comes meanwhile waits as bytes: at most one read of the socket, which is then paused.
 *
 * Node's parser finds every request in the bytes that it gets, and makes objects of some kilobytes for each. So it gets
 * bytes up to the end of one header section at a time.
 */
export class Connection {
  /** The response to the newest request, until both are over. */
  newest: ServerResponse | undefined;
  /** Whether it has had a request. */
  isUsed = false;
  /** Nothing that comes after the newest request is answered. */
  closing = false;
  /** Nothing more is parsed. */
  #ended = false;
  readonly #socket: Socket;
  readonly #lingerTimeout: number;
  readonly #parse: (chunk: Buffer) => void;
  readonly #finish: () => void;
  #halfClosed = false;
  #unparsed: Buffer | undefined;
  #paused = false;
  /** The response that is under way. */
  #current: ServerResponse | undefined;
  /** What comes next, in turn: the second request of some bytes, or the end of the connection. */
  readonly #next: (() => void)[] = [];

  /** The client's address. */
  get client(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /**
   * @param socket after Node's HTTP server has set it up.
   * @param lingerTimeout how long the client has to read the last answer. Milliseconds.
   */
  constructor(socket: Socket, lingerTimeout: number) {
    this.#socket = socket;
    // Node calls it after the last answer of a connection.
    socket.destroySoon = () => this.#close();
    this.#lingerTimeout = lingerTimeout;
    this.#parse = takeListener(socket, 'data');
    this.#finish = takeListener(socket, 'end');
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => {
      this.#halfClosed = true;
      if (this.#unparsed === undefined) this.#finish();
    });
    // Node resumes when it wants more of a body.
    socket.on('resume', () => this.#paused && socket.pause());
  }

  /** Calls `begin` when the responses to all former requests are over. */
  inTurn(response: ServerResponse, begin: () => void): void {
    this.newest = response;
    this.isUsed = true;
    if (this.#isIdle()) this.#start(response, begin);
    else this.#next.push(() => this.#start(response, begin));
  }

  /** Parses no more. Calls `last` when the responses to all requests are over, and closes the connection then. */
  end(last: () => void): void {
    this.#discard();
    const end = () => {
      last();
      this.#close();
    };
    if (this.#isIdle()) end();
    else this.#next.push(end);
  }

  /** Goes on with what has waited for a response that is over. */
  over(response: ServerResponse): void {
    if (this.newest === response && response.req.complete) this.newest = undefined;
    if (this.#current !== response) return;
    this.#current = undefined;
    // One request in each round of the event loop: others get their turn between them.
    if (this.#next.length > 0 || this.#unparsed !== undefined) setImmediate(() => this.#continue());
  }

  /** Parses no more. What still comes is read and dropped. */
  #discard(): void {
    this.closing = true;
    this.#ended = true;
    this.#unparsed = undefined;
    this.#paused = false;
  }

  /**
   * Closes this side, and reads on for a while: closed at once, bytes that are still arriving would have the client's
   * system throw the answer away unread (RFC 9112 §9.6).
   */
  #close(): void {
    this.#discard();
    const socket = this.#socket;
    socket.end();
    const linger = setTimeout(() => socket.destroy(), this.#lingerTimeout);
    socket.once('close', () => clearTimeout(linger));
    socket.resume();
  }

  #isIdle(): boolean {
    return this.#current === undefined && this.#next.length === 0;
  }

  #start(response: ServerResponse, begin: () => void): void {
    this.#current = response;
    begin();
  }

  #continue(): void {
    // After an answer with `Connection: close`, nothing more can be answered.
    if (this.#current !== undefined || !this.#socket.writable) return;
    this.#next.shift()?.();
    this.#read();
  }

  #receive(chunk: Buffer): void {
    if (this.#unparsed === undefined && this.#mayRead() && !hasTwoHeaders(chunk)) this.#parse(chunk);
    else if (!this.closing || this.#mayRead()) {
      this.#unparsed = this.#unparsed === undefined ? chunk : Buffer.concat([this.#unparsed, chunk]);
      this.#read();
    }
  }

  /** Whether the bytes to come belong to a request that is under way, or to one that may begin. */
  #mayRead(): boolean {
    if (this.#ended || this.#next.length > 0) return false;
    if (this.#current !== undefined) return !this.#current.req.complete;
    return !this.closing && this.#socket.writable;
  }

  #read(): void {
    while (this.#unparsed !== undefined && this.#mayRead()) {
      const bytes = this.#unparsed;
      const length = hasTwoHeaders(bytes) ? bytes.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length : bytes.length;
      this.#unparsed = length < bytes.length ? bytes.subarray(length) : undefined;
      this.#parse(bytes.subarray(0, length));
    }
    if (this.#paused === (this.#unparsed !== undefined)) return;
    this.#paused = !this.#paused;
    if (this.#paused) this.#socket.pause();
    else if (this.#halfClosed) this.#finish();
    else this.#socket.resume();
  }
}

/** Takes from a socket what Node's HTTP server has registered last for an event. */
function takeListener(socket: Socket, event: 'data' | 'end'): (...values: unknown[]) => void {
  const listener = socket.listeners(event).at(-1) as ((...values: unknown[]) => void) | undefined;
  if (listener === undefined) throw new Error(`Node reads no ${event} of a connection`);
  socket.removeListener(event, listener);
  return listener.bind(socket);
}

/** Whether bytes hold the ends of two header sections or more, so that two requests may begin in them. */
function hasTwoHeaders(bytes: Buffer): boolean {
  const first = bytes.indexOf(END_OF_HEADERS);
  return first >= 0 && bytes.includes(END_OF_HEADERS, first + END_OF_HEADERS.length);
}
