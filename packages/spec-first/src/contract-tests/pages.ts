import { asArray, asObject, isObject, stringifyJson } from 'openapi-document';
import { Fault, parsedBody } from './checks.ts';
import type { ReceivedResponse } from './client.ts';
import type { Part, Values } from './parts.ts';

const LIMIT = /^(limit|page_?size|per_?page|size|max_?results|first)$/i;
const CURSOR = /^(cursor|after|page_?token|continuation(_?token)?|starting_?after)$/i;
const NEXT_CURSOR = /^(next|next_?(cursor|page_?token|token)|continuation(_?token)?|end_?cursor)$/i;

/** The maximum number of small pages that are read. */
const MAX_PAGES = 10;

/** The parameters that select a page of a list. */
interface Paging {
  readonly limit: Part;
  readonly cursor: Part;
}

/** Returns the paging parameters of an operation, or `undefined` if it has none. */
export function pagingOf(method: string, parameters: readonly Part[]): Paging | undefined {
  const limit = parameters.find(({ in: where, name }) => where === 'query' && LIMIT.test(name));
  const cursor = parameters.find(isCursor);
  return method === 'get' && limit && cursor ? { limit, cursor } : undefined;
}

/**
 * Returns true for the parameter with the cursor of a list. Only values from replies are valid
 * cursors. A parameter whose values are dates is not a cursor, even if its name is `after`.
 */
export const isCursor = ({ in: where, name, schema }: Part) =>
  where === 'query' && CURSOR.test(name) && !/^date/.test(String(asObject(schema).format));

/** Returns the cursor of the next page in the body of a reply, which may be in a link. */
export function nextCursor(body: unknown): unknown {
  const [, next] = Object.entries(asObject(body)).find(([name]) => NEXT_CURSOR.test(name)) ?? [];
  const { searchParams = [] } = URL.parse(String(next), 'http://host') ?? {};
  const [, cursor] = [...searchParams].find(([name]) => CURSOR.test(name)) ?? [];
  return cursor ?? next ?? undefined;
}

/**
 * Checks that small pages have the same items as one large page, in the same order.
 *
 * @param read requests a page with these values.
 * @throws {Fault}
 */
export async function checkPages(
  { limit, cursor }: Paging,
  read: (values: Values) => Promise<ReceivedResponse>,
): Promise<void> {
  const { maximum = 100, minimum = 1 } = asObject(limit.schema);
  const whole = pageOf(await read(new Map([[limit, maximum]])));
  if (whole === undefined) return;

  const seen: unknown[] = [];
  let next: unknown;
  for (let count = 0; count < MAX_PAGES && seen.length < whole.items.length; count += 1) {
    const values = new Map([[limit, minimum]]);
    if (next !== undefined) values.set(cursor, next);
    const page = pageOf(await read(values));
    if (page === undefined) return;
    seen.push(...page.items);
    next = page.next;
    if (next === undefined) break;
  }
  // If no page follows, the small pages must contain all items.
  const expected = whole.items.slice(0, next === undefined ? undefined : seen.length);
  if (expected.every((item, index) => itemKey(item) === itemKey(seen[index]))) return;
  const message =
    `the ${seen.length} items in pages of ${minimum} ` +
    `differ from the ${expected.length} items in one large page`;
  throw new Fault('pages contain all items of the list', message);
}

/** Returns the items of a page and the next cursor, or `undefined` if the body is not a page. */
function pageOf(answer: ReceivedResponse) {
  const body = parsedBody(answer);
  if (answer.status >= 300 || !isObject(body)) return undefined;
  const items = Object.values(body).find(Array.isArray);
  return items && { items: asArray(items), next: nextCursor(body) };
}

const itemKey = (item: unknown) => stringifyJson(asObject(item).id ?? item);
