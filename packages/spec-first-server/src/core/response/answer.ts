import type { Answer, Bytes, CallRecord } from '../call.ts';
import type { HeaderValues } from './headers.ts';
import { ItemBody, type ItemBodyOptions, type ItemStream } from './item-body.ts';

/** A reply that is checked, with its body and headers as they are written. */
export interface CheckedReply {
  readonly status: number;
  /** The media type of the body. */
  readonly type?: string | undefined;
  readonly headers?: HeaderValues | undefined;
  readonly body?: string | Bytes | ItemStream | undefined;
}

/** Headers that are derived from the body. An error or a reply cannot set them. */
const BODY_HEADERS = new Set(['content-length', 'content-type', 'trailer', 'transfer-encoding']);

/** Statuses without a `Content-Length` (RFC 9110 §8.6). */
const STATUSES_WITHOUT_LENGTH = new Set([204, 304]);

/**
 * Makes caches and proxies forward each item immediately. `no-transform` prevents compression,
 * which would buffer items (RFC 9111 §5.2.2.6). nginx reads `X-Accel-Buffering`.
 */
const UNBUFFERED_HEADERS = ['Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no'];

/**
 * Returns an answer with the headers of the record, unless the reply has headers of the same names.
 * An answer to HEAD has no body.
 */
export function createAnswer(
  reply: CheckedReply,
  { headers: defaultHeaders, account }: CallRecord,
  method: string,
  streamOptions?: ItemBodyOptions,
): Answer {
  const { status, type, headers, body } = reply;
  const isStream = isItemStream(body);
  const defaults = [...defaultHeaders];
  if (isStream && body.areChunks !== true) defaults.push(...UNBUFFERED_HEADERS);
  const list = headers === undefined ? defaults : withDefaults(headers, defaults);
  if (type !== undefined) list.push('Content-Type', type);
  if (isStream) {
    const items = new ItemBody(body, account, streamOptions);
    if (method !== 'HEAD') return { status, headers: list, body: items };
    void items.return();
    return { status, headers: list, body: undefined };
  }
  if (!STATUSES_WITHOUT_LENGTH.has(status)) {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    list.push('Content-Length', String(length));
  }
  return { status, headers: list, body: method === 'HEAD' ? undefined : body };
}

/**
 * Returns the answer for a reply whose body may be a stream. Waits a limited time for its first
 * item.
 *
 * @throws the error of the first item.
 */
export async function streamedAnswer(
  reply: CheckedReply,
  record: CallRecord,
  method: string,
  options: ItemBodyOptions,
): Promise<Answer> {
  // HEAD for a file that cannot be read fails like GET. Other streams are not iterated for HEAD.
  const areChunks = isItemStream(reply.body) && reply.body.areChunks === true;
  const isOpened = method !== 'HEAD' || areChunks;
  const answer = createAnswer(reply, record, isOpened ? 'GET' : method, options);
  if (!(answer.body instanceof ItemBody)) return answer;
  await answer.body.open();
  record.streamStarted = performance.now();
  if (method !== 'HEAD') return answer;
  await answer.body.return();
  return { ...answer, body: undefined };
}

export const isItemStream = (body: CheckedReply['body']): body is ItemStream =>
  typeof body === 'object' && !(body instanceof Uint8Array);

/** @param defaults names and values alternate. */
function withDefaults(headers: HeaderValues, defaults: readonly string[]): string[] {
  const names = new Set<string>();
  const list: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    names.add(lower);
    if (BODY_HEADERS.has(lower)) continue;
    for (const line of [value].flat()) list.push(name, String(line));
  }
  // A response may vary by several headers.
  names.delete('vary');
  const nameOf = (index: number) => defaults[index - (index % 2)] ?? '';
  const missing = defaults.filter((_line, index) => !names.has(nameOf(index).toLowerCase()));
  return [...missing, ...list];
}
