import { isDeepStrictEqual } from 'node:util';
import { asObject, type Json, mapMembers, type Outline, stringifyJson } from 'openapi-document';
import { isPrivate } from './callers.ts';
import { parsedBody, type ReceivedResponse } from './check-response.ts';
import { isEqualScalar, isTime } from './compare.ts';
import { isIdName } from './names.ts';
import { pageOf, pagingOf, plainName } from './paging.ts';
import { type RequestPart, type RequestValues, withValue } from './parts.ts';
import { keyOfItem, type List, type PageSize, readList } from './views.ts';
import type { Run, Target } from './world.ts';

/** The number of items that a list should have, if its default limit does not need more. */
const WANTED_ITEMS = 8;

/** The number of items that are created for one list. */
const MAX_CREATED = 25;

/** The number of items that are created for a long list, since their values are at bounds. */
const MIN_CREATED = 4;

/** The number of items that are changed before the list is filtered. */
const MAX_CHANGED = 3;

/** The number of pages that a list is divided into. */
const PAGES = 6;

const MAX_FILTER_VALUES = 8;

const MILLISECONDS_OF_A_DAY = 86_400_000;

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
  /** Items as they were before some of them have changed. */
  readonly former: readonly unknown[];
}

/** Checks pages, totals, filters and orders of a list. @throws {CheckError} */
export async function checkList(run: Run, target: Target): Promise<void> {
  const { parameters } = target.requests;
  const values = await requiredValues(run, target);
  const paging = pagingOf(parameters);
  const item = run.knowledge.itemOf(target.operation.path);
  if (item !== undefined && target.otherSecrets !== undefined) await addOthers(run, item);
  // A wrong default limit shows in a longer list only.
  const wanted = Math.max(WANTED_ITEMS, Number(paging.limit?.outline.defaults[0] ?? 0) + 1);
  const { items = undefined } = (await readList(run, target, values)) ?? {};
  const missing =
    items === undefined ? 0 : Math.min(MAX_CREATED, Math.max(MIN_CREATED, wanted - items.length));
  for (let index = 0; index < missing && item !== undefined; index += 1)
    if ((await run.create(item, { within: values.path, index })) === undefined) break;
  const { items: former = [] } = (await readList(run, target, values)) ?? {};
  if (item !== undefined) await changeItems(run, item);
  let all = await readList(run, target, values);
  // A list that grows was not limited to its length.
  if (all?.isComplete === false && item !== undefined) {
    await run.create(item, { within: values.path });
    all = await readList(run, target, values);
  }
  run.exchanges.length = 0;
  if (all === undefined) return;
  const subject = { run, target, values, all, former };
  await checkPages(subject, values, all);
  let first: Filter | undefined;
  for (const part of parameters) {
    if (part.in !== 'query' || Object.values(paging).includes(part)) continue;
    const filters = await checkFilter(subject, part);
    await checkOrder(subject, part);
    const former = first;
    [first = former] = filters;
    if (former === undefined) continue;
    // Two filters that select different items show if the service ignores one of them.
    const isNarrower = ({ list }: Filter, { items: both }: Items) =>
      both.length < Math.min(former.list.items.length, list.items.length);
    const second =
      filters.find((each) => isNarrower(each, intersection(subject, former, each))) ?? filters[0];
    if (second === undefined) continue;
    const sent = withValue(withValue(values, former.part, former.value), second.part, second.value);
    await expectList(subject, sent, [intersection(subject, former, second)]);
  }
}

/** Changes some items, also by actions. A filter that still has their former values fails. */
async function changeItems(run: Run, template: string): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const writers = knowledge.operations.filter(
    ({ method, path }) =>
      (/^(put|patch)$/.test(method) && path === template) ||
      (method === 'post' &&
        path.startsWith(`${template}/`) &&
        knowledge.itemOf(path) === undefined),
  );
  for (const target of writers.flatMap((operation) => targetOf(operation) ?? []))
    for (const within of knowledge.pathsOf(template).slice(0, MAX_CHANGED)) {
      const values = await run.values(target, target.requests.choose(random), { within });
      await run.sendAndLearn(target, { values });
    }
}

/** Adds resources of another caller. A list that shows one to this caller fails. */
async function addOthers(run: Run, template: string): Promise<void> {
  for (let index = 0; index < OTHERS; index += 1) {
    const path = (await run.asOther(() => run.create(template, { index })))?.path;
    if (path === undefined) return;
    const isHidden = await run.asOther(() => isPrivate(run, { template, path }));
    run.knowledge.ignore(template, path, isHidden === true);
  }
}

type Items = Pick<List, 'items'>;

/** Returns the id of an item, or its text. */
const keyOf = ({ run, target }: Subject, item: unknown): string =>
  keyOfItem(run, target, item) ?? String(stringifyJson(item));

const keysOf = (subject: Subject, { items }: Items): Set<string> =>
  new Set(items.map((item) => keyOf(subject, item)));

const isIn = (subject: Subject, list: Items, item: unknown): boolean =>
  keysOf(subject, list).has(keyOf(subject, item));

/**
 * Reads the list for other parameters. Checks that it has the items of one of the expected lists.
 * Returns `undefined` for a failure, and for a list that may have more items.
 */
async function expectList(
  subject: Subject,
  sent: RequestValues,
  expected: readonly Items[],
  size?: PageSize,
): Promise<List | undefined> {
  const { run, target, all } = subject;
  if (!target.requests.isValid(sent)) return undefined;
  run.exchanges.length = 0;
  const list = await readList(run, target, sent, size);
  if (!list?.isComplete || !all.isComplete) return undefined;
  const keys = keysOf(subject, list);
  const differences = expected.map((other) => [
    ...keysOf(subject, other).symmetricDifference(keys),
  ]);
  const [[key] = []] = differences;
  if (key !== undefined && differences.every(({ length }) => length > 0)) {
    const pages = size === undefined ? '' : ` in pages of ${size}`;
    const verb = keys.has(key) ? 'has' : 'lacks';
    const name = describeQuery(subject, sent);
    run.fail(
      'parameters select the items of a list',
      `the list${name}${pages} ${verb} the item ${key}, unlike the other lists`,
    );
  }
  return list;
}

/** Describes the query parameters that are not those of the whole list. */
function describeQuery({ values }: Subject, { query }: RequestValues): string {
  const added = Object.entries(query).filter(([name, value]) => values.query[name] !== value);
  return added.length > 0
    ? ` for ${added.map(([name, value]) => `${name}=${value}`).join('&')}`
    : '';
}

/** Checks that pages of several sizes have the items of a list. */
async function checkPages(
  subject: Subject,
  values: RequestValues,
  list: List,
  check: (list: List) => void = () => {},
): Promise<void> {
  const { limit } = pagingOf(subject.target.requests.parameters);
  if (limit === undefined) return;
  const { length } = list.items;
  const [minimum = 1] = limit.outline.limits('minimum').map(Number);
  const sizes = new Set([2, 3, length / PAGES, minimum].map(Math.ceil));
  const isSmaller = (size: number) => size >= Math.max(1, minimum) && size < length;
  const inFewPages = [...sizes].filter((size) => isSmaller(size) && length / size <= MAX_CREATED);
  for (const size of [
    ...inFewPages,
    ...(limit.outline.defaults.length > 0 ? ['default' as const] : []),
  ]) {
    const inPages = await expectList(subject, values, [list], size);
    if (inPages !== undefined) check(inPages);
  }
}

/** A filter that was sent, and the items that it selects. */
interface Filter {
  readonly part: RequestPart;
  readonly value: unknown;
  readonly list: List;
}

const intersection = (subject: Subject, first: Filter, second: Filter): Items => ({
  items: first.list.items.filter((item) => isIn(subject, second.list, item)),
});

/** Returns true if a filter by a value selects another value, and `undefined` if it may. */
type Relation = (value: unknown, filter: unknown) => boolean | undefined;

const isEqual: Relation = (value, filter) =>
  isEqualScalar(value, filter) || (isSameText(value, filter) ? undefined : false);

/**
 * Returns true for a value at a bound, which a service may select or not. A day may begin in any
 * time zone, and its bound may mean its beginning or its end.
 */
const isAtBound = (value: unknown, filter: unknown): boolean => {
  const isDay = isTime(value) && !isTime(filter);
  const distance = Math.abs(Number(rankOf(value)) - Number(rankOf(filter)));
  return isEqualScalar(value, filter) || (isDay && distance <= 2 * MILLISECONDS_OF_A_DAY);
};

const isAtLeast: Relation = (value, filter) =>
  isAtBound(value, filter) ? undefined : isBefore(filter, value);

const isAtMost: Relation = (value, filter) =>
  isAtBound(value, filter) ? undefined : isBefore(value, filter);

/** A search in a text. */
const isLike: Relation = (value, filter) =>
  isEqualScalar(value, filter) || (sharesWord(`${filter}`, `${value}`) ? undefined : false);

/** Words in the name of a parameter that is a bound, such as `minPrice` or `created_before`. */
const BOUNDS = new Map<string, Relation>([
  ...['min', 'from', 'since', 'after', 'gt', 'gte'].map((word) => [word, isAtLeast] as const),
  ...['max', 'to', 'until', 'before', 'lt', 'lte'].map((word) => [word, isAtMost] as const),
]);

/** A member of items that a parameter may select by, and how it may select. */
interface Selector {
  readonly name: string;
  /** True for a parameter that is a bound. It may select items without the member. */
  readonly isBound: boolean;
  readonly relations: readonly Relation[];
}

/**
 * Lists the members that a parameter may select by. Responses show which one it is. A bound such as
 * `dueBefore` may be one of a member with these words, such as `dueAt`, and `from` one of any time.
 */
function selectorsFor({ name, outline }: RequestPart, { items }: List): Selector[] {
  const isTimed = itemFormOf(outline).formats.some((format) => format.startsWith('date'));
  const exact = memberNamed(name, { items });
  if (exact !== undefined) {
    const [value] = items.flatMap((item) => valuesIn(item, exact));
    const { constants, formats } = itemFormOf(outline);
    const isText = typeof value === 'string' && constants.length + formats.length === 0;
    const bounds = isRank(value) ? [isAtLeast, isAtMost] : [];
    const relations = [isEqual, ...bounds, ...(isText ? [isLike] : [])];
    return [{ name: exact, isBound: false, relations: isIdName(name) ? [isEqual] : relations }];
  }
  const words = wordsOf(name);
  const relations = words.flatMap((word) => BOUNDS.get(word) ?? []);
  const others = words.filter((word) => !BOUNDS.has(word));
  if (relations.length === 0 || (others.length === 0 && !isTimed)) return [];
  return memberNames(items)
    .filter((other) => others.every((word) => wordsOf(other).includes(word)))
    .filter((other) =>
      items
        .flatMap((item) => valuesIn(item, other))
        .every((value) => isRank(value) && (typeof value === 'string') === isTimed),
    )
    .map((other) => ({ name: other, isBound: true, relations }));
}

/** Returns the members of an item, and those of its `attributes` (JSON:API 1.1 §5.2). */
const fieldsOf = (item: unknown): Json => ({
  ...asObject(item),
  ...asObject(asObject(item).attributes),
});

const memberNames = (items: readonly unknown[]): string[] => [
  ...new Set(items.flatMap((item) => Object.keys(fieldsOf(item)))),
];

/** Returns the name of the member of items with the words of a name. */
const memberNamed = (name: string, { items }: Items): string | undefined =>
  memberNames(items).find((other) => wordsOf(other).join('') === wordsOf(name).join(''));

/** Returns the form of the values of a parameter, or of the items of its values. */
const itemFormOf = (outline: Outline): Outline =>
  outline.form === 'array' ? outline.item(0) : outline;

/** Lists the words of a name, in lower case and the singular: `due`, `at` of `dueAt`. */
const wordsOf = (name: string): string[] =>
  plainName(name)
    .replace(/^filter_/, '')
    .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=..)s$/, ''));

/**
 * Checks that a filter by a member returns all items that match, and only these, and that a time
 * selects the same items in each time zone. Returns the filters that select items.
 */
async function checkFilter(subject: Subject, part: RequestPart): Promise<Filter[]> {
  const { run, target, values, all } = subject;
  const isList = part.outline.form === 'array';
  const { constants, formats, types } = itemFormOf(part.outline);
  const selectors = selectorsFor(part, all);
  if (selectors.length === 0 && !formats.includes('date-time')) return [];
  const valuesOf = (item: unknown) =>
    selectors.length === 0
      ? Object.values(asObject(item)).filter(isTime)
      : selectors.flatMap(({ name }) => valuesIn(item, name));
  const distinct = (items: readonly unknown[]) =>
    [...new Set(items.flatMap(valuesOf))]
      .filter((value) => value !== '' && typeof value !== 'object')
      .map((value) => (formats.includes('date') ? `${value}`.slice(0, 10) : value));
  const present = distinct(all.items)
    // The shortest values may be parts of others, and the longest number is at a bound.
    .toSorted((one, other) => `${one}`.length - `${other}`.length)
    .filter((_, index, { length }) => index < MAX_FILTER_VALUES || index === length - 1);
  const replaced = distinct(subject.former).filter((value) => !distinct(all.items).includes(value));
  const [text] = present.filter((value) => typeof value === 'string');
  // No item has this text, though one has its beginning.
  const beginning = text?.slice(0, 1);
  const unknown =
    text === undefined ? [] : [`${beginning}qxqzq`, ...(isIdName(part.name) ? [beginning] : [])];
  const others = types.has('boolean') ? [true, false] : constants;
  const filters: Filter[] = [];
  for (const each of new Set([
    ...present,
    ...replaced.slice(0, MAX_CHANGED),
    ...others,
    ...unknown,
  ])) {
    const withFilter = (filter: unknown) => withValue(values, part, isList ? [filter] : filter);
    const sent = withFilter(each);
    if (!target.requests.isValid(sent)) continue;
    const list = await readList(run, target, sent);
    if (!list?.isComplete || !all.isComplete) continue;
    filters.push({ part, value: isList ? [each] : each, list });
    if (isTime(each)) await expectList(subject, withFilter(inOtherZone(each)), [list]);
  }
  const misfits = selectors.flatMap((selector) =>
    selector.relations.map((relation) => ({
      ...selector,
      misfit: misfitOf(subject, filters, selector, relation),
    })),
  );
  const [{ name = '', misfit } = {}] = misfits;
  if (misfit !== undefined && misfits.every((each) => each.misfit !== undefined)) {
    const { filter, item } = misfit;
    const verb = isIn(subject, filter.list, item) ? 'has' : 'lacks';
    run.fail(
      'parameters select the items of a list',
      `the list for ${part.name}=${filter.value} ${verb} the item ${keyOf(subject, item)} ` +
        `with the ${name} ${stringifyJson(fieldsOf(item)[name])}`,
      target.operation,
      filter.list.response,
    );
  }
  const selecting = filters
    .filter(({ list }) => list.items.length > 0)
    .toSorted((one, other) => other.list.items.length - one.list.items.length);
  const [first, second] = selecting;
  if (first === undefined) return [];
  await checkPages(subject, withValue(values, part, first.value), first.list);
  if (isList && second !== undefined) {
    const both = withValue(values, part, [first.value, second.value].flat());
    const any = { items: [...first.list.items, ...second.list.items] };
    await expectList(subject, both, [any, intersection(subject, first, second)]);
  }
  return selecting;
}

/** Finds an item that a filter selects against a relation, or does not select. */
function misfitOf(
  subject: Subject,
  filters: readonly Filter[],
  { name, isBound }: Selector,
  relation: Relation,
): { readonly filter: Filter; readonly item: unknown } | undefined {
  return filters
    .flatMap((filter) => subject.all.items.map((item) => ({ filter, item })))
    .find(({ filter: { value, list }, item }) => {
      const related = valuesIn(item, name).map((each) => relation(each, [value].flat()[0]));
      if (related.length === 0 && isBound) return false;
      const isSelected = related.includes(true) || (related.includes(undefined) && undefined);
      return isSelected !== undefined && isSelected !== isIn(subject, list, item);
    });
}

/** Lists the value of a member, or its items. */
const valuesIn = (item: unknown, name: string): unknown[] => [fieldsOf(item)[name] ?? []].flat();

/** Returns the same time with another offset. */
const inOtherZone = (time: string): string =>
  new Date(Date.parse(time) + 5 * 3_600_000).toISOString().replace('Z', '+05:00');

/** Directions of an order, beside the name of a member or in a parameter of their own. */
const DIRECTION = /^[-+]|[\W_]?(asc|desc)(ending)?$/i;
const DESCENDING = /^-|desc(ending)?$/i;

/**
 * Checks a parameter that orders a list: it has the names of members as values. The list has the
 * same items, the values of the member rise or fall, and two directions differ.
 */
async function checkOrder(subject: Subject, part: RequestPart): Promise<void> {
  const { run, target, values, all } = subject;
  const direction = target.requests.parameters.find(
    ({ in: where, outline: { constants } }) =>
      where === 'query' &&
      constants.length === 2 &&
      constants.every((each) => DIRECTION.test(`${each}`)),
  );
  if (direction === part) return;
  /** The signs of the orders that were seen, by the member and the direction. */
  const signs = new Map<string, number>();
  for (const constant of part.outline.constants) {
    const name = memberNamed(`${constant}`.replace(DIRECTION, ''), all);
    if (name === undefined) continue;
    for (const chosen of [undefined, ...(direction?.outline.constants ?? [])]) {
      const sorted = withValue(values, part, constant);
      const sent =
        direction && chosen !== undefined ? withValue(sorted, direction, chosen) : sorted;
      const list = await expectList(subject, sent, [all]);
      if (list === undefined) continue;
      const isDescending = DESCENDING.test(`${chosen ?? constant}`);
      const failIfUnsorted = ({ items }: List) => {
        const ranks = items.flatMap((item) => valuesIn(item, name).slice(0, 1));
        const [rises, falls] = [isSorted(ranks), isSorted(ranks.toReversed())];
        const sign = Number(rises) - Number(falls);
        const opposite = signs.get(`${name} ${!isDescending}`);
        const isRight = (rises || falls) && (sign === 0 || opposite !== sign);
        if (!isRight)
          run.fail(
            'a list has the requested order',
            `the list${describeQuery(subject, sent)} has ${name} ${ranks.slice(0, 9).join(', ')}`,
          );
        signs.set(`${name} ${isDescending}`, sign);
      };
      failIfUnsorted(list);
      if (chosen === undefined) await checkPages(subject, sent, list, failIfUnsorted);
    }
  }
}

/** Returns true for rising values. Texts may be ordered by their characters or by a language. */
const isSorted = (values: readonly unknown[]): boolean =>
  COMPARISONS.some((isGreater) =>
    values.every((value, index) => index === 0 || !isGreater(values[index - 1], value)),
  );

const isAfterIn = (collator: Intl.Collator) => (one: unknown, other: unknown) =>
  typeof one === 'string' ? collator.compare(one, `${other}`) > 0 : isBefore(other, one);

const COMPARISONS: readonly ((one: unknown, other: unknown) => boolean)[] = [
  (one, other) => isBefore(other, one),
  (one, other) => isBefore(lowered(other), lowered(one)),
  isAfterIn(new Intl.Collator()),
  // `a9` before `a10`.
  isAfterIn(new Intl.Collator(undefined, { numeric: true })),
];

const lowered = (value: unknown): unknown =>
  typeof value === 'string' ? value.toLowerCase() : value;

const isSameText = (one: unknown, other: unknown): boolean => lowered(one) === lowered(other);

function isBefore(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map(rankOf);
  return typeof first === typeof second && (first as number) < (second as number);
}

const isRank = (value: unknown): boolean => typeof rankOf(value) === 'number';

/** Returns the time of a text with a date, and the value itself otherwise. */
function rankOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return /^\d{4}-\d\d-\d\d/.test(`${value}`) ? Date.parse(`${value}`) : value;
}

/** True if a text contains the other one or one of its words. */
function sharesWord(one: string, other: string): boolean {
  const [text, part] = [one.toLowerCase(), other.toLowerCase()];
  return (
    text.includes(part) || text.split(/\W+/).some((word) => word !== '' && part.includes(word))
  );
}

/** Returns a body whose links to the URL of its request have no query. */
function withoutQueries(body: unknown, { url }: ReceivedResponse): unknown {
  const { pathname } = new URL(url);
  const shorten = (value: unknown): unknown =>
    typeof value === 'string' && value.includes(pathname)
      ? value.replace(/\?.*/, '')
      : mapMembers(value, shorten);
  return shorten(body);
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
    response.status < 300
      ? withoutQueries(pageOf(target, response)?.items ?? parsedBody(response), response)
      : undefined;
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
