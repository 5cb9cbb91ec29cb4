import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  isObject,
  type Json,
  type Outline,
  pathTemplate,
  stringifyJson,
} from 'openapi-document';
import type { ReceivedResponse } from './check-response.ts';
import { changedWith, differenceIn, isEqualScalar, outlineOf } from './compare.ts';
import type { Paths } from './knowledge.ts';
import { idOfItem, type List, readList, requiredValues } from './lists.ts';
import { collectionPathOf, idParameterOf, resourcePathOf } from './names.ts';
import { type RequestValues, withValue } from './parts.ts';
import { isMock, type RequestDraft } from './send.ts';
import {
  hasIfMatch,
  isGone,
  isSuccess,
  type Reading,
  type Run,
  type SendOptions,
  type Target,
} from './world.ts';

/** The resources that a request may change, as they were before it. */
interface State {
  /** The template of the resource that the request creates, changes or deletes. */
  readonly template: string;
  /** The path parameters of the request. */
  readonly path: Json;
  /** The resource of the request, unless the request creates it. */
  readonly own: Reading | undefined;
  /** Another resource of the same collection. */
  readonly neighbour: Reading | undefined;
  /** The list of the collection. */
  readonly list: List | undefined;
}

/** A response, and the resources that it has shown. */
export interface Step {
  readonly response: ReceivedResponse;
  readonly paths: Paths;
}

export const isWriting = ({ operation: { method } }: Target): boolean =>
  !/^(get|head|options|trace|query)$/.test(method);

/**
 * Sends a request, and checks the response and its effects: what was sent is stored, a refused
 * request changes nothing, and other resources stay as they are.
 *
 * @param repeated true for a request that has the same effect as one before it.
 * @throws {CheckError}
 */
export async function perform(
  run: Run,
  target: Target,
  draft: RequestDraft,
  { repeated = false, ...options }: SendOptions & { readonly repeated?: boolean } = {},
): Promise<Step> {
  const prepared = run.exchanges.length;
  const before = await readState(run, target, draft.values);
  // The requests that prepare a check are no part of the sequence that a failure shows.
  run.exchanges.splice(prepared);
  const response = await run.sendAndCheck(target, draft, options);
  const { paths } = run.learn(target, draft.values, response);
  if (!run.checksEffects || isMock(response)) return { response, paths };
  const sent = draft.values.body;
  const isRefused = response.status >= 300;
  const isStoring = /^(post|put|patch)$/.test(target.operation.method);
  const difference =
    isStoring && !isRefused ? differenceIn(target.operation, sent, response) : undefined;
  if (difference !== undefined) run.fail('a change is stored', `${difference} in the response`);
  // The service may still be working on an accepted request.
  if (before === undefined || response.status === 202) return { response, paths };

  const path = isRefused
    ? before.own?.path
    : (paths.get(before.template) ?? before.own?.path ?? pathOfSingleton(before.template));
  const after = path && (await run.read(before.template, path));
  const isOwn = target.operation.path === before.template || before.own === undefined;
  if (isRefused) checkUnchanged(run, before, after, sent);
  else if (target.operation.method === 'delete')
    await checkDeletion(run, target, draft, before.own, after);
  else if (after !== undefined && isOwn && isStoring) checkStored(run, target, sent, before, after);
  if (repeated && after !== undefined && isGone(after))
    run.fail('a repeated request changes nothing', 'the resource is gone');
  await checkNeighbour(run, before, path, isOwn && !isRefused ? asObject(sent) : {});
  await checkCollection(run, target, before, after, path, isRefused || repeated);
  return { response, paths };
}

const pathOfSingleton = (template: string): Json | undefined =>
  pathTemplate(template).names.length === 0 ? {} : undefined;

/** Returns the template of the resource that an operation creates, changes or deletes. */
function templateOf({ world: { knowledge } }: Run, { operation }: Target): string | undefined {
  const { path, method } = operation;
  const item = method === 'post' ? knowledge.itemOf(path) : undefined;
  // A singleton, such as `/profile`, has no id.
  const singleton = method !== 'post' && knowledge.readerOf(path) ? path : undefined;
  return item ?? singleton ?? (resourcePathOf(path) || undefined);
}

async function readState(
  run: Run,
  target: Target,
  values: RequestValues,
): Promise<State | undefined> {
  const template = isWriting(target) && run.checksEffects ? templateOf(run, target) : undefined;
  if (template === undefined) return undefined;
  const { names } = pathTemplate(template);
  const id = idParameterOf(template);
  // A client may choose the id of the resource that it creates.
  const chosenId = asObject(values.body)[id];
  const path = chosenId === undefined ? values.path : { [id]: chosenId, ...values.path };
  const isCreated = names.some((name) => path[name] === undefined);
  const reading = isCreated ? undefined : await run.read(template, path);
  const own = reading && isSuccess(reading) ? reading : undefined;
  const neighbour = names.length > 0 ? await readNeighbour(run, template, path) : undefined;
  return { template, path, own, neighbour, list: await readCollection(run, template, path) };
}

async function readNeighbour(run: Run, template: string, path: Json): Promise<Reading | undefined> {
  const parents = pathTemplate(collectionPathOf(template)).names;
  const id = idParameterOf(template);
  const isNeighbour = (other: Json) =>
    other[id] !== path[id] && parents.every((name) => other[name] === path[name]);
  for (let tries = 0; tries < 2; tries += 1) {
    const known = run.world.knowledge.pathsOf(template).find(isNeighbour);
    const reading = known && (await run.read(template, known));
    if (reading !== undefined && isSuccess(reading)) return reading;
    if (reading !== undefined && !isGone(reading)) return undefined;
    if (tries === 0) await run.create(template);
  }
  return undefined;
}

/** Reads the list of the collection of a resource. */
async function readCollection(run: Run, template: string, path: Json): Promise<List | undefined> {
  const lister = listerOf(run, template);
  if (lister === undefined) return undefined;
  const values = await requiredValues(run, lister);
  const names = Object.keys(values.path);
  const own = Object.fromEntries(names.map((name) => [name, path[name] ?? values.path[name]]));
  return Object.keys(values.query).length > 0
    ? undefined
    : readList(run, lister, { ...values, path: own });
}

function listerOf({ world: { knowledge, targetOf } }: Run, template: string): Target | undefined {
  const operation = knowledge.readerOf(collectionPathOf(template));
  return operation && targetOf(operation);
}

const describeGet = ({ response: { url } }: Reading): string => `GET ${new URL(url).pathname}`;

/** Checks that a resource has the sent members, the defaults of others, and a new entity tag. */
function checkStored(
  run: Run,
  { operation, requests }: Target,
  sent: unknown,
  { own }: State,
  after: Reading,
): void {
  const { target: reader, response } = after;
  const get = `GET ${reader.operation.path}`;
  const failIfDifferent = (check: string, expected: unknown) => {
    const difference = differenceIn(reader.operation, expected, response);
    if (difference !== undefined) run.fail(check, `${difference} in ${get}`);
  };
  if (isGone(after))
    run.fail(
      'a change is stored',
      `${describeGet(after)} has the status ${response.status} for a stored resource`,
    );
  failIfDifferent('a change is stored', sent);
  if (sent instanceof Uint8Array && isSuccess(after) && !response.body.equals(sent))
    run.fail('a change is stored', `other bytes than those that were sent are in ${get}`);
  const media = requests.media.find(({ outline }) => outline.form === 'object');
  if (media === undefined || !isObject(sent)) return;
  if (operation.method === 'patch') {
    const isMerge = /merge-patch/.test(media.type);
    const unchanged = unchangedMembers(media.outline, own?.body, sent, isMerge);
    failIfDifferent('a patch changes nothing that it does not name', unchanged);
  } else {
    const defaults = defaultsOf(media.outline, sent, after);
    failIfDifferent('a default is applied', defaults);
  }
  const tag = response.headers.etag;
  const isChanged = Object.keys(sent).some(
    (name) => !isDeepStrictEqual(asObject(own?.body)[name], asObject(after.body)[name]),
  );
  if (own !== undefined && tag !== undefined && own.response.headers.etag === tag && isChanged)
    run.fail(
      'an entity tag changes with the resource',
      `the ETag is ${tag} before and after the change`,
    );
}

/** Returns the defaults of members that were not sent. A service may leave out an empty value. */
function defaultsOf(outline: Outline, sent: Json, after: Reading): Json {
  const entries = [...outline.names].flatMap((name): [string, unknown][] => {
    const { defaults, isOneWay } = outline.member(name);
    const [preset] = defaults;
    const isLeftOut = asObject(after.body)[name] === undefined && isEmpty(preset);
    return !isLeftOut && !isOneWay && !Object.hasOwn(sent, name) && preset !== undefined
      ? [[name, preset]]
      : [];
  });
  return Object.fromEntries(entries);
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && Object.keys(value ?? {}).length === 0;

/**
 * Returns the members that a patch may change, but does not name. In a merge patch (RFC 7396), also
 * inside of objects.
 */
function unchangedMembers(outline: Outline, before: unknown, patch: Json, isMerge: boolean): Json {
  const members = Object.entries(asObject(before)).flatMap(([name, value]): [string, unknown][] => {
    if (!outline.member(name).isDescribed) return [];
    if (!Object.hasOwn(patch, name)) return [[name, value]];
    const inner = patch[name];
    return isMerge && isObject(inner) && isObject(value)
      ? [[name, unchangedMembers(outline.member(name), value, inner, true)]]
      : [];
  });
  return Object.fromEntries(members);
}

/** Checks that a refused request has changed no member that it has sent. */
function checkUnchanged(run: Run, { own }: State, after: Reading | undefined, sent: unknown): void {
  if (own === undefined || after === undefined) return;
  const check = 'a refused request changes nothing';
  if (isGone(after))
    run.fail(check, `${describeGet(after)} has the status ${after.response.status} after it`);
  const [former, current] = [own, after].map(({ body }) => asObject(body));
  const changed = Object.keys(asObject(sent)).find(
    (name) => !isDeepStrictEqual(former?.[name], current?.[name]),
  );
  if (changed !== undefined && isSuccess(after))
    run.fail(
      check,
      `${changed} was ${stringifyJson(former?.[changed])}, and is another value after it`,
    );
}

/** Checks that a deleted resource is gone, and that a second deletion does not fail. */
async function checkDeletion(
  run: Run,
  target: Target,
  draft: RequestDraft,
  own: Reading | undefined,
  after: Reading | undefined,
): Promise<void> {
  // A service may keep a deleted resource, and mark it.
  const isMarked = after !== undefined && !isDeepStrictEqual(after.body, own?.body);
  if (after !== undefined && isSuccess(after) && !isMarked) {
    const { status } = after.response;
    run.fail(
      'a deleted resource is gone',
      `GET after the deletion has the status ${status}, not 404 or 410`,
    );
  }
  await run.sendAndCheck(target, draft);
}

/** Checks that another resource has no member of a change, and its own texts. */
async function checkNeighbour(
  run: Run,
  { neighbour }: State,
  own: Json | undefined,
  written: Json,
): Promise<void> {
  // A request may choose the id of a resource that exists.
  if (neighbour === undefined || isDeepStrictEqual(own, neighbour.path)) return;
  const after = await run.read(neighbour.target.operation.path, neighbour.path);
  // The neighbour may be a part of the resource.
  const isPart = Object.values(own ?? {}).some((id) => mentions(neighbour.body, id));
  if (after === undefined || (isPart && isGone(after))) return;
  const check = 'other resources stay as they are';
  if (isGone(after))
    run.fail(
      check,
      `${describeGet(after)} has the status ${after.response.status} after another request`,
    );
  if (!isSuccess(after)) return;
  const [former, current] = [neighbour, after].map(({ body }) => asObject(body));
  const name = changedWith(
    outlineOf(after.target.operation, after.response),
    written,
    former ?? {},
    current ?? {},
  );
  if (name === undefined) return;
  const values = [current, former].map((body) => stringifyJson(body?.[name]));
  run.fail(
    check,
    `${describeGet(after)} has ${name} ${values.join(' after another request, not ')}`,
  );
}

const mentions = (value: unknown, id: unknown): boolean =>
  stringifyJson(value)?.includes(stringifyJson(String(id)).slice(1, -1)) === true;

/** Checks that a list has gained, lost and changed nothing but the resource of a request. */
async function checkCollection(
  run: Run,
  { operation: { method } }: Target,
  { template, path, list: before, neighbour }: State,
  after: Reading | undefined,
  own: Json | undefined,
  isSame: boolean,
): Promise<void> {
  const lister = listerOf(run, template);
  const list = before && (await readCollection(run, template, { ...path, ...own }));
  if (before === undefined || list === undefined || lister === undefined) return;
  const name = idParameterOf(template);
  const itemOf = ({ items }: List, id: unknown) =>
    items.find((item) => isEqualScalar(id, idOfItem(run, lister, item)));
  const id = own?.[name];
  const item = id === undefined ? undefined : itemOf(list, id);
  const isDeleted = method === 'delete' && !isSame;
  if (isDeleted && item !== undefined && after !== undefined && isGone(after))
    run.fail('a deleted resource is not listed', `the list has ${id} after the deletion`);
  if (!before.isComplete || !list.isComplete) return;
  if (isSame && list.items.length > before.items.length)
    run.fail(
      'a refused or repeated request changes nothing',
      `the list has ${list.items.length} items after it, and had ${before.items.length}`,
    );
  const lost = before.items.find((each) => {
    const other = idOfItem(run, lister, each);
    return other !== undefined && !mentions(each, id) && itemOf(list, other) === undefined;
  });
  if (lost !== undefined)
    run.fail(
      'other resources stay as they are',
      `the list lacks ${stringifyJson(lost)?.slice(0, 80)} after a request to another resource`,
    );
  if (isSame || isDeleted || id === undefined || after === undefined || !isSuccess(after)) return;
  // A list may show some resources only.
  const isWhole = neighbour === undefined || itemOf(list, neighbour.path[name]) !== undefined;
  if (item === undefined && isWhole)
    run.fail('a stored resource is listed', `the list lacks ${id} after the request`);
  const [shown, read] = [asObject(item), asObject(after.body)];
  const other = Object.keys(shown).find(
    (key) =>
      typeof shown[key] === 'string' && typeof read[key] === 'string' && shown[key] !== read[key],
  );
  const shownOutline = outlineOf(after.target.operation, after.response);
  if (other !== undefined && shownOutline?.member(other).formats.length === 0)
    run.fail(
      'a list shows the stored members',
      `${other} is ${stringifyJson(shown[other])} in the list, not ${stringifyJson(read[other])}`,
    );
}

/** The name of the header that makes a POST repeatable (IETF httpapi-idempotency-key-header). */
const IDEMPOTENCY_KEY = /^idempotency-key$/i;

/** Checks that a repeated PUT, and a POST with the same idempotency key, succeed again. */
export async function checkRepetition(
  run: Run,
  target: Target,
  values: RequestValues,
  first: Step,
): Promise<void> {
  const { method, path } = target.operation;
  const hasKey = Object.keys(values.header).some((name) => IDEMPOTENCY_KEY.test(name));
  const isPut = method === 'put' && hasIfMatch(target) === undefined;
  const template = templateOf(run, target) ?? '';
  if (!(isPut && template === path) && !(hasKey && method === 'post')) return;
  const { response, paths } = await perform(run, target, { values }, { repeated: true });
  const check = 'a repeated request changes nothing';
  if (response.status >= 400 && response.status !== 429)
    run.fail(check, `the status of the repeated request is ${response.status}`);
  const [one, other] = [first.paths.get(template), paths.get(template)];
  if (one !== undefined && other !== undefined && !isDeepStrictEqual(one, other))
    run.fail(check, `the repeated request created ${stringifyJson(Object.values(other))}`);
}

/** Checks that a POST with the id of another resource does not replace it. @throws {CheckError} */
export async function checkTakenId(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = operation.method === 'post' ? knowledge.itemOf(operation.path) : undefined;
  const path = template && (await run.create(template))?.get(template);
  const chosen = await run.values(target, requests.choose(random), false);
  const id = Object(path)[idParameterOf(template ?? '')];
  const values = id === undefined ? undefined : requests.withTakenId(chosen, id);
  const step = values && (await perform(run, target, { values }));
  const declaresConflict = operation.responses.some(({ key }) => key === '409');
  if (step !== undefined && step.response.status < 300 && declaresConflict)
    run.fail('an id that is taken is refused', `the status is ${step.response.status}`);
}

const CONCURRENT = 4;

/** Checks that concurrent requests create resources with different ids. @throws {CheckError} */
export async function checkConcurrent(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { operation, requests } = target;
  const template = operation.method === 'post' ? knowledge.itemOf(operation.path) : undefined;
  if (template === undefined) return;
  const drafts: RequestValues[] = [];
  while (drafts.length < CONCURRENT)
    drafts.push(await run.values(target, requests.choose(random), false));
  const responses = await Promise.all(drafts.map((values) => run.sendAndCheck(target, { values })));
  const ids = responses.map((response, index) => {
    const values = drafts[index] as RequestValues;
    const id = run.learn(target, values, response).paths.get(template)?.[idParameterOf(template)];
    // Requests may choose the same id.
    const isChosen = Object.values(asObject(values.body)).some((each) => isEqualScalar(id, each));
    return isChosen ? undefined : id;
  });
  const double = ids.find((id, index) => id !== undefined && ids.indexOf(id) !== index);
  if (double !== undefined)
    run.fail('concurrent requests create different resources', `two of them have the id ${double}`);
}

/** Entity tags that no resource has. The second one is for services whose tags are numbers. */
const WRONG_TAGS = ['"wrong"', '"987654321"'];

/**
 * Checks that requests with a wrong and with a stale entity tag in `If-Match` are refused, and
 * change nothing (RFC 9110 §13.1.1).
 *
 * @throws {CheckError}
 */
export async function checkEntityTags(run: Run, target: Target): Promise<void> {
  const part = hasIfMatch(target);
  const { requests, operation } = target;
  if (part === undefined || templateOf(run, target) !== operation.path) return;
  const values = await run.values(target, requests.choose(run.world.random), true);
  const path = values.path;
  const tagOf = async () => (await run.read(operation.path, path))?.response.headers.etag;
  const draftWith = (tag: string) => ({ values: withValue(values, part, tag) });
  const check = 'a wrong entity tag is rejected';
  const refuse = async (tag: string, name: string) => {
    const { response } = await perform(run, target, draftWith(tag));
    if (response.status >= 300) return;
    const message = `the status is ${response.status} for a ${name} entity tag in If-Match`;
    run.fail(check, message);
  };
  const tag = await tagOf();
  const wrong = WRONG_TAGS.find(
    (text) => text !== tag && requests.isValid(withValue(values, part, text)),
  );
  if (tag === undefined || wrong === undefined) return;
  await refuse(wrong, 'wrong');
  if (operation.method === 'delete' || !requests.isValid(withValue(values, part, tag))) return;
  // Of concurrent changes to one version, all but one would be overwritten.
  const responses = await Promise.all([1, 2, 3].map(() => run.send(target, draftWith(tag))));
  const successes = responses.filter(({ status }) => status < 300).length;
  const isWeak = tag.startsWith('W/');
  const isRefused = responses.every(({ status }) => status === 412);
  if (isRefused && !isWeak && (await tagOf()) === tag)
    run.fail('the current entity tag is accepted', `the status is 412 for If-Match: ${tag}`);
  if (successes === 0 || (await tagOf()) === tag) return;
  if (successes > 1)
    run.fail(check, `${successes} of 3 concurrent requests with the same If-Match succeeded`);
  await refuse(tag, 'stale');
}
