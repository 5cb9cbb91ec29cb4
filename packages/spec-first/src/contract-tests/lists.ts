import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, stringifyJson } from 'openapi-document';
import { parsedBody, type ReceivedResponse } from './check-response.ts';
import { excerptOf, isEqualScalar, isTime } from './compare.ts';
import { normalizedName } from './names.ts';
import { pageOf, pagingOf } from './paging.ts';
import { type RequestPart, type RequestValues, withValue } from './parts.ts';
import { idOfItem, type List, readList } from './views.ts';
import { isSuccess, type Run, type Target } from './world.ts';

/** The number of items that a list should have, if its default limit does not need more. */
const WANTED_ITEMS = 8;

/** The number of items that are created for one list. */
const MAX_CREATED = 25;

/** The number of pages that a list is divided into. */
const PAGES = 6;

const MAX_FILTER_VALUES = 8;

/** The number of resources of another caller. Their values are those of the first items. */
const OTHERS = 2;

/** Returns the values of the required parameters. Resources in the path are new. */
const requiredValues = (run: Run, target: Target): Promise<RequestValues> =>
  run.values(target, target.requests.simplest(), { isNew: true });

/** A list whose items are compared with those of other requests. */
interface Subject {
  readonly run: Run;
  readonly target: Target;
  /** The values of the required parameters. */
  readonly values: RequestValues;
  readonly all: List;
}

/** Checks pages, totals, filters and orders of a list. @throws {CheckError} */
export async function checkList(run: Run, target: Target): Promise<void> {
  const { parameters } = target.requests;
  const values = await requiredValues(run, target);
  const { limit, cursor, offset, page } = pagingOf(parameters);
  const item = run.knowledge.itemOf(target.operation.path);
  if (item !== undefined && target.otherSecrets !== undefined) await addOthers(run, item);
  // A wrong default limit shows in a longer list only.
  const wanted = Math.max(WANTED_ITEMS, Number(limit?.outline.defaults[0] ?? 0) + 1);
  let all = await readList(run, target, values);
  const missing = Math.min(MAX_CREATED, wanted - (all?.items.length ?? wanted));
  for (let index = 0; index < missing && item !== undefined; index += 1)
    if ((await run.create(item, { within: values.path, index })) === undefined) break;
  if (missing > 0) all = await readList(run, target, values);
  run.exchanges.length = 0;
  if (all === undefined) return;
  const subject = { run, target, values, all };
  await checkPages(subject, values, all);
  const filters: Filter[] = [];
  for (const part of parameters) {
    if (part.in !== 'query' || [limit, cursor, offset, page].includes(part)) continue;
    filters.push(...(await checkFilter(subject, part)));
    await checkOrder(subject, part);
  }
  await checkCombined(subject, filters);
}

/** Adds resources of another caller. A list that shows one to this caller fails. */
async function addOthers(run: Run, template: string): Promise<void> {
  for (let index = 0; index < OTHERS; index += 1) {
    run.isOther = true;
    const path = (await run.create(template, { index }))?.get(template);
    run.isOther = false;
    if (path === undefined) return;
    const reading = await run.read(template, path);
    run.knowledge.ignore(template, path);
    if (reading !== undefined && !isSuccess(reading)) run.knowledge.hide(template, path);
  }
}

/** Checks that a list has the items of another one. */
function checkItems(subject: Subject, list: List, name: string, all: List): void {
  const { run } = subject;
  const check = 'pages contain all items of the list';
  const missing = all.items.find((item) => !hasItem(subject, list, item));
  if (list.isComplete && missing !== undefined)
    run.fail(check, `${name} lacks ${describe(subject, missing)} of the list in large pages`);
  const added = list.items.find((item) => !hasItem(subject, all, item));
  if (all.isComplete && added !== undefined)
    run.fail(check, `${name} has ${describe(subject, added)}, which the list in large pages lacks`);
}

const describe = ({ run, target }: Subject, item: unknown): string =>
  `the item ${stringifyJson(idOfItem(run, target, item)) ?? excerptOf(item)}`;

function hasItem({ run, target }: Subject, { items }: List, item: unknown): boolean {
  const id = idOfItem(run, target, item);
  return items.some((other) =>
    id === undefined
      ? isDeepStrictEqual(item, other)
      : isEqualScalar(id, idOfItem(run, target, other)),
  );
}

/** Checks that pages of several sizes have the items of a list. */
async function checkPages(subject: Subject, values: RequestValues, all: List): Promise<void> {
  const { run, target } = subject;
  const { limit } = pagingOf(target.requests.parameters);
  if (limit === undefined) return;
  const { items } = all;
  const [minimum = 1] = limit.outline.limits('minimum').map(Number);
  const [preset] = limit.outline.defaults.map(Number);
  const sizes = new Set([2, 3, items.length / PAGES, minimum].map(Math.ceil));
  const isSmaller = (size: number) => size >= Math.max(1, minimum) && size < items.length;
  const inFewPages = [...sizes].filter(
    (size) => isSmaller(size) && items.length / size <= MAX_CREATED,
  );
  for (const size of [...inFewPages, ...(preset ? ['default' as const] : [])]) {
    run.exchanges.length = 0;
    const list = await readList(run, target, values, size);
    if (list !== undefined) checkItems(subject, list, `the list in pages of ${size}`, all);
  }
}

/** A filter that was sent, and the items that it selects. */
interface Filter {
  readonly part: RequestPart;
  readonly value: unknown;
  readonly list: List;
}

/** Returns true if an item satisfies a filter, and `undefined` if it may. */
type Selection = (item: unknown, candidate: unknown) => boolean | undefined;

/** The beginning or the end of the name of a parameter with a lower and an upper bound. */
const LOWER = /^(min|from|since|after)[_-]?|[_-]?(min|from|since|after|gte?)$/i;
const UPPER = /^(max|to|until|before)[_-]?|[_-]?(max|to|until|before|lte?)$/i;

/** The name of a parameter for a search in all members. */
const SEARCH = /^(q|query|search|text|term|keywords?)$/i;

/** Names and descriptions of parameters for a part of a text. */
const PARTIAL = /^(name|title|subject)$|contain|partial|substring|search|prefix|start|begin|like/i;

/** Returns the name of the member of items that a parameter selects. */
function memberFor(name: string, { items }: List): string | undefined {
  const names = [...new Set(items.flatMap((item) => Object.keys(asObject(item))))];
  return ['', 's', 'at', 'on', 'date', 'time']
    .map((end) => names.find((other) => normalizedName(other) === normalizedName(name) + end))
    .find((other) => other !== undefined);
}

/**
 * Returns the items that a parameter selects by its name: by the value of a member, by a bound of
 * it, or by a text in any member.
 */
function selectionOf({ name, outline, source }: RequestPart, all: List) {
  const [isLower, isUpper] = [LOWER.test(name), UPPER.test(name)];
  const member = memberFor(name, all) ?? memberFor(name.replace(isLower ? LOWER : UPPER, ''), all);
  const isBound = (isLower || isUpper) && memberFor(name, all) === undefined;
  if (member === undefined && !SEARCH.test(name)) return undefined;
  const valuesIn = (item: unknown) =>
    member === undefined ? textsIn(item) : [asObject(item)[member] ?? []].flat();
  const isPartial =
    member === undefined || PARTIAL.test(name) || PARTIAL.test(String(source?.description));
  const { types, formats } = outline.form === 'array' ? outline.item(0) : outline;
  const isOrdered = types.has('integer') || types.has('number') || /date/.test(formats.join());
  const selects: Selection = (item, candidate) => {
    const values = valuesIn(item);
    if (isBound) {
      const isBeyond = values.some(
        (value) => isBefore(value, candidate) === isUpper && value !== candidate,
      );
      // A bound may include its value or not.
      return values.some((value) => isEqualScalar(value, candidate)) ? undefined : isBeyond;
    }
    if (values.some((value) => isEqualScalar(candidate, value)))
      return member === undefined ? undefined : true;
    const isRelated = (value: unknown) =>
      isPartial ? sharesWord(`${candidate}`, `${value}`) : isSameText(candidate, value);
    return values.some(isRelated) ? undefined : false;
  };
  return { member: member ?? 'text', valuesIn, selects, isOrdered: isOrdered && !isBound };
}

/** Checks that a filter returns all items that match, and only these. Returns one that does. */
async function checkFilter(subject: Subject, part: RequestPart): Promise<Filter[]> {
  const { run, target, values, all } = subject;
  const { form, constants } = part.outline;
  const selection = selectionOf(part, all);
  if (selection === undefined || form === 'object' || !all.items.every(isObject)) return [];
  const { member, valuesIn, selects, isOrdered } = selection;
  const present = [...new Set(all.items.flatMap(valuesIn))].filter((value) => value !== '');
  const [text] = present.filter((value) => typeof value === 'string');
  const candidates = [
    // The shortest values may be parts of others.
    ...present
      .toSorted((one, other) => `${one}`.length - `${other}`.length)
      .slice(0, MAX_FILTER_VALUES),
    ...present.filter(isTime).slice(0, 2).map(inOtherZone),
    ...constants,
    // No item has this text, though one has its beginning.
    ...(text === undefined ? [] : [`${text.slice(0, 1)}qxqzq`]),
  ];
  let best: Filter | undefined;
  const lists: Filter[] = [];
  for (const candidate of new Set(candidates)) {
    const value = form === 'array' ? [candidate] : candidate;
    const filtered = withValue(values, part, value);
    if (typeof candidate === 'object' || !target.requests.isValid(filtered)) continue;
    run.exchanges.length = 0;
    const list = await readList(run, target, filtered);
    if (list === undefined) return [];
    const filter = `${part.name}=${value}`;
    // A number or a date may be a bound without a name that says so.
    const mayBeBound = isOrdered && list.items.some((item) => selects(item, candidate) === false);
    const wrong = list.items.find((item) => selects(item, candidate) === false);
    if (wrong !== undefined && !(mayBeBound && isBoundOf(list, valuesIn, candidate)))
      run.fail(
        'a filter returns only items that match',
        `${describe(subject, wrong)} has ${member} ${valuesIn(wrong).join()} for ${filter}`,
      );
    const missing = all.items.find(
      (item) => selects(item, candidate) && !mayBeBound && !hasItem(subject, list, item),
    );
    if (missing !== undefined && list.isComplete)
      run.fail(
        'a filter returns all items that match',
        `${describe(subject, missing)} matches, but is missing for ${filter}`,
      );
    lists.push({ part, value, list });
    if (list.items.length > (best?.list.items.length ?? 0)) best = { part, value, list };
  }
  if (form === 'array') await checkUnion(subject, lists);
  if (best === undefined) return [];
  await checkPages(subject, withValue(values, part, best.value), best.list);
  return [best];
}

/** Checks that a filter with two values returns the items of one of them, or of both. */
async function checkUnion(subject: Subject, filters: readonly Filter[]): Promise<void> {
  const { run, target, values } = subject;
  const [first, second] = filters.filter(({ list }) => list.isComplete && list.items.length > 0);
  if (first === undefined || second === undefined) return;
  const both = [first, second].flatMap(({ value }) => value);
  const sent = withValue(values, first.part, both);
  if (!target.requests.isValid(sent)) return;
  run.exchanges.length = 0;
  const list = await readList(run, target, sent);
  if (list === undefined) return;
  const has =
    ({ list: other }: Filter) =>
    (item: unknown) =>
      hasItem(subject, other, item);
  const isAny = [...first.list.items, ...second.list.items].every(has({ ...first, list }));
  const isAll = list.items.every((item) => has(first)(item) && has(second)(item));
  if (!isAny && !isAll)
    run.fail(
      'a filter returns all items that match',
      `the list for ${first.part.name}=${both.join()} is that of neither any nor all of the values`,
    );
}

/** Returns the same time with another offset. */
const inOtherZone = (time: string): string =>
  new Date(Date.parse(time) + 5 * 3_600_000).toISOString().replace('Z', '+05:00');

/** Returns true if all items of a list are at one side of a value. */
const isBoundOf = (
  { items }: List,
  valuesIn: (item: unknown) => readonly unknown[],
  bound: unknown,
): boolean => {
  const values = items.flatMap(valuesIn);
  return (
    values.every((value) => !isBefore(value, bound)) ||
    values.every((value) => !isBefore(bound, value))
  );
};

/** Checks that two filters together return the items that both return. */
async function checkCombined(subject: Subject, filters: readonly Filter[]): Promise<void> {
  const { run, target, values } = subject;
  for (const [index, second] of filters.entries()) {
    const first = filters[index - 1];
    if (first === undefined) continue;
    const sent = withValue(withValue(values, first.part, first.value), second.part, second.value);
    if (!target.requests.isValid(sent)) continue;
    run.exchanges.length = 0;
    const list = await readList(run, target, sent);
    if (!list?.isComplete || !first.list.isComplete || !second.list.isComplete) continue;
    const names = `${first.part.name} and ${second.part.name}`;
    for (const item of [...first.list.items, ...list.items]) {
      const isExpected = hasItem(subject, first.list, item) && hasItem(subject, second.list, item);
      if (isExpected !== hasItem(subject, list, item))
        run.fail(
          isExpected
            ? 'a filter returns all items that match'
            : 'a filter returns only items that match',
          `the list for ${names} ${isExpected ? 'lacks' : 'has'} ${describe(subject, item)}`,
        );
    }
  }
}

/** Marks of a descending and an ascending order beside the name of a member. */
const DESCENDING = /^-|[\W_]?desc(ending)?$/i;
const ASCENDING = /^\+|[\W_]?asc(ending)?$/i;

/**
 * Checks a parameter that orders a list: it has the names of members as values. The list has the
 * same items, and the values of the member rise or fall.
 */
async function checkOrder(subject: Subject, part: RequestPart): Promise<void> {
  const { run, target, values, all } = subject;
  const { parameters, isValid } = target.requests;
  const direction = parameters.find(
    ({ in: where, outline: { constants } }) =>
      where === 'query' &&
      constants.length === 2 &&
      constants.some((each) => DESCENDING.test(`${each}`)) &&
      constants.some((each) => ASCENDING.test(`${each}`)),
  );
  const directions = direction === part ? [] : [undefined, ...(direction?.outline.constants ?? [])];
  for (const constant of part.outline.constants) {
    const name = memberFor(`${constant}`.replace(DESCENDING, '').replace(ASCENDING, ''), all);
    if (name === undefined) continue;
    for (const chosen of directions) {
      const sorted = withValue(values, part, constant);
      const sent =
        direction && chosen !== undefined ? withValue(sorted, direction, chosen) : sorted;
      if (!isValid(sent)) continue;
      run.exchanges.length = 0;
      const list = await readList(run, target, sent);
      if (list === undefined) continue;
      const order = [part.name, constant, chosen ?? []].flat().join(' ');
      if (all.isComplete) checkItems(subject, list, `the list for ${order}`, all);
      const ranks = list.items.flatMap((item) => [asObject(item)[name] ?? []].flat().slice(0, 1));
      const mark = `${chosen ?? constant}`;
      const isRight =
        (!ASCENDING.test(mark) && isSorted(ranks.toReversed())) ||
        (!DESCENDING.test(mark) && isSorted(ranks));
      if (!isRight)
        run.fail(
          'a list has the requested order',
          `the list for ${order} has ${name} ${ranks.slice(0, 9).join(', ')}`,
        );
      if (chosen === undefined) await checkPages(subject, sent, list);
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
  (one, other) => isBefore(lowered(other), lowered(one)),
  (one, other) =>
    typeof one === 'string' ? one.localeCompare(`${other}`) > 0 : isBefore(other, one),
];

const lowered = (value: unknown): unknown =>
  typeof value === 'string' ? value.toLowerCase() : value;

const isSameText = (one: unknown, other: unknown): boolean => lowered(one) === lowered(other);

function isBefore(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map(rankOf);
  return typeof first === typeof second && (first as number) < (second as number);
}

/** Returns the time of a text with a date, and the value itself otherwise. */
function rankOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return /^\d{4}-\d\d-\d\d/.test(`${value}`) ? Date.parse(`${value}`) : value;
}

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
