import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from './options.ts';

/** Bytes that are parsed at once: at most about fifty requests. */
const SLICE = 1024;

/** Bytes that are parsed at once of a body of a known length. */
const BODY_SLICE = 16_384;

/** How long connections that have sent more than a slice are parsed in one round of the event loop. Milliseconds. */
const ROUND = 2;

/** What a connection needs from the server that has accepted it. */
export interface ConnectionOptions {
  /** The maximum number of bytes of a header section, however it is composed. */
  readonly maxHeaderSize: number;
  /** How long the client has to read the last answer. Milliseconds. */
  readonly lingerTimeout: number;
  /** Called with a request when the responses to all former ones are over. @param fault why the app does not get it */
  readonly begin: (response: ServerResponse, fault: Problem | undefined) => void;
  /** Called when a header section is larger. */
  readonly onHeaderOverflow: () => void;
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

/**
 * A client's connection. Its requests are answered one after the other: the next one begins when the former response is
 * finished. What comes meanwhile waits as bytes in the socket's buffer, which has a limit.
 *
 * Node's HTTP server parses what its socket emits as `data`. A stream with a listener for `readable` emits `data` only
 * when it is read, so this class decides how much is parsed, and when. Node asks for more of a body by `resume()`.
 */
export class Connection {
  /** Whether it has had a request. */
  isUsed = false;
  /** Nothing that comes after the newest request is answered. */
  closing = false;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  /** The next queued request starts when a response is over, in turn with other connections. */
  readonly #onResponseClose = (): void => {
    this.#isBusy = this.#isNextDue = this.#next.length > 0;
    // Keeps no request alive while it waits for the next one.
    this.#newest = this.newest;
    if (this.#isBusy || this.#socket.readableLength > 0) this.#wait();
  };
  #newest: ServerResponse | undefined;
  /** Whether a response is under way. */
  #isBusy = false;
  /** What comes next, in turn: the second request of a slice, or the end of the connection. */
  readonly #next: (() => void)[] = [];
  #isNextDue = false;
  /** Whether Node has asked for more of a body. */
  #isBodyWanted = false;
  #isWaiting = false;
  #headerBytes = 0;
  /** The size of the slice that is parsed, or was parsed last. */
  #slice = 0;
  /** At least so many bytes of the newest request's body are still to come. */
  #bodyLeft = 0;
  /** Bytes so far at the former {@link isExpired}. */
  #bytes = -1;

  /** Parses what has come, if it may be parsed now: a slice, and the others in turn with other connections. */
  readonly #parse = (): void => {
    const socket = this.#socket;
    if (this.#isWaiting || !socket.writable || socket.writableNeedDrain || this.#next.length > 0) return;
    const { newest } = this;
    if (this.#isBusy) {
      const isReading = this.#isBodyWanted || newest?.req.readableFlowing === true;
      if (newest?.req.complete !== false || !isReading) return;
      // The rest of a body that was answered already is read and dropped.
    } else if (this.closing && newest === undefined) return;
    const size = Math.min(socket.readableLength, Math.max(SLICE, Math.min(BODY_SLICE, this.#bodyLeft)));
    this.#slice = size;
    this.#bodyLeft -= size;
    if (newest === undefined && !this.closing) {
      if (this.#headerBytes >= this.#options.maxHeaderSize) {
        this.#options.onHeaderOverflow();
        return;
      }
      this.#headerBytes += size;
    }
    this.#isBodyWanted &&= size === 0;
    socket.read(size);
    if (socket.readableLength > 0) this.#wait();
  };

  /** @param socket after Node's HTTP server has set it up. */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('readable', this.#parse).on('drain', this.#parse);
    socket.on('resume', () => {
      this.#isBodyWanted = true;
      this.#parse();
    });
  }

  /** The response to the newest request, until both are over: an answer need not wait for the body. */
  get newest(): ServerResponse | undefined {
    return this.#isBusy || this.#newest?.req.complete === false ? this.#newest : undefined;
  }

  /** Starts the next queued request, or parses the next slice. */
  takeTurn(): void {
    // After an answer with `Connection: close`, nothing more can be answered.
    const next = this.#isNextDue && this.#socket.writable ? this.#next.shift() : undefined;
    this.#isWaiting = this.#isNextDue = false;
    next?.();
    this.#parse();
  }

  /** Begins a request when the responses to all former ones are over; never after one that closes the connection. */
  inTurn(response: ServerResponse, fault: Problem | undefined): void {
    response.on('close', this.#onResponseClose);
    this.#newest = response;
    this.isUsed = true;
    this.#headerBytes = 0;
    this.#bodyLeft = Number(response.req.headers['content-length'] ?? 0) - this.#slice;
    const { begin } = this.#options;
    // The context of this request, which tracers keep, not of the one before it.
    if (this.#isBusy) this.#next.push(AsyncResource.bind(() => begin(response, fault)));
    else {
      this.#isBusy = true;
      begin(response, fault);
    }
  }

  /** Parses no more. Calls `last` when the responses to all requests are over, and closes the connection then. */
  end(last: () => void): void {
    this.closing = true;
    const end = (): void => {
      last();
      this.#linger();
    };
    if (this.#isBusy) this.#next.push(end);
    else end();
  }

  /** Whether the client reads nothing, or nothing happens at all. Called after each half of the idle timeout. */
  isExpired(): boolean {
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const before = this.#bytes;
    this.#bytes = bytesRead + bytesWritten;
    return this.newest === undefined || writableLength > 0 || this.#bytes === before;
  }

  /**
   * Closes this side, and the other one later: bytes that are still arriving would have the client's system drop the
   * answer unread (RFC 9112 §9.6).
   */
  #linger(): void {
    const socket = this.#socket;
    socket.end();
    const linger = setTimeout(() => socket.destroy(), this.#options.lingerTimeout);
    socket.once('close', () => clearTimeout(linger));
  }

  #wait(): void {
    if (!this.#isWaiting) waitForTurn(this);
    this.#isWaiting = true;
  }
}
