import { isObject, type Json, type Outline } from 'openapi-document';
import {
  type CheckedOperation,
  mediaOf,
  parsedBody,
  type ReceivedResponse,
} from './check-response.ts';

interface Named {
  readonly in: string;
  readonly name: string;
  readonly outline: Outline;
}

/** Returns a name without signs: `page_size` for `page[size]`, and `skip` for `$skip`. */
export const plainName = (name: string): string =>
  name.replace(/^[$@]/, '').replace(/\[(\w+)\]/g, '_$1');

/** Names of parameters with the maximum number of items of a page. */
const LIMIT = /^(limit|(page|batch)_?size|((items|results)_?)?per_?page|max_?(results|items))$/i;

/** Names of such parameters beside another parameter of pages. Elsewhere, they may be filters. */
const SIZE = /^(size|first|count|take|top|rows)$/i;

/** Names of parameters with the cursor of a page: a text from a response, or the id of an item. */
const CURSOR = /^(cursor|((page|next|continuation)_?)?token|continuation)$/i;
const AFTER = /^(((start|starting)_?)?after|(last|since|after|before|from)(_?id)?|marker)$/i;

/** Names of parameters with the number of items before a page, and with the number of a page. */
const OFFSET = /^(offset|skip|start(_?index)?)$/i;
const PAGE = /^(page|page_?(number|index|no))$/i;

/** Names of members with the cursor of the next page. */
const NEXT_CURSOR = /^(next|next_?(cursor|page_?token|token)|continuation(_?token)?|end_?cursor)$/i;

/** Names of members that are true if there is another page. */
const HAS_MORE = /^has_?(more|next(_?page)?)$/i;

/** Names of members with the number of pages of a whole list. */
const PAGES = /^(total_?pages|page_?count|pages)$/i;

/** Names of members with the number of items of a whole list. */
const TOTAL = /^(@count|total|total_?(count|items|results))$/i;

const isAfter = ({ name, outline: { formats } }: Named): boolean =>
  AFTER.test(plainName(name)) && !formats.some((format) => format.startsWith('date'));

/** A parameter whose values are dates is not a cursor, even if its name is `after`. */
export const isCursor = (part: Named): boolean =>
  part.in === 'query' && (CURSOR.test(plainName(part.name)) || isAfter(part));

/** Returns the parameters of a list that select a page. */
export function pagingOf<Part extends Named>(parameters: readonly Part[]) {
  const find = (names: RegExp) =>
    parameters.find(({ in: where, name, outline: { types } }) => {
      const isNumber = types.has('integer') || types.has('number');
      return where === 'query' && names.test(plainName(name)) && isNumber;
    });
  const [cursor, offset, page] = [parameters.find(isCursor), find(OFFSET), find(PAGE)];
  const hasPages = (cursor ?? offset ?? page) !== undefined;
  const limit = find(LIMIT) ?? (hasPages ? find(SIZE) : undefined);
  return { limit, cursor, offset, page, isById: cursor !== undefined && isAfter(cursor) };
}

/** The items of a list in a response. */
export interface Page {
  readonly items: readonly unknown[];
  /** The form of the items. */
  readonly outline: Outline | undefined;
  /** The cursor of the next page. */
  readonly next: unknown;
  /** The names of the query parameters in the URL of the next page, if there is one. */
  readonly linked: ReadonlySet<string> | undefined;
  /** True if the response would have a cursor of a next page. */
  readonly knowsNext: boolean;
  /** The member of the response that says if there is another page. */
  readonly hasMore?: unknown;
  /** The number of items of the whole list. */
  readonly total: number | undefined;
  /** The number of pages of the whole list. */
  readonly pageCount?: unknown;
}

/** A list, with the form of its items. */
interface ListIn {
  readonly items: readonly unknown[];
  readonly outline: Outline | undefined;
}

/** Returns the only array in an object, or in an object inside of it such as `_embedded`. */
function listIn(body: Json, outline: Outline | undefined): ListIn | undefined {
  const lists = Object.entries(body).flatMap(([name, value]): ListIn[] =>
    Array.isArray(value) ? [{ items: value, outline: outline?.member(name).item(0) }] : [],
  );
  if (lists.length > 0) return lists.length === 1 ? lists[0] : undefined;
  const [inner, ...others] = Object.entries(body).flatMap(
    ([name, value]) => (isObject(value) && listIn(value, outline?.member(name))) || [],
  );
  return others.length === 0 ? inner : undefined;
}

/**
 * Returns the list of a response: the body, or its only array. Returns `undefined` for another
 * body, and for a failure.
 */
export function pageOf(
  checked: Pick<CheckedOperation, 'operation'>,
  response: ReceivedResponse,
): Page | undefined {
  const body = parsedBody(response);
  if (response.status >= 300) return undefined;
  const { link = '', 'x-total': total, 'x-total-pages': pageCount } = response.headers;
  const count = response.headers['x-total-count'] ?? total;
  const url = /<([^>]*)>[^,]*;\s*rel="?next"?/.exec(link)?.[1];
  const outline = mediaOf(checked, response)?.outline;
  const headerTotal = count === undefined ? undefined : Number(count);
  const headerPages = pageCount === undefined ? undefined : Number(pageCount);
  if (Array.isArray(body)) {
    const totals = { total: headerTotal, pageCount: headerPages };
    const rest = { ...nextIn(url), knowsNext: link !== '', ...totals };
    return { items: body, outline: outline?.item(0), ...rest };
  }
  if (!isObject(body)) return undefined;
  const list = listIn(body, outline);
  if (list === undefined) return undefined;
  const members = [body, ...Object.values(body).filter(isObject)].flatMap(Object.entries<unknown>);
  const find = (names: RegExp) => members.find(([key]) => names.test(key))?.[1];
  const next = find(NEXT_CURSOR);
  const totalMember = find(TOTAL);
  return {
    ...list,
    ...nextIn((isObject(next) ? next.href : next) ?? url),
    knowsNext: link !== '' || (outline !== undefined && declaresNext(outline)),
    total: typeof totalMember === 'number' ? totalMember : headerTotal,
    pageCount: find(PAGES) ?? headerPages,
    hasMore: find(HAS_MORE),
  };
}

const declaresNext = (outline: Outline, depth = 0): boolean =>
  [...outline.names].some(
    (name) =>
      NEXT_CURSOR.test(name) || (depth === 0 && declaresNext(outline.member(name), depth + 1)),
  );

/** Returns the cursor in a URL with the names in its query, or the text itself. */
function nextIn(text: unknown): Pick<Page, 'next' | 'linked'> {
  const { searchParams = new URLSearchParams() } = URL.parse(String(text), 'http://host') ?? {};
  const isNamed = ([name]: [string, string]) => CURSOR.test(name) || AFTER.test(name);
  const [, cursor] = [...searchParams].find(isNamed) ?? [];
  if (cursor === undefined) return { next: text ?? undefined, linked: undefined };
  return { next: cursor, linked: new Set(searchParams.keys()) };
}
