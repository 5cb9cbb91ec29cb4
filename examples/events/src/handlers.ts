import { EventEmitter, once } from 'node:events';
import type { components, Handlers } from '../generated/openapi.ts';

/** The number of messages that are stored for clients that reconnect. */
const STORED = 1_000;

const messages: components['schemas']['Message'][] = [];
/**
 * The id of the last message. Starts at the current time, so that ids after a restart are larger
 * than those that clients may send as Last-Event-ID.
 */
let lastId = Date.now();
const news = new EventEmitter().setMaxListeners(0);

export const handlers: Handlers = {
  postMessage({ body: { text } }) {
    lastId += 1;
    const message = { id: lastId, text };
    messages.push(message);
    if (messages.length > STORED) messages.shift();
    news.emit('message');
    return { status: 201, body: message };
  },
  watchMessages({ header, signal }) {
    return { status: 200, body: messagesAfter(header['Last-Event-ID'], signal) };
  },
};

/**
 * Yields the messages after an id, then each new one. The signal is aborted when the client
 * disconnects or the service stops.
 */
async function* messagesAfter(last: number, signal: AbortSignal) {
  for (;;) {
    const next = messages.find(({ id }) => id > last);
    if (next === undefined) await once(news, 'message', { signal });
    else {
      yield { id: String(next.id), data: next };
      last = next.id;
    }
  }
}
