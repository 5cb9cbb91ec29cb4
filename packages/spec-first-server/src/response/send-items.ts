import type { ServerResponse } from 'node:http';
import type { MediaType } from 'openapi-document';
import { waitForTurn } from '../http-server/index.ts';

/** The items of a reply, each checked when it is written. */
export interface ItemStream extends Omit<ReturnType<MediaType['itemWriter']>, 'contentType'> {
  readonly items: AsyncIterable<unknown>;
}

/** When and how a stream ends before its last item. */
export interface StreamOptions {
  /** Aborted when the service stops. Then event streams end: their clients come back, to another process. */
  readonly stopping?: AbortSignal | undefined;
  /** Its signal is aborted when a stop ends the stream. */
  readonly request?: { abort(): void };
  /** How long a stream is silent until it gets a comment. Milliseconds. */
  readonly silence?: number;
}

/** Until the client gets the headers without an item. Milliseconds. */
const OPENING = 500;

/** How much streams send before others get their turn. Bytes. */
const SLICE = 16_384;

/** What all streams have sent since then: those that have items at the same moment run in the same turn. */
let sent = 0;

/**
 * Sends items as they come, not faster than the client reads.
 *
 * @param begin sets the headers. Called when the first item is written, or when it is late.
 * @throws {unknown} what the items fail with. If the first one fails, nothing is sent yet.
 */
export async function sendItems(
  response: ServerResponse,
  { items, write, end, comment }: ItemStream,
  begin: () => void,
  { stopping, request, silence = 15_000 }: StreamOptions,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  let onRoom: (() => void) | undefined;
  let timer = setTimeout(() => {
    open();
    response.flushHeaders();
  }, OPENING);

  /** Lets the handler clean up. */
  function finish(): void {
    isOver = true;
    onRoom?.();
    // Nobody is left to learn of an error.
    iterator.return?.().then(undefined, () => undefined);
  }
  function stop(): void {
    if (!response.headersSent) begin();
    response.end(end);
    request?.abort();
    finish();
  }
  function open(): void {
    clearTimeout(timer);
    if (!response.headersSent) begin();
    if (comment !== undefined)
      timer = setInterval(() => response.writableNeedDrain || response.write(comment), silence);
  }
  const onDrain = (): void => onRoom?.();
  response.on('drain', onDrain).once('close', finish);
  if (comment !== undefined) stopping?.addEventListener('abort', stop);
  try {
    if (comment !== undefined && stopping?.aborted) return stop();
    for (let index = 0; ; index += 1) {
      const { done, value } = await iterator.next();
      if (isOver) return;
      if (done) break;
      const bytes = write(value, index);
      if (index === 0) open();
      else timer.refresh();
      sent += bytes.length;
      if (!response.write(bytes)) {
        await new Promise<void>((resolve) => {
          onRoom = resolve;
        });
      } else if (sent < SLICE) continue;
      // Streams whose items are all there would never let go of the event loop.
      await new Promise<void>((takeTurn) => waitForTurn({ takeTurn, goesOn: true }));
      sent = 0;
      if (isOver) return;
    }
    if (!response.headersSent) begin();
    response.end(end);
  } catch (error) {
    if (isOver) return;
    finish();
    throw error;
  } finally {
    clearTimeout(timer);
    response.off('drain', onDrain).off('close', finish);
    stopping?.removeEventListener('abort', stop);
  }
}
