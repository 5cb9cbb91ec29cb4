import { asArray, asObject, isObject } from 'openapi-document';
import { CheckError, parsedBody, type ReceivedResponse } from './check-response.ts';
import type { RequestPart, RequestValues } from './parts.ts';

/** Names of parameters with the maximum number of items of a page. */
const LIMIT = /^(limit|page_?size|per_?page|size|max_?results|first|count|take|top)$/i;

/** Names of parameters that limit the items of any list. `size` and `first` may be filters. */
const ITEM_LIMIT = /^(limit|page_?size|per_?page|max_?results)$/i;

/** Names of parameters with the cursor of a page. */
const CURSOR = /^(cursor|after|page_?token|continuation(_?token)?|starting_?after)$/i;

/** Names of parameters with the number of items before a page, and with the number of a page. */
const OFFSET = /^(offset|skip)$/i;
const PAGE = /^(page|page_?(number|index|no))$/i;

/** Names of members with the cursor of the next page. */
const NEXT_CURSOR = /^(next|next_?(cursor|page_?token|token)|continuation(_?token)?|end_?cursor)$/i;

/** Names of members with the number of items of a whole list. */
const TOTAL = /^(total|total_?(count|items|results))$/i;

const ANY_TOTAL = /^(count|total.*)$/i;

/** A parameter whose values are dates is not a cursor, even if its name is `after`. */
export const isCursor = ({ in: where, name, outline }: RequestPart) =>
  where === 'query' &&
  CURSOR.test(name) &&
  !outline.formats.some((format) => format.startsWith('date'));

/** The parameters of a list that select a page. */
export interface Paging {
  readonly limit: RequestPart | undefined;
  readonly cursor: RequestPart | undefined;
  readonly offset: RequestPart | undefined;
  readonly page: RequestPart | undefined;
}

export function pagingOf(parameters: readonly RequestPart[]): Paging {
  const find = (names: RegExp) =>
    parameters.find(({ in: where, name, outline }) => {
      const isNumber = outline.types.has('integer') || outline.types.has('number');
      return where === 'query' && names.test(name) && isNumber;
    });
  return {
    limit: find(LIMIT),
    cursor: parameters.find(isCursor),
    offset: find(OFFSET),
    page: find(PAGE),
  };
}

export const isPagingPart = (part: RequestPart): boolean =>
  part.in === 'query' &&
  (isCursor(part) || [LIMIT, OFFSET, PAGE].some((names) => names.test(part.name)));

/** The items of a list in a response. */
export interface Page {
  readonly items: readonly unknown[];
  /** The cursor of the next page. */
  readonly next: unknown;
  /** True if the response would have a cursor of a next page. */
  readonly knowsNext: boolean;
  readonly total: unknown;
}

/**
 * Returns the list of a response: the body, or its only array. Returns `undefined` for another
 * body, and for a failure.
 */
export function pageOf(response: ReceivedResponse): Page | undefined {
  const body = parsedBody(response);
  if (response.status >= 300) return undefined;
  const { link = '' } = response.headers;
  const linked = cursorIn(/<([^>]*)>[^,]*;\s*rel="?next"?/.exec(link)?.[1]);
  if (Array.isArray(body))
    return { items: body, next: linked, knowsNext: link !== '', total: undefined };
  if (!isObject(body)) return undefined;
  const [items, ...others] = Object.values(body).filter(Array.isArray);
  if (items === undefined || others.length > 0) return undefined;
  const members = [body, ...Object.values(body).filter(isObject)].flatMap(Object.entries<unknown>);
  const [, total] = members.find(([name]) => TOTAL.test(name)) ?? [];
  const nextMember = members.find(([name]) => NEXT_CURSOR.test(name));
  const next = cursorIn(isObject(nextMember?.[1]) ? undefined : nextMember?.[1]) ?? linked;
  return { items: asArray(items), next, knowsNext: nextMember !== undefined || link !== '', total };
}

/** Returns the cursor in a URL, or the text itself. */
function cursorIn(text: unknown): unknown {
  const { searchParams = [] } = URL.parse(String(text), 'http://host') ?? {};
  const [, cursor] = [...searchParams].find(([name]) => CURSOR.test(name)) ?? [];
  return cursor ?? text ?? undefined;
}

/**
 * Checks that a list has at most as many items as the limit of the request. The list is the body,
 * or the only array beside a cursor or a total. Ignores limits below 1, since 0 may mean no limit.
 *
 * @throws {CheckError}
 */
export function checkLimit(values: RequestValues, response: ReceivedResponse): void {
  const [limit, value] =
    [...values].find(([part]) => part.in === 'query' && ITEM_LIMIT.test(part.name)) ?? [];
  const maxItems = Number(value);
  const body = parsedBody(response);
  const names = Object.keys(asObject(body));
  const isPage =
    Array.isArray(body) || names.some((name) => NEXT_CURSOR.test(name) || ANY_TOTAL.test(name));
  const items = pageOf(response)?.items ?? [];
  if (!Number.isInteger(maxItems) || maxItems < 1 || !isPage || items.length <= maxItems) return;
  throw new CheckError(
    'a list has at most as many items as its limit',
    `the response has ${items.length} items for ${limit?.name}=${maxItems}`,
  );
}
