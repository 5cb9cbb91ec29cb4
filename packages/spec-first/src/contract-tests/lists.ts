import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject, isObject, type Json, stringifyJson } from 'openapi-document';
import { parsedBody } from './check-response.ts';
import { isEqualScalar } from './compare.ts';
import { idIn } from './knowledge.ts';
import { idParameterOf, normalizedName } from './names.ts';
import { isPagingPart, pageOf, pagingOf } from './paging.ts';
import { isValid, type RequestPart, type RequestValues } from './parts.ts';
import type { Run, Target } from './world.ts';

/** The number of items that a list should have for a test of pages and filters. */
const WANTED_ITEMS = 5;

/** The number of pages that a list is divided into. */
const PAGES = 6;

const MAX_FILTER_VALUES = 5;

const MAX_PAGES = 40;

/** All items of a list, as far as pages lead. */
export interface List {
  readonly items: readonly unknown[];
  /** False if there may be more items. */
  readonly isComplete: boolean;
  /** True if a cursor, an offset or a number leads to further pages. */
  readonly isPaged: boolean;
  readonly total: unknown;
}

/** A list without pages may be limited silently. Such a limit is hardly lower. */
const MIN_SILENT_LIMIT = 10;

/**
 * Reads a list with all its pages.
 *
 * @param values the values of other parameters.
 * @param size the size of the pages. By default the largest one.
 */
export async function readList(
  run: Run,
  target: Target,
  values: RequestValues,
  size?: number,
): Promise<List | undefined> {
  const { limit, cursor, offset, page } = pagingOf(target.requests.parameters);
  const limitValue = Number(size ?? limit?.outline.limits('maximum')[0] ?? 100);
  const base = limit === undefined ? values : new Map([...values, [limit, limitValue] as const]);
  const firstPage = Number(page?.outline.defaults[0] ?? page?.outline.limits('minimum')[0] ?? 1);
  const items: unknown[] = [];
  let next: unknown;
  let total: unknown;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const added = new Map<RequestPart, unknown>();
    if (cursor !== undefined && next !== undefined) added.set(cursor, next);
    else if (offset !== undefined && pages > 0) added.set(offset, items.length);
    else if (page !== undefined) added.set(page, firstPage + pages);
    const response = await run.send(target, { values: new Map([...base, ...added]) });
    const read = pageOf(response);
    if (read === undefined) return undefined;
    const count = read.items.length;
    if (limit !== undefined && (cursor ?? offset ?? page) !== undefined && count > limitValue)
      run.fail(
        'a list has at most as many items as its limit',
        `the response has ${count} items for ${limit.name}=${limitValue}`,
      );
    items.push(...read.items);
    total ??= read.total;
    ({ next } = read);
    if (cursor !== undefined) {
      const isShort = limit !== undefined && read.items.length < limitValue;
      if (next === undefined)
        return { items, isComplete: read.knowsNext || isShort, isPaged: true, total };
    } else if (offset ?? page) {
      if (read.items.length === 0) return { items, isComplete: true, isPaged: true, total };
    } else {
      const isComplete = items.length < (limit ? limitValue : MIN_SILENT_LIMIT);
      return { items, isComplete, isPaged: false, total };
    }
  }
  return { items, isComplete: false, isPaged: true, total };
}

/** Returns the id of an item, or `undefined` if it is not certain. */
export function idOfItem({ world }: Run, { operation }: Target, item: unknown): unknown {
  const template = world.knowledge.itemOf(operation.path);
  const entity = asObject(item);
  if (template === undefined) return entity.id;
  return idIn(template, idParameterOf(template), entity) ?? entity.id;
}

/** Returns the values of the required parameters. */
export async function requiredValues(run: Run, target: Target): Promise<RequestValues> {
  const values = await run.values(target, target.requests.simplest(), false);
  return new Map([...values].filter(([part]) => part.required && part.media === undefined));
}

/** Checks pages, totals and filters of a list. @throws {CheckError} */
export async function checkList(run: Run, target: Target): Promise<void> {
  const { operation } = target;
  const { world } = run;
  const values = await requiredValues(run, target);
  let list = await readList(run, target, values);
  const item = world.knowledge.itemOf(operation.path);
  for (let count = 0; count < WANTED_ITEMS; count += 1) {
    if (list === undefined || item === undefined || list.items.length >= WANTED_ITEMS) break;
    await run.create(item);
    run.exchanges.length = 0;
    list = await readList(run, target, values);
  }
  if (list === undefined) return;
  checkItems(run, target, list, list, 'the list');
  await checkPages(run, target, values, list);
  for (const part of target.requests.parameters)
    if (part.in === 'query' && !isPagingPart(part))
      await checkFilter(run, target, values, part, list);
}

function checkItems(run: Run, target: Target, list: List, all: List, name: string): void {
  const ids = list.items.map((item) => idOfItem(run, target, item));
  const known = ids.filter((id) => id !== undefined);
  const double = known.find((id, index) => known.indexOf(id) !== index);
  if (double !== undefined)
    run.fail('pages contain each item once', `${name} has the item ${double} twice`);
  const missing = all.items.find(
    (item) => !list.items.some((other) => isSameItem(run, target, item, other)),
  );
  if (list.isComplete && missing !== undefined) {
    const message = `${name} lacks ${describe(run, target, missing)} of the list in large pages`;
    run.fail('pages contain all items of the list', message);
  }
  const { total, isComplete, items } = list;
  const isOther = typeof total === 'number' && total !== items.length;
  if (isComplete && isOther)
    run.fail(
      'a total is the number of all items',
      `${name} has ${items.length} items, not ${total}`,
    );
}

const describe = (run: Run, target: Target, item: unknown): string =>
  `the item ${stringifyJson(idOfItem(run, target, item)) ?? stringifyJson(item)?.slice(0, 80)}`;

function isSameItem(run: Run, target: Target, one: unknown, other: unknown): boolean {
  const id = idOfItem(run, target, one);
  return id === undefined
    ? isDeepStrictEqual(one, other)
    : isEqualScalar(id, idOfItem(run, target, other));
}

async function checkPages(
  run: Run,
  target: Target,
  values: RequestValues,
  all: List,
): Promise<void> {
  const { limit, cursor, offset, page } = pagingOf(target.requests.parameters);
  if (limit === undefined || (cursor ?? offset ?? page) === undefined) return;
  const minimum = Number(limit.outline.limits('minimum')[0] ?? 1);
  const size = Math.max(1, minimum, Math.ceil(all.items.length / PAGES));
  run.exchanges.length = 0;
  const list = await readList(run, target, values, size);
  if (list !== undefined && all.items.length > size)
    checkItems(run, target, list, all, `the list in pages of ${size}`);
}

/** Types and formats of values that are compared as a whole. */
const EXACT = /^(uuid|email|uri|url|ipv4|ipv6)$/;

/**
 * Checks a parameter with the name of a member of the items: the list has the items with its value,
 * and only these. A number or a date may also be a bound, and a text may be a part of the member.
 */
async function checkFilter(
  run: Run,
  target: Target,
  values: RequestValues,
  part: RequestPart,
  all: List,
): Promise<void> {
  const name = all.items
    .flatMap((item) => Object.keys(asObject(item)))
    .find((key) => normalizedName(key) === normalizedName(part.name));
  if (name === undefined || !all.items.every(isObject)) return;
  const membersOf = (item: unknown): unknown[] => [(item as Json)[name] ?? []].flat();
  const isList = part.outline.form === 'array';
  if (!isList && part.outline.form !== 'text') return;
  const inner = isList ? part.outline.item(0) : part.outline;
  const isExact =
    inner.constants.length > 0 ||
    inner.types.has('boolean') ||
    inner.formats.some((format) => EXACT.test(format));
  const isOrdered =
    inner.types.has('integer') ||
    inner.types.has('number') ||
    inner.formats.some((format) => format.startsWith('date'));
  const present = [...new Set(all.items.flatMap(membersOf))].sort();
  const middle = Math.floor(present.length / 2);
  const candidates = [
    ...present.slice(middle),
    ...present.slice(0, middle),
    ...inner.constants,
  ].slice(0, MAX_FILTER_VALUES + inner.constants.length);
  for (const candidate of new Set(candidates)) {
    const value = isList ? [candidate] : candidate;
    if (typeof candidate === 'object' || candidate === '' || !isValid(part, value)) continue;
    run.exchanges.length = 0;
    const filtered = await readList(run, target, new Map([...values, [part, value]]));
    if (filtered === undefined) return;
    const isEqual = (member: unknown) => isEqualScalar(candidate, member);
    const isRelated = (member: unknown) => {
      if (isExact) return isEqual(member);
      const [sent, received] = [candidate, member].map((text) => String(text).toLowerCase());
      return sharesWord(sent ?? '', received ?? '');
    };
    const isAbove = (item: unknown) =>
      membersOf(item).some((member) => isBefore(candidate, member));
    const isBelow = (item: unknown) =>
      membersOf(item).some((member) => isBefore(member, candidate));
    const wrong = isOrdered
      ? filtered.items.some(isAbove) && filtered.items.find(isBelow)
      : filtered.items.find((item) => isObject(item) && !membersOf(item).some(isRelated));
    const filter = `${part.name}=${String(value)}`;
    if (wrong) {
      const member = stringifyJson((wrong as Json)[name]);
      run.fail(
        'a filter returns only items that match',
        `${describe(run, target, wrong)} has ${name} ${member} for ${filter}`,
      );
    }
    const missing = all.items.find(
      (item) =>
        membersOf(item).some(isEqual) &&
        !filtered.items.some((other) => isSameItem(run, target, item, other)),
    );
    if (missing !== undefined && filtered.isComplete)
      run.fail(
        'a filter returns all items that match',
        `${describe(run, target, missing)} has this value, but is missing for ${filter}`,
      );
  }
}

function isBefore(one: unknown, other: unknown): boolean {
  const isText = typeof one === 'string' && typeof other === 'string';
  const isNumber = typeof one !== 'string' && typeof other !== 'string';
  return (isText || isNumber) && (one as number) < (other as number);
}

/** True if a text contains the other one or one of its words. */
const sharesWord = (one: string, other: string): boolean =>
  one.includes(other) || one.split(/\W+/).some((word) => word !== '' && other.includes(word));

/**
 * Checks that a request without a query parameter has the same response as one with its default.
 * Ignores responses that differ when they are repeated.
 *
 * @throws {CheckError}
 */
export async function checkDefaults(run: Run, target: Target): Promise<void> {
  const values = await requiredValues(run, target);
  for (const part of target.requests.parameters) {
    const [preset] = part.outline.defaults;
    if (part.in !== 'query' || part.required || !isValid(part, preset)) continue;
    run.exchanges.length = 0;
    const send = async (sent: RequestValues) => {
      const response = await run.send(target, { values: sent });
      return response.status < 300 ? parsedBody(response) : undefined;
    };
    const first = await send(values);
    const withDefault = await send(new Map([...values, [part, preset]]));
    const again = await send(values);
    if (first === undefined || withDefault === undefined || !isDeepStrictEqual(first, again))
      continue;
    const [items, others] = [first, withDefault].map((body) => asArray(listIn(body)));
    const isSame =
      listIn(first) === undefined
        ? isDeepStrictEqual(first, withDefault)
        : isDeepStrictEqual(items, others);
    if (!isSame)
      run.fail(
        'a default of a parameter is applied',
        `the response without ${part.name} differs from that with its default ${String(preset)}`,
      );
  }
}

const listIn = (body: unknown): unknown =>
  Array.isArray(body) ? body : Object.values(asObject(body)).find(Array.isArray);
