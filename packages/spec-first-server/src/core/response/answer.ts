import type { HeaderValues } from '../../http/failures.ts';
import type { Answer, CallRecord, PlainReply } from '../call.ts';
import { ItemBody, type ItemBodyOptions, type ItemStream, streamHeaders } from './item-body.ts';

/** A reply that is checked, with its body and headers as they are written. */
export interface CheckedReply extends PlainReply {
  /** The items of a stream, in place of a body. */
  readonly items?: ItemStream | undefined;
}

/** Headers that are derived from the body. An error or a reply cannot set them. */
const BODY_HEADERS = new Set(['content-length', 'content-type', 'trailer', 'transfer-encoding']);

/** Statuses without a `Content-Length` (RFC 9110 §8.6). */
const STATUSES_WITHOUT_LENGTH = new Set([204, 304]);

/**
 * Returns the answer for a reply whose body is not a stream. An answer to HEAD has no body.
 *
 * @param defaults headers that are sent unless the reply has others of the same names.
 */
export function createAnswer(
  reply: PlainReply,
  { headers: defaults }: Pick<CallRecord, 'headers'>,
  method: string,
): Answer {
  const { status, body } = reply;
  const headers = headersOf(reply, defaults);
  if (!STATUSES_WITHOUT_LENGTH.has(status)) {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
    headers.push('Content-Length', String(length));
  }
  return { status, headers, body: method === 'HEAD' ? undefined : body };
}

/**
 * Returns the answer for a reply whose body is a stream. Waits a limited time for its first item.
 *
 * @throws the error of the first item.
 */
export async function streamedAnswer(
  reply: CheckedReply,
  items: ItemStream,
  { headers: defaults, account }: Pick<CallRecord, 'headers' | 'account'>,
  method: string,
  options: ItemBodyOptions,
): Promise<Answer> {
  const { status } = reply;
  const areChunks = items.areChunks === true;
  const headers = headersOf(reply, [...defaults, ...streamHeaders(items)]);
  const body = new ItemBody(items, account, options);
  // HEAD for a file that cannot be read fails like GET. Other streams are not iterated for HEAD.
  if (method !== 'HEAD' || areChunks) await body.open();
  if (method !== 'HEAD') return { status, headers, body };
  await body.return();
  return { status, headers, body: undefined };
}

/** @param defaults names and values alternate. */
function headersOf({ headers, type }: CheckedReply, defaults: readonly string[]): string[] {
  const list = headers === undefined ? [...defaults] : withDefaults(headers, defaults);
  if (type !== undefined) list.push('Content-Type', type);
  return list;
}

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
