import { type BodyFormat, type ItemsCoder, UnreadableBody } from '../codecs/codec.ts';
import { delay } from './send.ts';

/**
 * Reads the items of a stream. A stream of events with ids is reopened when it ends or the
 * connection is lost, as `EventSource` does (HTML §9.2). The new request has the last id in
 * `Last-Event-ID`. The request is repeated if it fails or the response is 5xx. Reading ends if a
 * response has another status than the first one. Throws if the signal is aborted.
 */
export async function* itemsOf(
  first: Response,
  coder: ItemsCoder,
  format: BodyFormat,
  signal: AbortSignal | null | undefined,
  reopen: ((headers: Record<string, string>) => Promise<Response | undefined>) | undefined,
): AsyncGenerator<unknown> {
  let response: Response | undefined = first;
  let lastId: string | undefined;
  /** The pause before the next request, in milliseconds. */
  let pause = 1_000;
  while (response?.status === first.status) {
    const contentType = response.headers.get('Content-Type') ?? '';
    try {
      const chunks = chunksOf(response.body);
      for await (const item of coder.read(chunks, { format, contentType }, Infinity)) {
        const { id, retry } = Object(item);
        lastId = id ?? lastId;
        pause = retry ?? pause;
        yield item;
      }
    } catch (error) {
      if (
        error instanceof UnreadableBody ||
        lastId === undefined ||
        reopen === undefined ||
        signal?.aborted
      )
        throw error;
    }
    if (lastId === undefined || reopen === undefined) return;
    do {
      await delay(pause, signal);
      response = await reopen({ 'Last-Event-ID': lastId });
      // An unread body would keep its connection open.
      if (response?.status !== first.status) await response?.body?.cancel();
    } while (response === undefined || response.status >= 500);
  }
}

async function* chunksOf(body: Response['body']): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
