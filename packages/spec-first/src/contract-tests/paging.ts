import { asArray, asObject, isObject, stringifyJson } from 'openapi-document';
import { CheckError, parsedBody } from './check-response.ts';
import type { ReceivedResponse } from './client.ts';
import type { RequestPart, RequestValues } from './request-parts.ts';

/** Names of parameters with the maximum number of items of a page. */
const LIMIT = /^(limit|page_?size|per_?page|size|max_?results|first)$/i;

/** Names of parameters that limit the items of any list. `size` and `first` may be filters. */
const ITEM_LIMIT = /^(limit|page_?size|per_?page|max_?results)$/i;

/** Names of parameters with the cursor of a page. */
const CURSOR = /^(cursor|after|page_?token|continuation(_?token)?|starting_?after)$/i;

/** Names of members with the cursor of the next page. */
const NEXT_CURSOR = /^(next|next_?(cursor|page_?token|token)|continuation(_?token)?|end_?cursor)$/i;

/** Names of members with the number of items of a whole list. */
const TOTAL = /^(total|count|total_?(count|items|results))$/i;

const MAX_PAGES = 10;

interface Paging {
  readonly limit: RequestPart;
  readonly cursor: RequestPart;
}

export function pagingOf(method: string, parameters: readonly RequestPart[]): Paging | undefined {
  const limit = parameters.find(({ in: where, name }) => where === 'query' && LIMIT.test(name));
  const cursor = parameters.find(isCursor);
  return method === 'get' && limit && cursor ? { limit, cursor } : undefined;
}

/** A parameter whose values are dates is not a cursor, even if its name is `after`. */
export const isCursor = ({ in: where, name, outline }: RequestPart) =>
  where === 'query' &&
  CURSOR.test(name) &&
  !outline.formats.some((format) => format.startsWith('date'));

/**
 * Returns the cursor of the next page from the body of a response. The member may be a URL with the
 * cursor as a parameter.
 */
export function nextCursor(body: unknown): unknown {
  const [, next] = Object.entries(asObject(body)).find(([name]) => NEXT_CURSOR.test(name)) ?? [];
  const { searchParams = [] } = URL.parse(String(next), 'http://host') ?? {};
  const [, cursor] = [...searchParams].find(([name]) => CURSOR.test(name)) ?? [];
  return cursor ?? next ?? undefined;
}

/**
 * Checks that a list has at most as many items as the limit of the request. The list is the body,
 * or the only array beside a cursor or a total. Ignores limits below 1, since 0 may mean no limit.
 *
 * @throws {CheckError}
 */
export function checkLimit(
  method: string,
  values: RequestValues,
  response: ReceivedResponse,
): void {
  const [limit, value] =
    [...values].find(([part]) => part.in === 'query' && ITEM_LIMIT.test(part.name)) ?? [];
  const maxItems = typeof value === 'bigint' ? Number(value) : value;
  if (method !== 'get' || !isCount(maxItems)) return;
  const body = parsedBody(response);
  const members = asObject(body);
  const isPage = Object.keys(members).some((name) => NEXT_CURSOR.test(name) || TOTAL.test(name));
  const lists = isPage
    ? Object.values(members).filter(Array.isArray)
    : [body].filter(Array.isArray);
  const [items = []] = lists;
  if (lists.length !== 1 || items.length <= maxItems) return;
  throw new CheckError(
    'a list has at most as many items as its limit',
    `the response has ${items.length} items for ${limit?.name}=${maxItems}`,
  );
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 1;

/**
 * Checks that small pages have the same items as one large page, in the same order. The limit of
 * small pages is at least 1, since a page of 0 items may have no cursor.
 *
 * @param read sends a request with these values of the paging parameters.
 * @throws {CheckError}
 */
export async function checkPages(
  { limit, cursor }: Paging,
  read: (values: RequestValues) => Promise<ReceivedResponse>,
): Promise<void> {
  const [maximum = 100] = limit.outline.limits('maximum');
  const [minimum = 1] = limit.outline.limits('minimum');
  const largePage = pageOf(await read(new Map([[limit, maximum]])));
  if (largePage === undefined) return;

  const smallLimit = Math.max(1, Number(minimum));
  const smallPageItems: unknown[] = [];
  let next: unknown;
  for (
    let pages = 0;
    pages < MAX_PAGES && smallPageItems.length < largePage.items.length;
    pages += 1
  ) {
    const values = new Map<RequestPart, unknown>([[limit, smallLimit]]);
    if (next !== undefined) values.set(cursor, next);
    const page = pageOf(await read(values));
    if (page === undefined) return;
    smallPageItems.push(...page.items);
    next = page.next;
    if (next === undefined) break;
  }
  // After the last small page, compares all items. If more pages follow, compares only as many
  // items as were read.
  const expected = largePage.items.slice(0, next === undefined ? undefined : smallPageItems.length);
  if (expected.every((item, index) => itemKey(item) === itemKey(smallPageItems[index]))) return;
  const message =
    `the ${smallPageItems.length} items in pages of ${smallLimit} ` +
    `differ from the ${expected.length} items in one large page`;
  throw new CheckError('pages contain all items of the list', message);
}

function pageOf(response: ReceivedResponse) {
  const body = parsedBody(response);
  if (response.status >= 300 || !isObject(body)) return undefined;
  const items = Object.values(body).find(Array.isArray);
  return items && { items: asArray(items), next: nextCursor(body) };
}

const itemKey = (item: unknown) => stringifyJson(asObject(item).id ?? item);
