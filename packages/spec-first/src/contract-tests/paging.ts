import { asArray, declaredFor, isObject, type Outline } from 'openapi-document';
import { type CheckedOperation, parsedBody, type ReceivedResponse } from './check-response.ts';

interface Named {
  readonly in: string;
  readonly name: string;
  readonly outline: Outline;
}

/** Names of parameters with the maximum number of items of a page. */
const LIMIT = /^(limit|page_?size|per_?page|max_?results)$/i;

/** Names of such parameters beside another parameter of pages. Elsewhere, they may be filters. */
const SIZE = /^(size|first|count|take|top)$/i;

/** Names of parameters with the cursor of a page. */
const CURSOR = /^(cursor|after|page_?token|continuation(_?token)?|starting_?after)$/i;

/** Names of parameters with the number of items before a page, and with the number of a page. */
const OFFSET = /^(offset|skip)$/i;
const PAGE = /^(page|page_?(number|index|no))$/i;

/** Names of members with the cursor of the next page. */
const NEXT_CURSOR = /^(next|next_?(cursor|page_?token|token)|continuation(_?token)?|end_?cursor)$/i;

/** Names of members with the number of items of a whole list. */
const TOTAL = /^(total|total_?(count|items|results))$/i;

/** A parameter whose values are dates is not a cursor, even if its name is `after`. */
export const isCursor = ({ in: where, name, outline }: Named): boolean =>
  where === 'query' &&
  CURSOR.test(name) &&
  !outline.formats.some((format) => format.startsWith('date'));

/** Returns the parameters of a list that select a page. */
export function pagingOf<Part extends Named>(parameters: readonly Part[]) {
  const find = (names: RegExp) =>
    parameters.find(({ in: where, name, outline: { types } }) => {
      const isNumber = types.has('integer') || types.has('number');
      return where === 'query' && names.test(name) && isNumber;
    });
  const [cursor, offset, page] = [parameters.find(isCursor), find(OFFSET), find(PAGE)];
  const hasPages = (cursor ?? offset ?? page) !== undefined;
  return { limit: find(LIMIT) ?? (hasPages ? find(SIZE) : undefined), cursor, offset, page };
}

export const isPagingPart = (part: Named): boolean =>
  isCursor(part) || [LIMIT, SIZE, OFFSET, PAGE].some((names) => names.test(part.name));

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
export function pageOf(
  { operation }: Pick<CheckedOperation, 'operation'>,
  response: ReceivedResponse,
): Page | undefined {
  const body = parsedBody(response);
  if (response.status >= 300) return undefined;
  const { link = '' } = response.headers;
  const linked = cursorIn(/<([^>]*)>[^,]*;\s*rel="?next"?/.exec(link)?.[1]);
  const hasLink = link !== '';
  if (Array.isArray(body))
    return { items: body, next: linked, knowsNext: hasLink, total: undefined };
  if (!isObject(body)) return undefined;
  const [items, ...others] = Object.values(body).filter(Array.isArray);
  if (items === undefined || others.length > 0) return undefined;
  const members = [body, ...Object.values(body).filter(isObject)].flatMap(Object.entries<unknown>);
  const find = (names: RegExp) => members.find(([name]) => names.test(name))?.[1];
  const found = find(NEXT_CURSOR);
  const next = cursorIn(isObject(found) ? undefined : found) ?? linked;
  const declared = declaredFor(operation, response.status)?.media ?? [];
  const knowsNext = hasLink || declared.some(({ outline }) => declaresNext(outline));
  return { items: asArray(items), next, knowsNext, total: find(TOTAL) };
}

const declaresNext = (outline: Outline, depth = 0): boolean =>
  [...outline.names].some(
    (name) =>
      NEXT_CURSOR.test(name) || (depth === 0 && declaresNext(outline.member(name), depth + 1)),
  );

/** Returns the cursor in a URL, or the text itself. */
function cursorIn(text: unknown): unknown {
  const { searchParams = [] } = URL.parse(String(text), 'http://host') ?? {};
  const [, cursor] = [...searchParams].find(([name]) => CURSOR.test(name)) ?? [];
  return cursor ?? text ?? undefined;
}
