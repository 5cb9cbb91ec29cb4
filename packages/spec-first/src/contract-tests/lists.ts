import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, stringifyJson } from 'openapi-document';
import { parsedBody, type ReceivedResponse } from './check-response.ts';
import { isEqualScalar } from './compare.ts';
import { idIn } from './knowledge.ts';
import { idParameterOf, normalizedName } from './names.ts';
import { isPagingPart, pageOf, pagingOf } from './paging.ts';
import { type RequestPart, type RequestValues, withValue } from './parts.ts';
import { isSuccess, type Run, type Target } from './world.ts';

/** The number of items that a list should have, if its default limit does not need more. */
const WANTED_ITEMS = 5;

/** The number of items that are created for one list. */
const MAX_CREATED = 25;

/** The number of pages that a list is divided into. */
const PAGES = 6;

const MAX_FILTER_VALUES = 5;

const MAX_PAGES = 40;

/** All items of a list, as far as pages lead. */
export interface List {
  readonly items: readonly unknown[];
  /** False if there may be more items. */
  readonly isComplete: boolean;
  readonly total: unknown;
}

/** Returns true if the service may have limited a list without pages to this length. */
const mayBeLimit = (length: number): boolean => length >= 10 && length % 5 === 0;

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
  const base = limit === undefined ? values : withValue(values, limit, limitValue);
  const firstPage = Number(page?.outline.defaults[0] ?? page?.outline.limits('minimum')[0] ?? 1);
  const items: unknown[] = [];
  let next: unknown;
  let total: unknown;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    let sent = base;
    if (cursor !== undefined && next !== undefined) sent = withValue(base, cursor, next);
    else if (offset !== undefined && pages > 0) sent = withValue(base, offset, items.length);
    else if (page !== undefined) sent = withValue(base, page, firstPage + pages);
    const read = pageOf(target, await run.send(target, { values: sent }));
    if (read === undefined) return undefined;
    const count = read.items.length;
    if (limit !== undefined && count > limitValue)
      run.fail(
        'a list has at most as many items as its limit',
        `the response has ${count} items for ${limit.name}=${limitValue}`,
      );
    items.push(...read.items);
    total ??= read.total;
    ({ next } = read);
    const isShort = limit !== undefined && count < limitValue;
    if (cursor !== undefined) {
      if (next === undefined) return { items, isComplete: read.knowsNext || isShort, total };
    } else if (offset ?? page) {
      if (count === 0) return { items, isComplete: true, total };
    } else return { items, isComplete: isShort || !(limit || mayBeLimit(count)), total };
  }
  return { items, isComplete: false, total };
}

/** Returns the id of an item, or `undefined` if it is not certain. */
export function idOfItem({ world }: Run, { operation }: Target, item: unknown): unknown {
  const template = world.knowledge.itemOf(operation.path);
  const entity = asObject(item);
  if (template === undefined) return entity.id;
  return idIn(template, idParameterOf(template), entity) ?? entity.id;
}

/** Returns the values of the required parameters. */
export const requiredValues = (run: Run, target: Target): Promise<RequestValues> =>
  run.values(target, target.requests.simplest(), false);

/** Checks pages, totals and filters of a list. @throws {CheckError} */
export async function checkList(run: Run, target: Target): Promise<void> {
  const { knowledge } = run.world;
  const values = await requiredValues(run, target);
  const { limit } = pagingOf(target.requests.parameters);
  // A wrong default limit shows in a longer list only.
  const wanted = Math.max(WANTED_ITEMS, Number(limit?.outline.defaults[0] ?? 0) + 1);
  const item = knowledge.itemOf(target.operation.path);
  if (item !== undefined && target.otherSecrets !== undefined)
    await checkPrivacy(run, target, values, item);
  let list = await readList(run, target, values);
  const missing = Math.min(MAX_CREATED, wanted - (list?.items.length ?? wanted));
  for (let count = 0; count < missing && item !== undefined; count += 1)
    if ((await run.create(item)) === undefined) break;
  if (missing > 0) list = await readList(run, target, values);
  run.exchanges.length = 0;
  if (list === undefined) return;
  checkItems(run, target, list, list, 'the list');
  await checkPages(run, target, values, list);
  for (const part of target.requests.parameters)
    if (part.in === 'query' && !isPagingPart(part))
      await checkFilter(run, target, values, part, list);
}

/** Checks that a list does not show a resource that its caller may not read. */
async function checkPrivacy(run: Run, target: Target, values: RequestValues, template: string) {
  run.isOther = true;
  const path = (await run.create(template))?.get(template);
  run.isOther = false;
  const reading = path && (await run.read(template, path));
  if (path === undefined || reading === undefined || isSuccess(reading)) return;
  run.world.knowledge.forget(reading.target.operation, path);
  const list = await readList(run, target, values);
  const id = path[idParameterOf(template)];
  if (list?.items.some((item) => isEqualScalar(id, idOfItem(run, target, item))))
    run.fail(
      'a list shows what its caller may read',
      `the list has ${id} of another caller, and GET has the status ${reading.response.status}`,
    );
}

function checkItems(run: Run, target: Target, list: List, all: List, name: string): void {
  const ids = list.items.map((item) => idOfItem(run, target, item));
  const double = ids.find((id, index) => id !== undefined && ids.indexOf(id) !== index);
  if (double !== undefined)
    run.fail('pages contain each item once', `${name} has the item ${double} twice`);
  const { total, isComplete, items } = list;
  if (!isComplete) return;
  const missing = all.items.find((item) => !hasItem(run, target, list, item));
  if (missing !== undefined) {
    const message = `${name} lacks ${describe(run, target, missing)} of the list in large pages`;
    run.fail('pages contain all items of the list', message);
  }
  if (typeof total === 'number' && total !== items.length)
    run.fail(
      'a total is the number of all items',
      `${name} has ${items.length} items, not ${total}`,
    );
}

const describe = (run: Run, target: Target, item: unknown): string =>
  `the item ${stringifyJson(idOfItem(run, target, item)) ?? stringifyJson(item)?.slice(0, 80)}`;

function hasItem(run: Run, target: Target, { items }: List, item: unknown): boolean {
  const id = idOfItem(run, target, item);
  return items.some((other) =>
    id === undefined
      ? isDeepStrictEqual(item, other)
      : isEqualScalar(id, idOfItem(run, target, other)),
  );
}

async function checkPages(run: Run, target: Target, values: RequestValues, all: List) {
  const { limit } = pagingOf(target.requests.parameters);
  const minimum = Number(limit?.outline.limits('minimum')[0] ?? 1);
  const size = Math.max(1, minimum, Math.ceil(all.items.length / PAGES));
  if (limit === undefined || all.items.length <= size) return;
  run.exchanges.length = 0;
  const list = await readList(run, target, values, size);
  if (list !== undefined) checkItems(run, target, list, all, `the list in pages of ${size}`);
}

/** Formats of values that are compared as a whole. */
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
  const { form } = part.outline;
  if (name === undefined || form === 'object' || !all.items.every(isObject)) return;
  const membersOf = (item: unknown): unknown[] => [asObject(item)[name] ?? []].flat();
  const { types, formats, constants } = form === 'array' ? part.outline.item(0) : part.outline;
  const isBoolean = types.has('boolean');
  const isExact = isBoolean || constants.length > 0 || formats.some((format) => EXACT.test(format));
  const isOrdered =
    types.has('integer') ||
    types.has('number') ||
    formats.some((format) => format.startsWith('date'));
  const present = [...new Set(all.items.flatMap(membersOf))].sort();
  const middle = Math.floor(present.length / 2);
  const [text] = present.filter((value) => typeof value === 'string');
  const candidates = [
    ...[...present.slice(middle), ...present.slice(0, middle)].slice(0, MAX_FILTER_VALUES),
    ...constants,
    ...(isBoolean ? [true, false] : []),
    // No item has this text, though one has its beginning.
    ...(text === undefined ? [] : [`${text.slice(0, 1)}qxqzq`]),
  ];
  for (const candidate of new Set(candidates)) {
    const value = form === 'array' ? [candidate] : candidate;
    const filtered = withValue(values, part, value);
    const isSendable = typeof candidate !== 'object' && candidate !== '';
    if (!isSendable || !target.requests.isValid(filtered)) continue;
    run.exchanges.length = 0;
    const list = await readList(run, target, filtered);
    if (list === undefined) return;
    const isEqual = (member: unknown) => isEqualScalar(candidate, member);
    const isRelated = (member: unknown) =>
      isEqual(member) || (!isExact && sharesWord(String(candidate), String(member)));
    const isAbove = (item: unknown) => membersOf(item).some((each) => isBefore(candidate, each));
    const isBelow = (item: unknown) => membersOf(item).some((each) => isBefore(each, candidate));
    const wrong = isOrdered
      ? list.items.some(isAbove) && list.items.find(isBelow)
      : list.items.find((item) => !membersOf(item).some(isRelated));
    const filter = `${part.name}=${String(value)}`;
    if (wrong)
      run.fail(
        'a filter returns only items that match',
        `${describe(run, target, wrong)} has ${name} ${membersOf(wrong).join()} for ${filter}`,
      );
    const missing = all.items.find(
      (item) => membersOf(item).some(isEqual) && !hasItem(run, target, list, item),
    );
    if (missing !== undefined && list.isComplete)
      run.fail(
        'a filter returns all items that match',
        `${describe(run, target, missing)} has this value, but is missing for ${filter}`,
      );
  }
}

const isBefore = (one: unknown, other: unknown): boolean =>
  (typeof one === 'string') === (typeof other === 'string') && (one as number) < (other as number);

/** True if a text contains the other one or one of its words. */
function sharesWord(one: string, other: string): boolean {
  const [text, part] = [one.toLowerCase(), other.toLowerCase()];
  return (
    text.includes(part) || text.split(/\W+/).some((word) => word !== '' && part.includes(word))
  );
}

/**
 * Checks that a request without a query parameter has the same response as one with its default.
 * Ignores responses that differ when they are repeated.
 *
 * @throws {CheckError}
 */
export async function checkDefaults(run: Run, target: Target): Promise<void> {
  const values = await requiredValues(run, target);
  const contentOf = (response: ReceivedResponse) =>
    response.status < 300 ? (pageOf(target, response)?.items ?? parsedBody(response)) : undefined;
  const read = async (sent: RequestValues) => contentOf(await run.send(target, { values: sent }));
  for (const part of target.requests.parameters) {
    const [preset] = part.outline.defaults;
    const explicit = withValue(values, part, preset);
    const isOptional = part.in === 'query' && !part.required && preset !== undefined;
    if (!isOptional || !target.requests.isValid(explicit)) continue;
    run.exchanges.length = 0;
    const first = await read(values);
    const withDefault = await read(explicit);
    const isStable = isDeepStrictEqual(first, await read(values));
    if (first === undefined || withDefault === undefined || !isStable) continue;
    if (!isDeepStrictEqual(first, withDefault))
      run.fail(
        'a default of a parameter is applied',
        `the response without ${part.name} differs from that with its default ${String(preset)}`,
      );
  }
}
