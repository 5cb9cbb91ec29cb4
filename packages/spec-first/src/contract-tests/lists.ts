import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, stringifyJson } from 'openapi-document';
import { parsedBody, type ReceivedResponse } from './check-response.ts';
import { isEqualScalar } from './compare.ts';
import { idParameterOf, normalizedName } from './names.ts';
import { pageOf, pagingOf } from './paging.ts';
import { type RequestPart, type RequestValues, withValue } from './parts.ts';
import { idOfItem, type List, readList } from './views.ts';
import { isSuccess, type Run, type Target } from './world.ts';

/** The number of items that a list should have, if its default limit does not need more. */
const WANTED_ITEMS = 5;

/** The number of items that are created for one list. */
const MAX_CREATED = 25;

/** The number of pages that a list is divided into. */
const PAGES = 6;

const MAX_FILTER_VALUES = 5;

/** Returns the values of the required parameters. Resources in the path are new. */
const requiredValues = (run: Run, target: Target): Promise<RequestValues> =>
  run.values(target, target.requests.simplest(), true);

/** Checks pages, totals, filters and orders of a list. @throws {CheckError} */
export async function checkList(run: Run, target: Target): Promise<void> {
  const { knowledge } = run.world;
  const { parameters } = target.requests;
  const values = await requiredValues(run, target);
  const { limit, cursor, offset, page } = pagingOf(parameters);
  // A wrong default limit shows in a longer list only.
  const wanted = Math.max(WANTED_ITEMS, Number(limit?.outline.defaults[0] ?? 0) + 1);
  const item = knowledge.itemOf(target.operation.path);
  if (item !== undefined && target.otherSecrets !== undefined)
    await checkPrivacy(run, target, values, item);
  let list = await readList(run, target, values);
  const missing = Math.min(MAX_CREATED, wanted - (list?.items.length ?? wanted));
  for (let count = 0; count < missing && item !== undefined; count += 1) {
    // Items with the same values show if pages of a sorted list lose some.
    const next = count % 2 === 0 ? () => 0 : run.world.random;
    if ((await run.create(item, { within: values.path, next })) === undefined) break;
  }
  if (missing > 0) list = await readList(run, target, values);
  run.exchanges.length = 0;
  if (list === undefined) return;
  await checkItems(run, target, values, list, list, 'the list');
  await checkPages(run, target, values, list);
  for (const part of parameters) {
    if (part.in !== 'query' || [limit, cursor, offset, page].includes(part)) continue;
    await checkFilter(run, target, values, part, list);
    await checkOrder(run, target, values, part, list);
  }
}

/** Checks that a list does not show a resource that its caller may not read. */
async function checkPrivacy(run: Run, target: Target, values: RequestValues, template: string) {
  run.isOther = true;
  const path = (await run.create(template))?.get(template);
  run.isOther = false;
  if (path === undefined) return;
  run.world.knowledge.ignore(template, path);
  const reading = await run.read(template, path);
  if (reading === undefined || isSuccess(reading)) return;
  const list = await readList(run, target, values);
  const id = path[idParameterOf(template)];
  if (list?.items.some((item) => isEqualScalar(id, idOfItem(run, target, item))))
    run.fail(
      'a list shows what its caller may read',
      `the list has ${id} of another caller, and GET has the status ${reading.response.status}`,
    );
}

/** The pauses before a wrong total is read again, in milliseconds. A service may count later. */
const PAUSES = [50, 200, 500];

/**
 * Checks that a list has each item once, all that it should have, and the right total.
 *
 * @param size the size of its pages, as in `readList`.
 */
async function checkItems(
  run: Run,
  target: Target,
  values: RequestValues,
  list: List,
  all: List,
  name: string,
  size?: number,
): Promise<void> {
  const ids = list.items.map((item) => idOfItem(run, target, item));
  const double = ids.find((id, index) => id !== undefined && ids.indexOf(id) !== index);
  if (double !== undefined)
    run.fail('pages contain each item once', `${name} has the item ${double} twice`);
  const { isComplete, items } = list;
  if (!isComplete) return;
  const missing = all.items.find((item) => !hasItem(run, target, list, item));
  if (missing !== undefined) {
    const message = `${name} lacks ${describe(run, target, missing)} of the list in large pages`;
    run.fail('pages contain all items of the list', message);
  }
  let { total } = list;
  for (const milliseconds of PAUSES) {
    if (typeof total !== 'number' || total === items.length) return;
    await setTimeout(milliseconds);
    total = (await readList(run, target, values, size))?.total;
  }
  const message = `${name} has ${items.length} items, not ${total}`;
  run.fail('a total is the number of all items', message);
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
  if (list !== undefined)
    await checkItems(run, target, values, list, all, `the list in pages of ${size}`, size);
}

/** Formats of values that are compared as a whole. */
const EXACT = /^(uuid|email|uri|url|ipv4|ipv6)$/;

/** The beginning or the end of the name of a parameter with a lower and an upper bound. */
const LOWER = /^(min|from|since|after)[_-]?|[_-]?(min|from|since|after|gte?)$/i;
const UPPER = /^(max|to|until|before)[_-]?|[_-]?(max|to|until|before|lte?)$/i;

/** Returns the name of the member of items that a parameter selects, and the bound that it is. */
function memberFor({ name }: RequestPart, { items }: List) {
  const names = new Set(items.flatMap((item) => Object.keys(asObject(item))));
  const find = (text: string) =>
    [...names].find((other) =>
      ['', 'at', 'on', 'date', 'time'].some(
        (end) => normalizedName(other) === normalizedName(text) + end,
      ),
    );
  const [lower, upper] = [LOWER, UPPER].map((bound) =>
    bound.test(name) ? find(name.replace(bound, '')) : undefined,
  );
  return {
    member: find(name) ?? lower ?? upper,
    isLower: lower !== undefined,
    isUpper: upper !== undefined,
  };
}

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
  const { member, isLower, isUpper } = memberFor(part, all);
  const isSearch = member === undefined && SEARCH.test(part.name);
  const name = member ?? 'text';
  const { form } = part.outline;
  if ((member ?? isSearch) === false || form === 'object' || !all.items.every(isObject)) return;
  const membersOf = (item: unknown): unknown[] =>
    isSearch ? textsIn(item) : [asObject(item)[name] ?? []].flat();
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
  let isPaged = false;
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
    const lower = isLower || (isOrdered && !isUpper && list.items.some(isAbove));
    const upper = isUpper || (isOrdered && !lower && list.items.some(isBelow));
    const isBeyond = (item: unknown) => (lower && isBelow(item)) || (upper && isAbove(item));
    const wrong = list.items.find(
      (item) => isBeyond(item) || !membersOf(item).some(lower || upper ? () => true : isRelated),
    );
    const filter = `${part.name}=${String(value)}`;
    if (wrong)
      run.fail(
        'a filter returns only items that match',
        `${describe(run, target, wrong)} has ${name} ${membersOf(wrong).join()} for ${filter}`,
      );
    // A bound may include its value or not.
    const isNeeded = (item: unknown) =>
      isLower || isUpper
        ? (isLower && isAbove(item)) || (isUpper && isBelow(item))
        : membersOf(item).some(isEqual);
    const missing = all.items.find((item) => isNeeded(item) && !hasItem(run, target, list, item));
    // A search may look at some members only.
    if (!isSearch && missing !== undefined && list.isComplete)
      run.fail(
        'a filter returns all items that match',
        `${describe(run, target, missing)} matches, but is missing for ${filter}`,
      );
    await checkItems(run, target, filtered, list, list, `the list for ${filter}`);
    if (isPaged || list.items.length < 3) continue;
    isPaged = true;
    await checkPages(run, target, filtered, list);
  }
}

/** Marks of a descending and an ascending order beside the name of a member. */
const DESCENDING = /^-|[\W_]?desc(ending)?$/i;
const ASCENDING = /^\+|[\W_]?asc(ending)?$/i;

/**
 * Checks a parameter that orders a list: it has the names of members as values. The list has the
 * same items, and the values of the member rise or fall.
 */
async function checkOrder(
  run: Run,
  target: Target,
  values: RequestValues,
  part: RequestPart,
  all: List,
): Promise<void> {
  const { parameters, isValid } = target.requests;
  const names = new Set(all.items.flatMap((item) => Object.keys(asObject(item))));
  const direction = parameters.find(
    ({ in: where, outline: { constants } }) =>
      where === 'query' &&
      constants.length === 2 &&
      constants.some((each) => DESCENDING.test(String(each))) &&
      constants.some((each) => ASCENDING.test(String(each))),
  );
  const directions = direction === part ? [] : [undefined, ...(direction?.outline.constants ?? [])];
  for (const constant of part.outline.constants) {
    const bare = String(constant).replace(DESCENDING, '').replace(ASCENDING, '');
    const name = [...names].find((other) => normalizedName(other) === normalizedName(bare));
    if (name === undefined) continue;
    for (const chosen of directions) {
      const sorted = withValue(values, part, constant);
      const sent =
        direction && chosen !== undefined ? withValue(sorted, direction, chosen) : sorted;
      if (!isValid(sent)) continue;
      run.exchanges.length = 0;
      const list = await readList(run, target, sent);
      if (list === undefined) continue;
      const order = [
        part.name,
        String(constant),
        ...(chosen === undefined ? [] : [String(chosen)]),
      ].join(' ');
      if (all.isComplete) await checkItems(run, target, sent, list, all, `the list for ${order}`);
      const ranks = list.items.flatMap((item) => [asObject(item)[name] ?? []].flat().slice(0, 1));
      const mark = String(chosen ?? constant);
      const isRight =
        (!ASCENDING.test(mark) && isSorted(ranks.toReversed())) ||
        (!DESCENDING.test(mark) && isSorted(ranks));
      if (!isRight)
        run.fail(
          'a list has the requested order',
          `the list for ${order} has ${name} ${ranks.slice(0, 9).join(', ')}`,
        );
      if (chosen === undefined) await checkPages(run, target, sent, list);
    }
  }
}

/** Returns true for rising values. Texts may be ordered by their characters or by a language. */
const isSorted = (values: readonly unknown[]): boolean =>
  COMPARISONS.some((isGreater) =>
    values.every((value, index) => index === 0 || !isGreater(values[index - 1], value)),
  );

const COMPARISONS: readonly ((one: unknown, other: unknown) => boolean)[] = [
  (one, other) => isBefore(other, one),
  (one, other) => String(one).toLowerCase() > String(other).toLowerCase(),
  (one, other) => String(one).localeCompare(String(other)) > 0,
];

function isBefore(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map(rankOf);
  return typeof first === typeof second && (first as number) < (second as number);
}

/** Returns the time of a text with a date, and the value itself otherwise. */
function rankOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return /^\d{4}-\d\d-\d\d/.test(String(value)) ? Date.parse(String(value)) : value;
}

/** The name of a parameter for a search in all members. */
const SEARCH = /^(q|query|search|text|term|keywords?)$/i;

const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(Object(value)).flatMap(textsIn);

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
