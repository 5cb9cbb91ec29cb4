import { Readable } from 'node:stream';
import type { Account } from '../account.ts';
import type { Bytes } from '../call.ts';

/** The items of a reply, each checked when it is written. */
export interface ItemStream {
  readonly items: AsyncIterable<unknown>;
  readonly write: (item: unknown, index: number) => string | Bytes;
  /** The text after the last item. */
  readonly end: string;
  /** A comment that clients ignore. Only event streams have comments. */
  readonly comment: string | undefined;
  /** True if the items are pieces of one body, which a proxy may buffer. */
  readonly areChunks?: true;
}

/**
 * Makes caches and proxies forward each item immediately. `no-transform` prevents compression,
 * which would buffer items (RFC 9111 §5.2.2.6). nginx reads `X-Accel-Buffering`.
 */
const UNBUFFERED = ['Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no'];

/** Returns the headers of a stream. Names and values alternate. */
export const streamHeaders = (stream: ItemStream | undefined): readonly string[] =>
  stream === undefined || stream.areChunks ? [] : UNBUFFERED;

export interface ItemBodyOptions {
  /**
   * Aborted when the service stops. Ends event streams: their clients then connect to another
   * process.
   */
  readonly stopping?: AbortSignal | undefined;
  /** Called when a stop ends the stream. */
  readonly onStop?: () => void;
  readonly onFailure?: (error: unknown) => void;
  /** Called once, when no more items are read. */
  readonly onEnd?: () => void;
}

type Chunk = string | Bytes;
type Result = IteratorResult<Chunk, undefined>;

/** The time after which the headers are sent without an item. */
const FIRST_ITEM_MS = 500;

/** The silence after which an event stream gets a comment. */
const HEARTBEAT_MS = 15_000;

const DONE: Result = { done: true, value: undefined };

/**
 * The body of a streamed reply. Each item is pulled, checked and written when the adapter requests
 * the next chunk.
 */
export class ItemBody implements AsyncIterableIterator<Chunk, undefined> {
  readonly #stream: ItemStream;
  readonly #account: Account;
  readonly #options: ItemBodyOptions;
  readonly #items: AsyncIterator<unknown>;
  readonly #comment: Chunk | undefined;
  /** The next chunk, if it was requested. */
  #pulled: Promise<Result> | undefined;
  /** Maintained for event streams only. */
  #isSettled = false;
  #stopWaiting = (): void => undefined;
  #index = 0;
  #isOver = false;

  constructor(stream: ItemStream, account: Account, options: ItemBodyOptions = {}) {
    const { comment, items } = stream;
    this.#stream = stream;
    this.#account = account;
    this.#options = options;
    this.#items = items[Symbol.asyncIterator]();
    if (comment === undefined) return;
    this.#comment = comment;
    options.stopping?.addEventListener('abort', this);
  }

  /**
   * Pulls the first item: if it is invalid, an error response can still be sent. Resolves after
   * {@link FIRST_ITEM_MS} if there is no item yet.
   *
   * @throws the error of the first item.
   */
  async open(): Promise<void> {
    if (this.#comment !== undefined && this.#options.stopping?.aborted) return this.handleEvent();
    this.#pulled = this.#pull();
    const timeLimit = Promise.withResolvers<void>();
    const timer = setTimeout(timeLimit.resolve, FIRST_ITEM_MS);
    await Promise.race([this.#pulled, timeLimit.promise]).finally(() => clearTimeout(timer));
  }

  /** @throws {Error} if an item fails. The cause is the value that the handler threw. */
  async next(): Promise<Result> {
    const { turns } = this.#account;
    // A stream that is always ready would starve other requests.
    if (!turns.hasTime) await turns.run(this.#account, () => undefined);
    if (this.#pulled === undefined && this.#isOver) return DONE;
    this.#pulled ??= this.#pull();
    if (this.#comment !== undefined && !this.#isSettled) {
      const comment = await this.#commentIfLate(this.#comment);
      if (comment !== undefined) return { done: false, value: comment };
    }
    try {
      const result = (await this.#pulled) ?? DONE;
      this.#pulled = undefined;
      if (!result.done) turns.sent(result.value.length);
      return result;
    } catch (cause) {
      // Node reads the stack of the error, and a value that cannot be read would end the process.
      throw new Error('the stream of the reply failed', { cause });
    }
  }

  async return(): Promise<Result> {
    this.#end();
    this.#closeItems();
    this.#pulled = undefined;
    this.#stopWaiting();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Called when `stopping` is aborted. */
  handleEvent(): void {
    this.#options.onStop?.();
    void this.return();
  }

  #pull(): Promise<Result> {
    const pulled = this.#nextChunk();
    if (this.#comment === undefined) return pulled;
    this.#isSettled = false;
    const onSettled = (): void => {
      this.#isSettled = true;
      this.#stopWaiting();
    };
    pulled.then(onSettled, onSettled);
    return pulled;
  }

  async #nextChunk(): Promise<Result> {
    try {
      const { done, value } = await this.#items.next();
      if (this.#isOver) return DONE;
      if (!done) {
        const chunk = this.#stream.write(value, this.#index);
        this.#index += 1;
        return { done: false, value: chunk };
      }
      this.#end();
      const { end } = this.#stream;
      return end === '' ? DONE : { done: false, value: end };
    } catch (error) {
      if (this.#isOver) return DONE;
      this.#options.onFailure?.(error);
      this.#end();
      this.#closeItems();
      throw error;
    }
  }

  /**
   * Resolves to the comment if the pulled chunk is late, otherwise to `undefined`. Adds no listener
   * to the promise of the chunk, since each comment would add another one.
   */
  #commentIfLate(comment: Chunk): Promise<Chunk | undefined> {
    const { promise, resolve } = Promise.withResolvers<Chunk | undefined>();
    const timer = setTimeout(resolve, HEARTBEAT_MS, comment);
    this.#stopWaiting = () => resolve(undefined);
    return promise.finally(() => clearTimeout(timer));
  }

  #closeItems(): void {
    closeItems(this.#stream.items, this.#items);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.stopping?.removeEventListener('abort', this);
    this.#options.onEnd?.();
  }
}

/**
 * Lets the handler clean up items that are not read. Errors are ignored, since the response
 * does not contain these items.
 */
export function closeItems(items: AsyncIterable<unknown>, iterator?: AsyncIterator<unknown>): void {
  if (items instanceof Readable) {
    ignoreErrors(items);
    // The iterator of a Readable would first wait for the next chunk.
    items.destroy();
    return;
  }
  Promise.try(() => (iterator ?? items[Symbol.asyncIterator]()).return?.()).catch(() => undefined);
}

/**
 * Prevents an error of a Readable, such as that of a missing file, from ending the process while
 * the body is not being read. A later reader still gets the error.
 */
export function ignoreErrors(body: unknown): void {
  if (body instanceof Readable) body.on('error', () => undefined);
}
