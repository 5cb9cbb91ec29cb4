import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { components } from '../generated/openapi.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Until it connects again. The server may choose another time with `retry`. Milliseconds. */
  readonly pause?: number;
}

/**
 * Messages as they come. When the connection is lost, it goes on behind the last message.
 *
 * @throws {Error} if the service rejects the request, or the signal is aborted.
 */
export async function* watchMessages(url: string, { signal, pause = 1_000 }: WatchOptions) {
  let last = '0';
  let wait = pause;
  for (;;) {
    const headers = { 'Last-Event-ID': last };
    const response = await fetch(`${url}/messages`, { headers, signal }).catch(() => undefined);
    if (response !== undefined && !response.ok && response.status < 500) throw new Error(await response.text());
    try {
      for await (const { id, data } of eventsOf(response, (retry) => {
        wait = retry;
      })) {
        const message: components['schemas']['Message'] = JSON.parse(data);
        yield message;
        last = id ?? last;
      }
    } catch {
      // The connection was lost.
    }
    await delay(wait, undefined, { signal });
  }
}

function eventsOf(response: Response | undefined, onRetry: (milliseconds: number) => void) {
  if (!response?.ok || response.body === null) return [];
  return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream({ onRetry }));
}
