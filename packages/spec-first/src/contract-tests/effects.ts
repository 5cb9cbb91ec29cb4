import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  declaredFor,
  isObject,
  type Json,
  type Outline,
  pathTemplate,
  stringifyJson,
} from 'openapi-document';
import type { ReceivedResponse } from './check-response.ts';
import { changedWith, differenceIn, isEqualScalar } from './compare.ts';
import type { Paths } from './knowledge.ts';
import { idOfItem, type List, readList, requiredValues } from './lists.ts';
import { collectionPathOf, idParameterOf, resourcePathOf } from './names.ts';
import { isValid, type RequestValues, valuesByName } from './parts.ts';
import {
  hasIfMatch,
  isGone,
  isSuccess,
  parentsOf,
  type Reading,
  type Run,
  type Target,
} from './world.ts';

/** A resource before a request. */
interface Watched {
  readonly template: string;
  readonly path: Json;
  readonly reading: Reading;
}

/** The resources and lists before a request that may change them. */
export interface Before {
  /** The resource of the request, unless the request creates it. */
  readonly own: Watched | undefined;
  /** Another resource of the same collection. */
  readonly neighbour: Watched | undefined;
  /** The list of the collection. */
  readonly list: List | undefined;
}

export const NOTHING_READ: Before = { own: undefined, neighbour: undefined, list: undefined };

export const isWriting = ({ operation: { method } }: Target): boolean =>
  !/^(get|head|options|trace|query)$/.test(method);

/** Returns the template of the resource that an operation creates, changes or deletes. */
function templateOf({ world: { knowledge } }: Run, { operation }: Target): string | undefined {
  const { path, method } = operation;
  if (method === 'post') {
    const item = knowledge.itemOf(path);
    if (item !== undefined) return item;
  }
  // A singleton, such as `/profile`, has no id.
  if (knowledge.readerOf(path) !== undefined && method !== 'post') return path;
  return resourcePathOf(path) || undefined;
}

/** Reads what a request may change. */
export async function readBefore(run: Run, target: Target, values: RequestValues): Promise<Before> {
  const { knowledge } = run.world;
  const template = templateOf(run, target);
  if (template === undefined) return NOTHING_READ;
  const path = valuesByName(values, 'path');
  const { names } = pathTemplate(template);
  const isOther = (other: Json) => names.some((name) => other[name] !== path[name]);
  const parents = Object.entries(parentsOf(template, path));
  const isSibling = (other: Json) =>
    isOther(other) && parents.every(([name, id]) => other[name] === id);
  let sibling = knowledge.pathsOf(template).find(isSibling);
  if (sibling === undefined && names.length > 0) {
    await run.create(template);
    sibling = knowledge.pathsOf(template).find(isOther);
  }
  const neighbour = sibling && (await watch(run, template, sibling));
  const isCreated = names.some((name) => path[name] === undefined);
  const own = isCreated ? undefined : await watch(run, template, path);
  const list =
    target.operation.method === 'delete' ? await readCollection(run, template, path) : undefined;
  return { own, neighbour, list };
}

async function watch(run: Run, template: string, path: Json): Promise<Watched | undefined> {
  const reading = await run.read(template, path);
  return reading && isSuccess(reading) ? { template, path, reading } : undefined;
}

/** Reads the list of the collection of a resource. */
async function readCollection(run: Run, template: string, path: Json): Promise<List | undefined> {
  const { knowledge, targetOf } = run.world;
  const operation = knowledge.readerOf(collectionPathOf(template));
  const lister = operation && targetOf(operation);
  if (lister === undefined) return undefined;
  const values = [...(await requiredValues(run, lister))].map(
    ([part, value]) => [part, part.in === 'path' ? (path[part.name] ?? value) : value] as const,
  );
  return values.some(([{ in: where }]) => where === 'query')
    ? undefined
    : readList(run, lister, new Map(values));
}

/** Checks the effects of a successful request. @throws {CheckError} */
export async function checkEffects(
  run: Run,
  target: Target,
  values: RequestValues,
  before: Before,
  response: ReceivedResponse,
  paths: Paths,
): Promise<void> {
  const { method } = target.operation;
  const template = templateOf(run, target);
  const sent = valuesByName(values, 'body')[''];
  const isChange = /^(post|put|patch)$/.test(method);
  const difference = isChange ? differenceIn(target, sent, response) : undefined;
  if (difference !== undefined) run.fail('a change is stored', `${difference} in the response`);
  // The service may still be working on an accepted request.
  if (template === undefined || response.status === 202) return;
  const path = paths.get(template) ?? before.own?.path;
  if (method === 'delete') {
    await checkDeletion(run, target, values, before);
    await checkNeighbour(run, before, before.own?.path, {});
    return;
  }
  const pathOfOwn = path ?? (pathTemplate(template).names.length === 0 ? {} : undefined);
  const after = pathOfOwn && (await run.read(template, pathOfOwn));
  let changed: Json = {};
  const isOwn = target.operation.path === template || before.own === undefined;
  if (after !== undefined && isChange && isOwn) {
    checkStored(run, target, sent, after, before);
    changed = asObject(sent);
    if (method === 'post' && pathOfOwn !== undefined)
      await checkListed(run, target, template, pathOfOwn, after);
  } else if (after !== undefined && before.own !== undefined) {
    changed = changedTexts(before.own.reading, after);
  }
  if (after !== undefined && before.own !== undefined)
    checkTag(run, before.own.reading, after, changed);
  await checkNeighbour(run, before, pathOfOwn, changed);
}

/** Returns the texts that a request without a body of its own has changed. */
const changedTexts = ({ body }: Reading, after: Reading): Json =>
  Object.fromEntries(
    Object.entries(asObject(after.body)).filter(
      ([name, value]) =>
        typeof value === 'string' &&
        value !== asObject(body)[name] &&
        outlineOf(after).member(name).formats.length === 0,
    ),
  );

function outlineOf({ target: { operation, schemas }, response }: Reading): Outline {
  return declaredFor(operation, response.status)?.media[0]?.outline ?? schemas.outline(true);
}

function checkStored(
  run: Run,
  { operation, requests }: Target,
  sent: unknown,
  after: Reading,
  before: Before,
): void {
  const { target: reader, response } = after;
  const { path } = reader.operation;
  if (isGone(after)) {
    const { pathname } = new URL(response.url);
    run.fail(
      'a change is stored',
      `GET ${pathname} has the status ${response.status} for a stored resource`,
    );
  }
  const difference = differenceIn(reader, sent, response);
  if (difference !== undefined) run.fail('a change is stored', `${difference} in GET ${path}`);
  if (operation.method === 'patch' && before.own !== undefined && isObject(sent)) {
    const isMerge = requests.bodies.some(({ media }) => /merge-patch/.test(media?.type ?? ''));
    const expected = unchangedMembers(
      requests.bodies[0]?.outline,
      before.own.reading.body,
      sent,
      isMerge,
    );
    const change = differenceIn(reader, expected, response);
    if (change !== undefined)
      run.fail('a patch changes nothing that it does not name', `${change} in GET ${path}`);
  }
  if (operation.method !== 'post' || !isObject(sent) || !isObject(after.body)) return;
  const outline = requests.bodies[0]?.outline;
  for (const name of outline?.names ?? []) {
    const member = outline?.member(name);
    const [preset] = member?.defaults ?? [];
    if (Object.hasOwn(sent, name) || preset === undefined || member?.isOneWay) continue;
    const isDeclared = outlineOf(after).member(name).isDescribed;
    // A service may leave out an empty value.
    const isEmpty = !preset || Object.keys(Object(preset)).length === 0;
    const isLeftOut = after.body[name] === undefined && isEmpty && typeof preset === 'object';
    if (!isDeclared || isLeftOut) continue;
    const wrong = differenceIn(reader, { [name]: preset }, response);
    if (wrong !== undefined)
      run.fail(
        'a default is applied',
        `${wrong.replace('was sent as', 'has the default')} in GET ${path}`,
      );
  }
}

/**
 * Returns the members that a patch may change, but does not name. In a merge patch (RFC 7396), also
 * inside of objects.
 */
function unchangedMembers(
  outline: Outline | undefined,
  before: unknown,
  patch: Json,
  isMerge: boolean,
): Json {
  const members = Object.entries(asObject(before)).flatMap(([name, value]): [string, unknown][] => {
    if (!outline?.member(name).isDescribed) return [];
    if (!Object.hasOwn(patch, name)) return [[name, value]];
    const inner = patch[name];
    if (!isMerge || !isObject(inner) || !isObject(value)) return [];
    return [[name, unchangedMembers(outline.member(name), value, inner, true)]];
  });
  return Object.fromEntries(members);
}

/** Checks that an entity tag changes with the resource (RFC 9110 §8.8.3). */
function checkTag(run: Run, before: Reading, after: Reading, written: Json): void {
  const [former, current] = [before, after].map(({ response }) => response.headers.etag);
  const isChanged = Object.keys(written).some(
    (name) => !isDeepStrictEqual(asObject(before.body)[name], asObject(after.body)[name]),
  );
  if (former === undefined || former !== current || !isChanged) return;
  run.fail(
    'an entity tag changes with the resource',
    `the ETag is ${former} before and after the change`,
  );
}

async function checkNeighbour(
  run: Run,
  { neighbour }: Before,
  own: Json | undefined,
  written: Json,
): Promise<void> {
  if (neighbour === undefined) return;
  const { template, path, reading } = neighbour;
  // A request may choose the id of a resource that exists.
  if (isDeepStrictEqual(own, path)) return;
  // The neighbour may be a part of the resource.
  const isRelated = Object.values(own ?? {}).some((id) =>
    stringifyJson(reading.body)?.includes(stringifyJson(String(id)).slice(1, -1)),
  );
  const after = await run.read(template, path);
  if (after === undefined || (isRelated && isGone(after))) return;
  const { pathname } = new URL(after.response.url);
  if (isGone(after))
    run.fail(
      'other resources stay as they are',
      `GET ${pathname} has the status ${after.response.status} after a request to another resource`,
    );
  if (!isSuccess(after)) return;
  const name = changedWith(outlineOf(after), written, asObject(reading.body), asObject(after.body));
  if (name !== undefined) {
    const values = [reading, after].map(({ body }) => stringifyJson(asObject(body)[name]));
    run.fail(
      'other resources stay as they are',
      `GET ${pathname} has ${name} ${values[1]} after another request, not ${values[0]}`,
    );
  }
}

async function checkDeletion(
  run: Run,
  target: Target,
  values: RequestValues,
  { own, list }: Before,
): Promise<void> {
  const path = valuesByName(values, 'path');
  const template = target.operation.path;
  const after = own && (await run.read(template, path));
  // A service may keep a deleted resource, and mark it.
  const isMarked = after && isSuccess(after) && !isDeepStrictEqual(after.body, own?.reading.body);
  if (after !== undefined && isSuccess(after) && !isMarked) {
    const { status } = after.response;
    run.fail(
      'a deleted resource is gone',
      `GET after the deletion has the status ${status}, not 404 or 410`,
    );
  }
  if (list !== undefined && !isMarked) {
    const lister = run.world.knowledge.readerOf(collectionPathOf(template));
    const collection = lister && run.world.targetOf(lister);
    const id = path[idParameterOf(template)];
    const idsIn = (items: readonly unknown[]) =>
      items.map((item) => String(collection && idOfItem(run, collection, item)));
    const rest = await readCollection(run, template, path);
    const listed = idsIn(list.items);
    const left = new Set(idsIn(rest?.items ?? []));
    if (rest !== undefined && listed.includes(String(id))) {
      if (left.has(String(id)))
        run.fail('a deleted resource is not listed', `the list has ${id} after the deletion`);
      const lost = list.items.find((item, index) => {
        const isRelated = stringifyJson(item)?.includes(String(id));
        return !isRelated && !left.has(listed[index] ?? '');
      });
      if (rest.isComplete && list.isComplete && lost !== undefined) {
        const text = stringifyJson(lost)?.slice(0, 80);
        run.fail(
          'other resources stay as they are',
          `the list lacks ${text} after another deletion`,
        );
      }
    }
  }
  await run.sendAndCheck(target, { values });
}

/** Checks that a created resource is in the list of its collection, like others before it. */
async function checkListed(
  run: Run,
  target: Target,
  template: string,
  path: Json,
  { body }: Reading,
): Promise<void> {
  const lister = run.world.knowledge.readerOf(target.operation.path);
  const collection = lister && run.world.targetOf(lister);
  const list = collection && (await readCollection(run, template, path));
  if (list === undefined || collection === undefined || !list.isComplete) return;
  const name = idParameterOf(template);
  const ids = list.items.map((item) => String(idOfItem(run, collection, item)));
  const isListed = (known: Json) => ids.includes(String(known[name]));
  const others = run.world.knowledge
    .pathsOf(template)
    .filter((other) => other[name] !== path[name]);
  const index = ids.indexOf(String(path[name]));
  // A list without pages may be limited silently.
  const isComplete = list.isPaged ? others.some(isListed) : others.every(isListed);
  if (index === -1 && (isComplete || list.items.length === 0))
    run.fail(
      'a created resource is listed',
      `the list lacks ${String(path[name])} after its creation`,
    );
  const item = asObject(list.items[index]);
  const [shown, read] = [item, asObject(body)];
  const other = Object.keys(shown).find(
    (key) =>
      typeof shown[key] === 'string' &&
      typeof read[key] === 'string' &&
      shown[key] !== read[key] &&
      outlineIn(target, key),
  );
  if (index !== -1 && other !== undefined)
    run.fail(
      'a list shows the stored members',
      `${other} is ${stringifyJson(shown[other])} in the list, not ${stringifyJson(read[other])}`,
    );
}

/** True for a member of the request that is a text without a format. */
function outlineIn({ requests }: Target, name: string): boolean {
  const outline = requests.bodies[0]?.outline.member(name);
  return outline?.isDescribed === true && outline.formats.length === 0;
}

/** Checks that a repeated PUT has the same effect. @throws {CheckError} */
export async function checkRetry(run: Run, target: Target, values: RequestValues): Promise<void> {
  const template = templateOf(run, target);
  const path = valuesByName(values, 'path');
  const first = template === undefined ? undefined : await run.read(template, path);
  if (template === undefined || first === undefined || !isSuccess(first)) return;
  const list = await readCollection(run, template, path);
  const repeated = await run.sendAndCheck(target, { values });
  const again = await run.read(template, path);
  if (again === undefined || repeated.status >= 300) return;
  const sent = valuesByName(values, 'body')[''];
  const difference = differenceIn(again.target, sent, again.response);
  if (isGone(again) || difference !== undefined)
    run.fail(
      'a repeated PUT changes nothing',
      difference ?? `GET has the status ${again.response.status}`,
    );
  const longer = await readCollection(run, template, path);
  if (list?.isComplete && longer?.isComplete && longer.items.length > list.items.length)
    run.fail(
      'a repeated PUT changes nothing',
      `the list has ${longer.items.length} items, not ${list.items.length}`,
    );
}

/** The name of the header that makes a POST repeatable (IETF httpapi-idempotency-key-header). */
const IDEMPOTENCY_KEY = /^idempotency-key$/i;

/** Checks that repeated and concurrent requests with one idempotency key create one resource. */
export async function checkIdempotencyKey(
  run: Run,
  target: Target,
  values: RequestValues,
  paths: Paths,
): Promise<void> {
  const hasKey = [...values.keys()].some(
    ({ in: where, name }) => where === 'header' && IDEMPOTENCY_KEY.test(name),
  );
  const template = templateOf(run, target);
  const path = template === undefined ? undefined : paths.get(template);
  if (!hasKey || template === undefined || path === undefined) return;
  const again = await run.sendAndCheck(target, { values });
  const other = run.learn(target, values, again).paths.get(template);
  if (other !== undefined && !isDeepStrictEqual(other, path))
    run.fail(
      'a repeated idempotency key creates nothing',
      `the repeated request created ${stringifyJson(Object.values(other))}`,
    );
}

/** Checks that a POST with the id of another resource does not change it. @throws {CheckError} */
export async function checkTakenId(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.itemOf(operation.path);
  if (operation.method !== 'post' || template === undefined) return;
  const [name = ''] = pathTemplate(template).names;
  const values = await run.values(target, requests.choose(random), true);
  const created = await run.sendAndCheck(target, { values });
  const path = run.learn(target, values, created).paths.get(template);
  const before = path && (await run.read(template, path));
  if (path === undefined || before === undefined || !isSuccess(before)) return;
  const other = requests.withTakenId(
    await run.values(target, requests.choose(random), false),
    path[name],
  );
  if (other === undefined) return;
  const { status } = await run.sendAndCheck(target, { values: other });
  const declaresConflict = operation.responses.some(({ key }) => key === '409');
  if (status < 300 && declaresConflict)
    run.fail('an id that is taken is refused', `the status is ${status} for the id ${path[name]}`);
  const after = status < 400 ? undefined : await run.read(template, path);
  if (after !== undefined && !isDeepStrictEqual(after.body, before.body))
    run.fail('a refused request changes nothing', `GET differs after the status ${status}`);
}

const CONCURRENT = 4;

/** Checks that concurrent requests create resources with different ids. @throws {CheckError} */
export async function checkConcurrent(run: Run, target: Target): Promise<void> {
  const { world } = run;
  const template = templateOf(run, target);
  if (
    target.operation.method !== 'post' ||
    template === undefined ||
    template !== world.knowledge.itemOf(target.operation.path)
  )
    return;
  const { random } = world;
  const drafts = await Promise.all(
    Array.from({ length: CONCURRENT }, () =>
      run.values(target, target.requests.choose(random), false),
    ),
  );
  const responses = await Promise.all(drafts.map((values) => run.send(target, { values })));
  const failed = responses.find(
    ({ status, headers }) => status >= 500 && headers['x-mock'] === undefined,
  );
  if (failed !== undefined)
    run.fail(
      'no request makes the service fail',
      `the status ${failed.status} of concurrent requests is a failure of the service`,
    );
  const created = responses.flatMap((response, index) => {
    const values = drafts[index] ?? new Map();
    const path =
      response.status === 201 ? run.learn(target, values, response).paths.get(template) : undefined;
    return path === undefined ? [] : [{ path, values }];
  });
  for (const [index, { path, values }] of created.entries()) {
    const sent = valuesByName(values, 'body')[''];
    const id = path[idParameterOf(template)];
    const isDouble = created.some(
      (other, at) => at !== index && isDeepStrictEqual(other.path, path),
    );
    // A request may choose the id, and another one the same.
    const isChosen = Object.values(asObject(sent)).some((member) => isEqualScalar(id, member));
    if (isDouble && isChosen) continue;
    const reading = await run.read(template, path);
    if (reading === undefined) return;
    const difference = differenceIn(reading.target, sent, reading.response);
    if (isGone(reading) || difference !== undefined) {
      const reason = difference ?? `GET has the status ${reading.response.status}`;
      run.fail(
        'concurrent requests are stored',
        `${reason} after ${CONCURRENT} concurrent requests`,
      );
    }
  }
}

/** Entity tags that no resource has. The second one is for services whose tags are numbers. */
const WRONG_TAGS = ['"wrong"', '"987654321"'];

/**
 * Checks that requests with a wrong and with a stale entity tag in `If-Match` are refused, and
 * change nothing (RFC 9110 §13.1.1).
 *
 * @throws {CheckError}
 */
export async function checkStaleTags(run: Run, target: Target): Promise<void> {
  const part = hasIfMatch(target);
  const { requests, operation } = target;
  if (part === undefined || templateOf(run, target) !== operation.path) return;
  const { random } = run.world;
  const template = operation.path;
  const valuesOf = async () => {
    const values = await run.values(target, requests.choose(random), true);
    const path = valuesByName(values, 'path');
    return { values, path, own: await watch(run, template, path) };
  };
  const { values, path, own } = await valuesOf();
  const tag = own?.reading.response.headers.etag;
  if (own === undefined || tag === undefined) return;
  const refuse = async (wrong: string, name: string) => {
    const chosen = new Map([...values, [part, wrong] as const]);
    const response = await run.sendAndCheck(target, { values: chosen });
    if (response.status < 300)
      run.fail(
        'a wrong entity tag is rejected',
        `the status is ${response.status} for a ${name} entity tag in If-Match, not 412`,
      );
  };
  const wrong = WRONG_TAGS.find((text) => isValid(part, text));
  if (wrong !== undefined && wrong !== tag) await refuse(wrong, 'wrong');
  if (operation.method === 'delete' || !isValid(part, tag)) return;
  const write = async () =>
    run.sendAndCheck(target, { values: new Map([...values, [part, tag] as const]) });
  if ((await write()).status >= 300) return;
  const after = await run.read(template, path);
  if (after !== undefined && after.response.headers.etag !== tag) await refuse(tag, 'stale');
  const fresh = await valuesOf();
  const current = fresh.own?.reading.response.headers.etag;
  if (current === undefined || !isValid(part, current)) return;
  // Concurrent changes of one version would overwrite each other.
  const chosen = { values: new Map([...fresh.values, [part, current] as const]) };
  const responses = await Promise.all([1, 2, 3].map(() => run.send(target, chosen)));
  const successes = responses.filter(({ status }) => status < 300).length;
  const last = await run.read(template, fresh.path);
  if (successes > 1 && last !== undefined && last.response.headers.etag !== current)
    run.fail(
      'a wrong entity tag is rejected',
      `${successes} of 3 concurrent requests with the same If-Match succeeded`,
    );
}

/** Reads what a request that must be refused may change. */
export async function readState(run: Run, target: Target, values: RequestValues) {
  const template = templateOf(run, target);
  if (template === undefined) return undefined;
  const path = valuesByName(values, 'path');
  const isCreated = pathTemplate(template).names.some((name) => path[name] === undefined);
  const own = isCreated ? undefined : await watch(run, template, path);
  const list = isCreated ? await readCollection(run, template, path) : undefined;
  return { template, path, own, list };
}

/** Checks that a refused request has changed nothing. @throws {CheckError} */
export async function checkUnchanged(
  run: Run,
  state: Awaited<ReturnType<typeof readState>>,
  sent: unknown,
): Promise<void> {
  if (state === undefined) return;
  const { template, path, own, list } = state;
  const check = 'a refused request changes nothing';
  if (own !== undefined) {
    const after = await run.read(template, path);
    if (after === undefined) return;
    if (isGone(after))
      run.fail(check, `GET has the status ${after.response.status} after the request`);
    const [former, current] = [own.reading, after].map(({ body }) => asObject(body));
    const changed = Object.keys(asObject(sent)).find(
      (name) => !isDeepStrictEqual(former?.[name], current?.[name]),
    );
    if (changed !== undefined && isSuccess(after))
      run.fail(
        check,
        `${changed} was ${stringifyJson(former?.[changed])}, and is another value now`,
      );
  } else if (list?.isComplete) {
    const longer = await readCollection(run, template, path);
    if (longer?.isComplete && longer.items.length > list.items.length)
      run.fail(
        check,
        `the list has ${longer.items.length} items after the request, and had ${list.items.length}`,
      );
  }
}
