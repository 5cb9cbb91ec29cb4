import {
  asObject,
  declaredFor,
  type Json,
  type Operation,
  type Outline,
  stringifyJson,
} from 'openapi-document';
import type { ReceivedResponse } from './check-response.ts';
import { idIn } from './knowledge.ts';
import { collectionPathOf, idParameterOf, resourcePathOf } from './names.ts';
import { mediaOf, pageOf, pagingOf } from './paging.ts';
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
  readonly total: unknown;
}

/** Returns true if the service may have limited a list to this length. */
const mayBeLimit = (length: number): boolean => length >= 10 && length % 5 === 0;

/**
 * Reads a list with all its pages. Returns `undefined` for a failure, except for a list that is
 * gone.
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
  const { limit, cursor, offset, page, isById } = pagingOf(target.requests.parameters);
  const limitValue = Number(size ?? limit?.outline.limits('maximum')[0] ?? 100);
  const base = limit === undefined ? values : withValue(values, limit, limitValue);
  const firstPage = Number(page?.outline.defaults[0] ?? page?.outline.limits('minimum')[0] ?? 1);
  const items: unknown[] = [];
  let list: List | undefined;
  let next: unknown;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    let sent = base;
    if (cursor !== undefined && next !== undefined) sent = withValue(base, cursor, next);
    else if (offset !== undefined && pages > 0) sent = withValue(base, offset, items.length);
    else if (page !== undefined) sent = withValue(base, page, firstPage + pages);
    const response = await run.send(target, { values: sent });
    const read = pageOf(target, response);
    if (read === undefined) {
      const empty = { items: [], outline: undefined, response, isComplete: true, total: undefined };
      return pages === 0 && isGone({ response }) ? empty : undefined;
    }
    const { outline, knowsNext } = read;
    const count = read.items.length;
    if (limit !== undefined && count > limitValue)
      run.fail(
        'a list has at most as many items as its limit',
        `the response has ${count} items for ${limit.name}=${limitValue}`,
      );
    items.push(...read.items);
    const total = list?.total ?? read.total;
    const end = (isComplete: boolean) => ({ items, outline, response, isComplete, total });
    list = end(false);
    const isShort = limit !== undefined && count < limitValue && !mayBeLimit(count);
    next = read.next ?? (isById && !knowsNext ? idOfItem(run, target, items.at(-1)) : undefined);
    if (cursor !== undefined) {
      if (next === undefined) return end(knowsNext || isShort);
      if (count === 0) return end(true);
    } else if (offset ?? page) {
      if (count === 0) return end(true);
    } else return end(isShort || !(limit || mayBeLimit(count)));
  }
  return list;
}

/** Returns the id of an item, or `undefined` if it is not certain. */
export function idOfItem({ world }: Run, { operation }: Target, item: unknown): unknown {
  const template = world.knowledge.itemOf(operation.path);
  const entity = asObject(item);
  if (template === undefined) return entity.id;
  return idIn(template, idParameterOf(template), entity) ?? entity.id;
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
  const key = `${operation.id} ${stringifyJson(path)}`;
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
  const entries = list?.items.map((item): [string, unknown] => [
    String(idOfItem(run, target, item) ?? stringifyJson(item)),
    item,
  ]);
  return list && { ...list, entries: new Map(entries) };
}

async function readResource(run: Run, target: Target, { path }: RequestValues) {
  const reading = await run.read(target.operation.path, path);
  if (reading === undefined || !(isSuccess(reading) || isGone(reading))) return undefined;
  const { response, body } = reading;
  const shown = body ?? response.body.toString('latin1');
  const entries = new Map<string, unknown>(isGone(reading) ? [] : [['', shown]]);
  return { response, entries, outline: mediaOf(target, response)?.outline, isComplete: true };
}

const pick = (names: readonly string[], path: Json): Json =>
  Object.fromEntries(names.map((name) => [name, path[name]]));

const isSamePath = (names: readonly string[], one: Json, other: Json): boolean =>
  names.every((name) => String(one[name]) === String(other[name]));

/** A resource by its template and its path parameters. */
export interface Resource {
  readonly template: string;
  readonly path: Json;
}

/**
 * Returns the text of a resource's id in a view: in the list of its collection, and in the response
 * of its GET operation. `undefined` in other views.
 */
export function keyIn({ operation, path, isList }: View, resource: Resource): string | undefined {
  const { template } = resource;
  if (!isSamePath(operation.template.names, path, resource.path)) return undefined;
  if (operation.path === template) return '';
  const id = resource.path[idParameterOf(template)];
  const isCollection = isList && operation.path === collectionPathOf(template);
  return isCollection && id !== undefined ? String(id) : undefined;
}

/** Returns true for a view of something below a resource. */
export const isBelow = ({ operation, path }: View, resource: Resource): boolean =>
  operation.path.startsWith(`${resource.template}/`) &&
  isSamePath(Object.keys(resource.path), path, resource.path);

/**
 * Reads what the service shows of a resource, and of others.
 *
 * @param isWide false to read one view of the resource itself only.
 */
export async function readViews(run: Run, resource: Resource, isWide: boolean): Promise<View[]> {
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
    const isOwn = operation.path === template || operation.path === collectionPathOf(template);
    if (ownPath !== undefined && (isOwn || isWide) && (isWide || views.length === 0))
      await add(operation, ownPath);
    if (!isWide || names.length === 0) continue;
    // A list with items shows if another request has removed some.
    const items = knowledge.pathsOf(knowledge.itemOf(operation.path) ?? own);
    const others = [...items, ...knowledge.pathsOf(own)]
      .map((other) => pick(names, other))
      .filter((other) => !isSamePath(names, other, path));
    const sibling = others.find((other) => isSamePath(names.slice(0, -1), other, path));
    const stranger = others.find((other) => !isSamePath(names.slice(0, 1), other, path));
    for (const other of new Set([sibling, stranger]))
      if (other !== undefined) await add(operation, other);
  }
  return views;
}
