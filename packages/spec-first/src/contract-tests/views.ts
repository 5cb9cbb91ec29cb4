import { setTimeout } from 'node:timers/promises';
import {
  asObject,
  declaredFor,
  type Json,
  type Operation,
  type Outline,
  stringifyJson,
} from 'openapi-document';
import type { ReceivedResponse } from './check-response.ts';
import type { Resource } from './knowledge.ts';
import {
  collectionPathOf,
  idNameOfParameter,
  idParameterOf,
  isIdName,
  keyOf,
  normalizedName,
  pick,
  resourcePathOf,
} from './names.ts';
import { pageOf, pagingOf } from './paging.ts';
import { type RequestValues, withValue } from './parts.ts';
import { isMock } from './send.ts';
import { isGone, isSuccess, type Run, type Target, type View } from './world.ts';

const MAX_PAGES = 40;

/** All items of a list, as far as pages lead. */
export interface List {
  readonly items: readonly unknown[];
  /** The form of the items. */
  readonly outline: Outline | undefined;
  /** The response with the last page. */
  readonly response: ReceivedResponse;
  /** False if there may be more items. */
  readonly isComplete: boolean;
  readonly total: number | undefined;
}

/** The size of the pages of a list: by default the largest one. `'default'` sends no limit. */
export type PageSize = number | 'default' | undefined;

/** Returns true if the service may have limited a list to this length. */
const mayBeLimit = (length: number): boolean => length >= 10 && length % 5 === 0;

/** The pauses before a wrong total is read again, in milliseconds. A service may count later. */
export const PAUSES = [50, 200, 500];

/**
 * Reads a list with all its pages, and checks its total and its items. Returns `undefined` for a
 * mock, and for a failure, except for a list that is gone.
 *
 * @param values the values of other parameters.
 */
export async function readList(
  run: Run,
  target: Target,
  values: RequestValues,
  size?: PageSize,
): Promise<List | undefined> {
  let list = await readPages(run, target, values, size);
  const { countingLater } = run.world;
  const isRight = () =>
    countingLater.has(target.operation.id) ||
    !list?.isComplete ||
    list.total === undefined ||
    list.total === list.items.length;
  for (const milliseconds of PAUSES) {
    if (isRight()) break;
    await setTimeout(milliseconds);
    list = await readPages(run, target, values, size);
    if (isRight()) countingLater.add(target.operation.id);
  }
  if (!isRight())
    run.fail(
      'a total is the number of all items',
      `the list has ${list?.items.length} items, not ${list?.total}`,
      target.operation,
    );
  const keys = list?.items.map((item) => keyOfItem(run, target, item)) ?? [];
  const double = keys.find((key, index) => key !== undefined && keys.indexOf(key) !== index);
  if (double !== undefined)
    run.fail('a list has each item once', `it has the item ${double} twice`, target.operation);
  for (const item of list?.items ?? []) checkPlace(run, target, values, item);
  return list;
}

/** Checks that a list has no item of another parent, and none that its caller may not read. */
function checkPlace(run: Run, target: Target, { path }: RequestValues, item: unknown): void {
  const { operation } = target;
  const { knowledge } = run.world;
  const template = knowledge.itemOf(operation.path);
  const id = keyOfItem(run, target, item);
  const fail = (check: string, message: string) => run.fail(check, message, operation);
  const own = { ...path, ...(template && knowledge.idsIn(template, asObject(item))) };
  if (template !== undefined && !run.isOther && knowledge.isPrivate({ template, path: own }))
    fail('a list shows what its caller may read', `the list has ${id} of another caller`);
  const name = operation.template.names.at(-1) ?? '';
  const idName = idNameOfParameter(operation.path, name);
  const [, parent] =
    Object.entries(asObject(item)).find(([other]) => normalizedName(other) === idName) ?? [];
  // A list of the same kind of resources, such as friends, has the member as the id of its items.
  const isOwnId = id === undefined || String(id) === String(parent);
  const isElsewhere = parent !== undefined && parent !== null && !mentions(item, path[name]);
  if (isElsewhere && isIdName(name) && !isOwnId)
    fail(
      'a list has the items of its parent only',
      `the list of ${path[name]} has an item of ${stringifyJson(parent)}`,
    );
}

async function readPages(
  run: Run,
  target: Target,
  values: RequestValues,
  size: PageSize,
): Promise<List | undefined> {
  const { limit, cursor, offset, page, isById } = pagingOf(target.requests.parameters);
  const isDefault = size === 'default';
  const maximum = limit?.outline.limits('maximum')[0] ?? 100;
  const limitValue = Number((isDefault ? limit?.outline.defaults[0] : size) ?? maximum);
  const base = limit === undefined || isDefault ? values : withValue(values, limit, limitValue);
  const firstPage = Number(page?.outline.defaults[0] ?? page?.outline.limits('minimum')[0] ?? 1);
  const items: unknown[] = [];
  let list: List | undefined;
  let next: unknown;
  let linked: ReadonlySet<string> | undefined;
  let hasMore: unknown;
  let isLast = false;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    let sent = base;
    if (cursor !== undefined && next !== undefined)
      sent = withValue(linkedValues(base, linked), cursor, next);
    else if (offset !== undefined && pages > 0) sent = withValue(base, offset, items.length);
    else if (page !== undefined) sent = withValue(base, page, firstPage + pages);
    const response = await run.send(target, { values: sent });
    // A mock shows nothing of what is stored, and has the same items on each page.
    if (isMock(response)) return undefined;
    const read = pageOf(target, response);
    if (read === undefined) {
      const empty = { items: [], outline: undefined, response, isComplete: true, total: undefined };
      if (pages > 0 && cursor !== undefined)
        run.fail(
          'pages contain all items of the list',
          `the status is ${response.status} for the cursor of the next page`,
          target.operation,
        );
      if (pages === 0) return isGone({ response }) ? empty : undefined;
      // A page after the last one may be refused.
      return list && { ...list, isComplete: true };
    }
    const { outline, knowsNext } = read;
    const count = read.items.length;
    if (limit !== undefined && count > limitValue)
      run.fail(
        'a list has at most as many items as its limit',
        `the response has ${count} items for ${limit.name}=${limitValue}`,
        target.operation,
      );
    const isWrong = typeof hasMore === 'boolean' ? hasMore !== count > 0 : isLast && count > 0;
    if (pages > 0 && isWrong)
      run.fail(
        'a page says if there is another one',
        `a page says ${hasMore ?? 'that it is the last one'}, and the next one has ${count} items`,
        target.operation,
      );
    hasMore = read.hasMore;
    // A service may name a next page that is empty.
    isLast = cursor === undefined && knowsNext && (read.next ?? undefined) === undefined;
    items.push(...read.items);
    const total = read.total ?? list?.total;
    const end = (isComplete: boolean) => {
      const expected = Math.max(1, Math.ceil(items.length / limitValue));
      const isRight = read.pageCount === expected || (items.length === 0 && !read.pageCount);
      if (isComplete && limit && !isDefault && typeof read.pageCount === 'number' && !isRight)
        run.fail(
          'a number of pages is right',
          `it is ${read.pageCount} for ${items.length} items and ${limit.name}=${limitValue}`,
          target.operation,
        );
      return { items, outline, response, isComplete, total };
    };
    list = end(false);
    const isShort = limit !== undefined && count < limitValue && !mayBeLimit(count);
    next = read.next ?? (isById && !knowsNext ? idOfItem(run, target, items.at(-1)) : undefined);
    linked = read.linked;
    if (cursor !== undefined) {
      if (next === undefined) return end(knowsNext || isShort);
      if (count === 0) return end(true);
    } else if (offset ?? page) {
      if (count === 0) return end(true);
    } else return end(isShort || !(limit || mayBeLimit(count)));
  }
  return list;
}

/** Returns the values without those that the URL of the next page lacks. */
const linkedValues = (
  values: RequestValues,
  linked: ReadonlySet<string> | undefined,
): RequestValues =>
  linked === undefined
    ? values
    : {
        ...values,
        query: pick(
          [...linked].filter((name) => name in values.query),
          values.query,
        ),
      };

/** Returns the id of an item, or `undefined` if it is not certain. */
function idOfItem({ world }: Run, { operation }: Target, item: unknown): unknown {
  const { knowledge } = world;
  const template = knowledge.itemOf(operation.path) ?? '';
  const entity = asObject(item);
  return knowledge.idsIn(template, entity)?.[idParameterOf(template)] ?? entity.id;
}

/** Returns the key of an item in its list, or `undefined` if it is not certain. */
export function keyOfItem(run: Run, target: Target, item: unknown): string | undefined {
  const { knowledge } = run.world;
  const template = knowledge.itemOf(target.operation.path) ?? '';
  const id = idOfItem(run, target, item);
  return (
    keyOf(template, knowledge.idsIn(template, asObject(item)) ?? {}) ??
    (id === undefined ? undefined : String(id))
  );
}

/**
 * Reads what a GET operation shows, unless nothing was sent since it was read. Returns `undefined`
 * if it fails, needs more than the path, or has a stream, which may not end.
 */
export async function readView(
  run: Run,
  operation: Operation,
  path: Json,
): Promise<View | undefined> {
  const { views, targetOf } = run.world;
  const target = targetOf(operation);
  const [media] = declaredFor(operation, 200)?.media ?? [];
  if (target === undefined || (media && target.codecs.of(media).unit === 'items')) return undefined;
  const values = { ...target.requests.simplest(), path };
  if (Object.keys(values.query).length > 0 || !target.requests.isValid(values)) return undefined;
  const key = `${operation.id} ${run.isOther} ${stringifyJson(path)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  const isList =
    media?.outline.form === 'array' || run.world.knowledge.itemOf(operation.path) !== undefined;
  const shown = await (isList ? readItems : readResource)(run, target, values);
  // A mock shows nothing of what is stored.
  if (shown === undefined || isMock(shown.response)) return undefined;
  const view = { operation, path, isList, ...shown };
  views.set(key, view);
  return view;
}

async function readItems(run: Run, target: Target, values: RequestValues) {
  const list = await readList(run, target, values);
  const entries = list?.items.map((item): [string, unknown] => [textOf(run, target, item), item]);
  return list && { ...list, entries: new Map(entries) };
}

/** Returns the key of an item, or its text. A scalar is its own key. */
const textOf = (run: Run, target: Target, item: unknown): string =>
  keyOfItem(run, target, item) ??
  (typeof item === 'object' ? String(stringifyJson(item)) : String(item));

async function readResource(run: Run, target: Target, { path }: RequestValues) {
  const reading = await run.read(target.operation.path, path);
  if (reading === undefined || !(isSuccess(reading) || isGone(reading))) return undefined;
  const { response, body, outline } = reading;
  const shown = body ?? response.body.toString('latin1');
  const entries = new Map<string, unknown>(isGone(reading) ? [] : [['', shown]]);
  return { response, entries, outline, isComplete: true };
}

export const mentions = (value: unknown, id: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some((member) => mentions(member, id))
    : id !== undefined && String(value) === String(id);

const isSamePath = (names: readonly string[], one: Json, other: Json): boolean =>
  names.every((name) => String(one[name]) === String(other[name]));

/**
 * Returns the text of a resource's id in a view: in the list of its collection, and in the response
 * of its GET operation. `undefined` in other views.
 */
export function keyIn({ operation, path, isList }: View, resource: Resource): string | undefined {
  const { template } = resource;
  if (!isSamePath(operation.template.names, path, resource.path)) return undefined;
  if (operation.path === template) return '';
  const isCollection = isList && operation.path === collectionPathOf(template);
  return isCollection ? keyOf(template, resource.path) : undefined;
}

/** Returns true for a view of something below a resource. */
export const isBelow = ({ operation, path }: View, resource: Resource): boolean =>
  resource.template !== '' &&
  operation.path.startsWith(`${resource.template}/`) &&
  isSamePath(Object.keys(resource.path), path, resource.path);

/**
 * Reads what the service shows of a resource, and of others.
 *
 * @param isWide false to read one view of the resource itself only.
 * @param sent the body of a request, which may have the ids of others.
 */
export async function readViews(
  run: Run,
  resource: Resource,
  isWide: boolean,
  sent?: unknown,
): Promise<View[]> {
  const { knowledge } = run.world;
  const { template, path } = resource;
  const views: View[] = [];
  const add = async (operation: Operation | undefined, other: Json) => {
    const view = operation && (await readView(run, operation, other));
    if (view !== undefined) views.push(view);
  };
  const readers = knowledge.readers.toSorted(
    (one, other) => Number(other.path === template) - Number(one.path === template),
  );
  for (const operation of readers) {
    const own = resourcePathOf(operation.path);
    const { names } = operation.template;
    const isRelated = `${template}/`.startsWith(`${own}/`) || own.startsWith(`${template}/`);
    const isKnown = names.every((name) => path[name] !== undefined);
    const ownPath = isRelated && isKnown ? pick(names, path) : undefined;
    // The list is read if no operation reads the resource alone.
    const shownAt = knowledge.readerOf(template)?.path ?? collectionPathOf(template);
    if (ownPath !== undefined && (isWide || operation.path === shownAt))
      await add(operation, ownPath);
    if (!isWide || names.length === 0) continue;
    // A list with items shows if another request has removed some.
    const items = knowledge.pathsOf(knowledge.itemOf(operation.path) ?? own);
    const others = [...items, ...knowledge.pathsOf(own)]
      .map((other) => pick(names, other))
      .filter((other) => !isSamePath(names, other, path));
    const named = others.find((other) => mentions(sent, other[names.at(-1) ?? '']));
    const unnamed = others.filter((other) => !named || !isSamePath(names, other, named));
    const sibling = unnamed.find((other) => isSamePath(names.slice(0, -1), other, path));
    const stranger = unnamed.find((other) => !isSamePath(names.slice(0, 1), other, path));
    for (const other of new Set([named, sibling, stranger]))
      if (other !== undefined) await add(operation, other);
  }
  return views;
}
