import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  declaredFor,
  isJsonType,
  isObject,
  type Json,
  type MediaType,
  type Operation,
  stringifyJson,
} from 'openapi-document';
import {
  type Content,
  isNotFoundDeclared,
  type ReceivedResponse,
  resourceOf,
} from './check-response.ts';
import {
  changedNames,
  changedWith,
  differenceOf,
  excerptOf,
  isEqualScalar,
  shownWriteOnly,
  unchangedMembers,
  unsentDefaults,
} from './compare.ts';
import type { Knowledge, Paths, Resource } from './knowledge.ts';
import {
  collectionPathOf,
  idParameterOf,
  keyOf,
  namesOf,
  ownNamesOf,
  resourcePathOf,
} from './names.ts';
import { partOf, type RequestValues, type SentBody, sentBodyOf, unwrapped } from './parts.ts';
import { isRepeatKey } from './requests.ts';
import { isMock, type RequestDraft } from './send.ts';
import { isBelow, keyIn, mentions, readView, readViews } from './views.ts';
import { hasIfMatch, type Run, type SendOptions, type Target, type View } from './world.ts';

/** The views of a resource and of others, before a request. */
export interface State extends Resource {
  readonly kind: 'store' | 'delete' | 'act';
  readonly views: readonly View[];
}

/** The name of the checks of ids that a service chooses. */
export const NEW_ID = 'a new resource has a new id';

/** A view before and after a request. */
interface Pair {
  readonly before: View;
  readonly after: View;
  /** The key of the resource of the request, if the view shows it. */
  readonly own: string | undefined;
}

/** A response, and the resources that it has shown. */
export interface Step {
  readonly response: ReceivedResponse;
  readonly paths: Paths;
}

export const isWriting = ({ operation: { method } }: Target): boolean =>
  !/^(get|head|options|trace|query)$/.test(method);

/**
 * Sends a request, and compares what the service shows before and after it: what was sent is
 * stored, a refused request changes nothing, and other resources stay as they are.
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
  const before = isWriting(target) ? await readState(run, target, draft.values) : undefined;
  // The requests that prepare a check are no part of the sequence that a failure shows.
  run.exchanges.splice(prepared);
  const response = await run.sendAndCheck(target, draft, options);
  const { paths, isKnown } = run.learn(target, draft.values, response);
  const step = { response, paths };
  if (run.effects === 'none' || isMock(response)) return step;
  const { method } = target.operation;
  const { body } = draft.values;
  const isRefused = response.status >= 300;
  const isStoring = /^(post|put|patch)$/.test(method) && !isRefused;
  const answer = resourceOf(target, response);
  const sentBody = sentBodyOf(target, draft.values);
  const { sent: expected } = unwrapped(answer.outline, sentBody);
  const difference =
    isStoring && answer.outline && isObject(expected)
      ? differenceOf(answer.outline, expected, answer.value)
      : undefined;
  if (difference) run.fail('a change is stored', `${difference} in the response`);
  const raw = unwrapped(answer.outline, { ...sentBody, sent: body });
  const secret = isStoring && raw.outline && shownWriteOnly(raw.outline, raw.sent, answer.value);
  if (secret) run.fail('a writeOnly member is not shown', `the response has ${secret}`);
  // The service may still be working on an accepted request.
  if (before === undefined || response.status === 202) return step;

  const { template, kind } = before;
  const resource = {
    template,
    path: { ...before.path, ...(isRefused ? {} : paths.get(template)) },
  };
  const pairs = await readPairs(run, before, resource);
  const isSame = isRefused || repeated;
  const shown = pairs.find(({ own }) => own === '')?.after.outline ?? answer.outline;
  const stored = unwrapped(shown, sentBody);
  const { sent } = stored;
  const change = { kind, isSame, body, sent: kind === 'store' ? asObject(sent) : {} };
  const id = resource.path[idParameterOf(template)];
  if (isKnown && method === 'post' && response.status === 201 && !isSame && !isChosen(draft, id))
    run.fail(NEW_ID, `the id ${id} is that of another resource`);
  await checkOthers(run, resource, pairs, change);
  if (!isRefused) checkAnswer(run, resource, pairs, answer);
  if (isStoring && !isSame && Array.isArray(sent)) checkBatch(run, pairs, sent);
  if (isSame) return step;
  if (kind === 'delete') checkDeleted(run, resource, pairs);
  if (method === 'delete') await run.sendAndCheck(target, draft);
  if (kind === 'store') {
    checkStored(run, target, pairs, stored, draft.values.media);
    if (id === undefined && response.status === 201)
      checkAdded(run, resource, pairs, asObject(sent));
  }
  if (run.effects === 'all' && isRepeatable(run, target, draft))
    await checkRepeated(run, target, draft, step);
  return step;
}

/** Returns true for a PUT without `If-Match`, and a POST with an idempotency key. */
function isRepeatable({ world }: Run, target: Target, { values }: RequestDraft): boolean {
  const { operation, requests } = target;
  if (operation.method === 'put')
    return !hasIfMatch(target) && world.knowledge.subjectOf(operation) === operation.path;
  const key = requests.parameters.find(isRepeatKey);
  return operation.method === 'post' && key !== undefined && partOf(values, key) !== undefined;
}

/** Checks that a repeated request succeeds again, and changes nothing. */
async function checkRepeated(
  run: Run,
  target: Target,
  draft: RequestDraft,
  { paths, response: first }: Step,
) {
  const template = run.world.knowledge.subjectOf(target.operation) ?? '';
  const { response, paths: others } = await perform(run, target, draft, { repeated: true });
  const check = 'a repeated request changes nothing';
  const [former, current] = [first, response].map((each) =>
    asObject(resourceOf(target, each).value),
  );
  // A secret may be shown once.
  const name = changedNames(former ?? {}, current ?? {}).find(
    (each) => former?.[each] !== undefined && current?.[each] !== undefined,
  );
  if (target.operation.method === 'post' && response.status < 300 && name !== undefined)
    run.fail(check, `${name} is ${excerptOf(current?.[name])} in the response to the same request`);
  if (response.status >= 400 && response.status !== 429)
    run.fail(check, `the status of the repeated request is ${response.status}`);
  // Only a new resource gets 201 (RFC 9110 §9.3.4).
  const hasOther = target.operation.responses.some(({ key }) => key === '200' || key === '204');
  if (target.operation.method === 'put' && response.status === 201 && hasOther)
    run.fail(check, 'the status of the repeated request is 201, though nothing is created');
  const [one, other] = [paths.get(template), others.get(template)];
  if (one !== undefined && other !== undefined && !isDeepStrictEqual(one, other))
    run.fail(check, `the repeated request created ${stringifyJson(Object.values(other))}`);
}

const isChosen = ({ values }: RequestDraft, id: unknown): boolean =>
  Object.values({ ...asObject(values.body), ...values.header }).some((each) =>
    isEqualScalar(id, each),
  );

/** Reads the views that a request may change. Returns `undefined` if effects are not checked. */
export async function readState(
  run: Run,
  target: Target,
  values: RequestValues,
): Promise<State | undefined> {
  const { knowledge } = run.world;
  const { operation } = target;
  if (run.effects === 'none') return undefined;
  const template = knowledge.subjectOf(operation) ?? '';
  // A client may choose the id of the resource that it creates.
  const chosenIds = knowledge.idsIn(template, asObject(values.body));
  const resource = { template, path: { ...chosenIds, ...values.path } };
  const isWide = run.effects === 'all';
  // A service may refuse to delete a resource that has others below it.
  const kind = kindOf(knowledge, operation, template, values);
  const isEmpty = kind === 'delete' && !run.world.succeeded.has(operation.id);
  if (isWide) await addRelated(run, resource, kind === 'delete', isEmpty);
  if (isWide) await addNamesake(run, resource);
  return { ...resource, kind, views: await readViews(run, resource, isWide, values.body) };
}

/** Returns what a request does with a resource. A DELETE of `/boards/{id}/star` is an action. */
function kindOf(
  knowledge: Knowledge,
  { method, path }: Operation,
  template: string,
  { query }: RequestValues,
): State['kind'] {
  // A query may select the items of a list that are deleted.
  const selectsItems = knowledge.itemOf(path) !== undefined && Object.keys(query).length > 0;
  if (path === template && method === 'delete') return selectsItems ? 'act' : 'delete';
  if (path === template) return 'store';
  return method === 'post' && knowledge.itemOf(path) === template ? 'store' : 'act';
}

/** Returns true if the service now shows something else. */
export async function isChanged(run: Run, { views }: State): Promise<boolean> {
  for (const before of views) {
    const after = await readView(run, before.operation, before.path);
    if (after === undefined || isDeepStrictEqual(before.entries, after.entries)) continue;
    // A service may count the requests of a session.
    run.world.views.clear();
    const again = await readView(run, before.operation, before.path);
    if (isDeepStrictEqual(after.entries, again?.entries)) return true;
  }
  return false;
}

/**
 * Creates a resource beside another one, and one below it, unless they exist.
 *
 * @param isEmpty true to create none below it.
 */
async function addRelated(
  run: Run,
  { template, path }: Resource,
  isDeletion: boolean,
  isEmpty: boolean,
): Promise<void> {
  const { knowledge } = run.world;
  for (const other of knowledge.templates) {
    const isChild = collectionPathOf(other).startsWith(`${template}/`);
    if (isChild ? isEmpty : other !== template) continue;
    const names = namesOf(collectionPathOf(other));
    const within = Object.fromEntries(names.map((name) => [name, path[name]]));
    const id = idParameterOf(template);
    const exists = knowledge
      .pathsOf(other)
      .some(
        (each) =>
          names.every((name) => each[name] === path[name]) && (isChild || each[id] !== path[id]),
      );
    // A wrong deletion may remove a newer resource.
    const isNewer = isDeletion && !isChild;
    // A wrong action may change all resources with the same parent.
    const origin = isChild ? undefined : knowledge.originOf(template, path);
    if ((isNewer || !exists) && names.every((name) => path[name] !== undefined))
      await run.create(other, { within: origin ?? within, besides: path });
  }
}

/** Returns the PUT operation that creates resources of a template. */
function putOf({ world }: Run, template: string): Target | undefined {
  const creator = world.knowledge.creatorsOf(template).find(({ path }) => path === template);
  return creator && world.targetOf(creator);
}

/** Puts a resource with the same id below another parent, if clients choose the ids. */
async function addNamesake(run: Run, { template, path }: Resource): Promise<void> {
  const { knowledge } = run.world;
  const id = idParameterOf(template);
  const target = putOf(run, template);
  const parents = knowledge.pathsOf(resourcePathOf(collectionPathOf(template)));
  const other = parents.find((each) => Object.keys(each).some((name) => each[name] !== path[name]));
  if (target === undefined || other === undefined || path[id] === undefined) return;
  const within = { ...other, [id]: path[id] };
  const values = await run.values(target, target.requests.simplest(), { within });
  await run.sendAndLearn(target, { values });
}

/** Reads all views again. */
async function readPairs(run: Run, { views }: State, resource: Resource): Promise<Pair[]> {
  const pairs: Pair[] = [];
  const subject = views.find((view) => keyIn(view, resource) === '')?.entries.get('');
  const id = resource.path[idParameterOf(resource.template)];
  for (const before of views) {
    const after = await readView(run, before.operation, before.path);
    // Another collection may list the resource, too. Other parents have resources of their own.
    const { template } = resource;
    const isOwnKind = [template, collectionPathOf(template)].includes(before.operation.path);
    const [copy] =
      [...before.entries].find(
        ([, item]) => !isOwnKind && mentions(item, id) && isCopy(item, subject),
      ) ?? [];
    const own = keyIn(before, resource) ?? copy;
    if (after !== undefined) pairs.push({ before, after, own });
  }
  const reader = run.world.knowledge.readerOf(resource.template);
  const isRead = pairs.some(({ own }) => own === '');
  const after = reader && !isRead && (await readView(run, reader, resource.path));
  // The resource itself is compared before lists that show it.
  if (after) pairs.unshift({ before: { ...after, entries: new Map() }, after, own: '' });
  if (namesOf(resource.template).every((name) => resource.path[name] !== undefined)) return pairs;
  // Without an id, the only new item of the collection is the new resource.
  return pairs.map((pair) => {
    const isCollection = pair.after.operation.path === collectionPathOf(resource.template);
    const [added, ...others] = addedKeys(pair);
    return isCollection && others.length === 0 ? { ...pair, own: added } : pair;
  });
}

/** Returns true if two objects have several members in common, with the same values. */
function isCopy(one: unknown, other: unknown): boolean {
  const names = Object.keys(asObject(one)).filter((name) => Object.hasOwn(asObject(other), name));
  return (
    names.length > 1 &&
    names.every((name) => isDeepStrictEqual(asObject(one)[name], asObject(other)[name]))
  );
}

const addedKeys = ({ before, after }: Pair): string[] =>
  before.isComplete ? [...after.entries.keys()].filter((key) => !before.entries.has(key)) : [];

const describeGet = ({ response: { url } }: View): string => `GET ${new URL(url).pathname}`;

/**
 * Fails, and shows the response of a view.
 *
 * @param culprit the operation of the view, if its response is certainly the wrong one.
 */
function failFor(
  run: Run,
  { response }: View,
  check: string,
  message: string,
  culprit?: Operation,
): never {
  run.fail(check, message, culprit, response);
}

/** A request and the members that it has sent. */
interface Change {
  readonly kind: State['kind'];
  /** True for a request that may not change anything: a refused or a repeated one. */
  readonly isSame: boolean;
  readonly body: unknown;
  /** The members of the resource itself. Empty for an action. */
  readonly sent: Json;
}

/** Checks that a request has added, removed and changed nothing but its resource. */
async function checkOthers(
  run: Run,
  resource: Resource,
  pairs: readonly Pair[],
  change: Change,
): Promise<void> {
  const { kind, isSame, sent } = change;
  const check = isSame
    ? 'a refused or repeated request changes nothing'
    : 'other resources stay as they are';
  const id = resource.path[idParameterOf(resource.template)];
  const subjects = pairs.map(({ before, own }) => before.entries.get(own ?? '\0'));
  const ofAction = writtenByAction(pairs, change);
  // Another kind of resources may have sums or counts with the same names.
  const isNoNumber = ([, value]: [string, unknown]) => !/^(number|bigint)$/.test(typeof value);
  const ofOthers = Object.fromEntries(Object.entries(sent).filter(isNoNumber));
  // Resources of two parents may have the same id.
  const isChosenId = putOf(run, resource.template) !== undefined;
  for (const pair of pairs) {
    const { before, after, own } = pair;
    if (!isSame && isDerived(run, before)) continue;
    // A deletion or an action may remove what is below the resource. A deletion may also remove
    // what the resource names.
    const parent = parentOf(pair);
    const isNamed = !mentions(resource.path, parent) && mentions(subjects, parent);
    const isPart =
      kind !== 'store' && (isBelow(before, resource) || (kind === 'delete' && isNamed));
    const get = describeGet(after);
    const isSibling = after.operation.path === collectionPathOf(resource.template);
    const isSameKind = isSibling || after.operation.path === resource.template;
    const written = isSameKind ? { ...sent, ...ofAction } : ofOthers;
    for (const [key, former] of before.entries) {
      // The subject may be the list itself.
      const isOwn = !isSame && (key === own || (own === '' && before.isList));
      const current = after.entries.get(key);
      if (current === undefined && after.isComplete) {
        // A deletion or an action may remove what refers to its resource.
        const isReference = kind !== 'store' && mentions(former, id) && !(isChosenId && isSibling);
        if (isOwn || (!isSame && (isPart || isReference))) continue;
        if (kind === 'delete' && (await isBelowDeleted(run, before))) continue;
        const lost = after.isList
          ? `lacks ${excerptOf(former)}`
          : `has the status ${after.response.status}`;
        failFor(run, after, check, `${get} ${lost} after the request`);
      }
      if (current === undefined) continue;
      // A refused request may not change any text.
      const changed = isSame ? { ...asObject(former), ...sent } : written;
      const name = isOwn
        ? undefined
        : changedWith(after.outline, changed, asObject(former), asObject(current));
      if (name === undefined) continue;
      const values = [current, former].map((each) => stringifyJson(asObject(each)[name]));
      failFor(run, after, check, `${get} has ${name} ${values.join(' after the request, not ')}`);
    }
    const [added] = isSame ? addedKeys(pair) : [];
    if (added !== undefined)
      failFor(
        run,
        after,
        check,
        `${get} has ${excerptOf(after.entries.get(added))} after the request`,
      );
  }
}

/** Returns true for a list that no request writes, and whose items have no ids, such as sums. */
const isDerived = ({ world }: Run, { operation: { path }, isList, entries }: View): boolean =>
  isList &&
  [...entries].every(([key, item]) => key === stringifyJson(item)) &&
  world.knowledge.operations.every(
    (other) => other.method === 'get' || !`${other.path}/`.startsWith(`${path}/`),
  );

/** Returns true for a view of something below another resource that is gone. */
async function isBelowDeleted(run: Run, { operation, path }: View): Promise<boolean> {
  const above = resourcePathOf(operation.path);
  const reader = above === operation.path ? undefined : run.world.knowledge.readerOf(above);
  const view = reader && (await readView(run, reader, path));
  return view?.entries.size === 0;
}

/** Checks that a member that the response shows with another value is stored with it. */
function checkAnswer(
  run: Run,
  { template, path }: Resource,
  pairs: readonly Pair[],
  { value }: Content,
) {
  const own = pairs.find((pair) => pair.own === '');
  const answer = asObject(value);
  const ids = run.world.knowledge.idsIn(template, answer);
  if (own === undefined || ids === undefined || keyOf(template, ids) !== keyOf(template, path))
    return;
  const [former, current] = [own.before, own.after].map(({ entries }) => entries.get(''));
  if (!isObject(former) || !isObject(current)) return;
  const name = changedNames(former, answer).find(
    (each) =>
      isDeepStrictEqual(former[each], current[each]) &&
      answer[each] !== undefined &&
      current[each] !== undefined,
  );
  if (name === undefined) return;
  const [answered, shown] = [answer, current].map((each) => excerptOf(each[name]));
  const get = describeGet(own.after);
  failFor(
    run,
    own.after,
    'a change is stored',
    `the response has ${name} ${answered}, and ${get} has ${shown} as before`,
  );
}

/** Returns the last id in the path of a view. */
const parentOf = ({ before: { path } }: Pair): unknown => Object.values(path).at(-1);

/** Returns the members that an action has changed in its own resource. */
function writtenByAction(pairs: readonly Pair[], { kind }: Change): Json {
  const own = pairs.find((pair) => pair.own === '');
  if (own === undefined || kind !== 'act') return {};
  const [former, current] = [own.before, own.after].map(({ entries }) => asObject(entries.get('')));
  const names = changedNames(former ?? {}, current ?? {});
  return Object.fromEntries(names.map((name) => [name, current?.[name]]));
}

/** Checks that a list with one of the sent items has all of them. */
function checkBatch(run: Run, pairs: readonly Pair[], sent: readonly unknown[]): void {
  if (!sent.every(isObject)) return;
  for (const pair of pairs) {
    const { after } = pair;
    const added = addedKeys(pair).map((key) => after.entries.get(key));
    const missing = sent.filter((item) =>
      added.every((other) => isUnequal(after, asObject(item), other)),
    );
    const message = `${describeGet(after)} lacks ${excerptOf(missing[0])}`;
    const isAny = missing.length < sent.length || added.length === sent.length;
    if (after.isComplete && missing.length > 0 && isAny)
      failFor(run, after, 'a change is stored', message);
  }
}

const isUnequal = ({ outline }: View, sent: Json, item: unknown): boolean =>
  outline === undefined ||
  Object.keys(sent).length === 0 ||
  differenceOf(outline, sent, item) !== undefined;

/** Checks that a deleted resource and what is below it are gone. A service may mark it instead. */
function checkDeleted(run: Run, resource: Resource, pairs: readonly Pair[]): void {
  const check = 'a deleted resource is gone';
  // A deletion may restore the defaults of a singleton.
  const isSingleton = ownNamesOf(resource.template).length === 0;
  const shown = ({ own, after }: Pair) =>
    own !== undefined &&
    after.entries.has(own) &&
    !(isSingleton && !isNotFoundDeclared(after.operation));
  const isMarked = ({ own = '', before, after }: Pair) =>
    !after.operation.responses.some(({ key }) => key === '410') &&
    !isDeepStrictEqual(before.entries.get(own), after.entries.get(own));
  const marked = pairs.some((pair) => shown(pair) && isMarked(pair));
  const left = pairs.find((pair) => shown(pair) && pair.after.response.status < 300);
  const isGone = pairs.some(({ own, after }) => own === '' && after.entries.size === 0);
  if (left !== undefined && !marked)
    failFor(
      run,
      left.after,
      check,
      `${describeGet(left.after)} shows it after the deletion`,
      isGone ? left.after.operation : undefined,
    );
  if (left !== undefined) return;
  const orphans = pairs.find(({ after }) => isBelow(after, resource) && after.entries.size > 0);
  if (orphans !== undefined)
    failFor(
      run,
      orphans.after,
      check,
      `${describeGet(orphans.after)} shows what is below it after the deletion`,
    );
}

/** Checks that all views show a resource with the sent members, and with the defaults of others. */
function checkStored(
  run: Run,
  { operation }: Target,
  pairs: readonly Pair[],
  { sent, filled, outline }: SentBody,
  sentMedia: MediaType | undefined,
): void {
  const check = 'a change is stored';
  const shown = pairs.find(({ own = '', after }) => after.entries.has(own));
  const isOnlyListed = pairs.every(({ own }) => own !== '');
  const state = { ...asObject(shown?.after.entries.get(shown.own ?? '')), ...asObject(sent) };
  const isMerge = /merge-patch/.test(sentMedia?.type ?? '');
  const omitsNull = isMerge || !run.world.knowledge.showsNull;
  for (const { before, after, own } of pairs) {
    if (own === undefined) continue;
    const get = describeGet(after);
    // The response with the resource itself was compared before, and is right.
    const culprit = after.isList && shown?.own === '' ? after.operation : undefined;
    const fail = (name: string, message: string) => failFor(run, after, name, message, culprit);
    const [former, entry] = [before.entries.get(own), after.entries.get(own)];
    if (entry === undefined && !after.entries.has(own)) {
      if (!after.isList)
        fail(check, `${get} has the status ${after.response.status} after the request`);
      // A list may show resources in some states only.
      const isWhole =
        after.entries.size === 0 ||
        [...after.entries.values()].some((other) => isAlike(after, other, state));
      if (after.isComplete && (shown !== undefined || isOnlyListed) && isWhole)
        fail('a stored resource is listed', `${get} lacks ${own} after the request`);
      continue;
    }
    const failIfDifferent = (name: string, expected: unknown, verb = 'was sent as') => {
      // A list may leave out members of all its items.
      const compared = after.isList && !isOnlyListed ? listedMembers(after, expected) : expected;
      const difference = after.outline && differenceOf(after.outline, compared, entry, omitsNull);
      if (difference !== undefined)
        fail(name, `${difference.replace('was sent as', verb)} in ${get}`);
    };
    failIfDifferent(check, sent);
    const bytes = typeof sent === 'string' ? Buffer.from(sent) : sent;
    const type = after.response.headers['content-type']?.split(';')[0] ?? '';
    const declared = declaredFor(after.operation, after.response.status)?.media ?? [];
    const isShownAsSent = declared.some((media) => media.type === sentMedia?.type);
    if (bytes instanceof Uint8Array && isShownAsSent && !after.isList && type !== sentMedia?.type)
      fail(check, `the media type was sent as ${sentMedia?.type}, and is ${type} in ${get}`);
    const isSameType = !after.isList && type === sentMedia?.type && !isJsonType(type);
    if (bytes instanceof Uint8Array && isSameType && !after.response.body.equals(bytes))
      fail(check, `another text or other bytes than were sent are in ${get}`);
    if (outline === undefined || !isObject(sent)) continue;
    if (operation.method === 'patch')
      failIfDifferent(
        'a patch changes nothing that it does not name',
        unchangedMembers(outline, former, sent, isMerge),
        'was',
      );
    else
      failIfDifferent(
        'a default is applied',
        unsentDefaults(filled, sent, entry),
        'has the default',
      );
    const [tag, other] = [after, before].map(({ response }) => response.headers.etag);
    const isChanged = Object.keys(sent).some(
      (name) => !isDeepStrictEqual(asObject(former)[name], asObject(entry)[name]),
    );
    if (former !== undefined && !after.isList && tag !== undefined && tag === other && isChanged)
      run.fail(
        'an entity tag changes with the resource',
        `the ETag is ${tag} before and after the change`,
      );
  }
}

/** Returns the members that at least one item of a list has. */
function listedMembers({ entries }: View, expected: unknown): Json {
  const names = new Set([...entries.values()].flatMap((item) => Object.keys(asObject(item))));
  const members = Object.entries(asObject(expected));
  return Object.fromEntries(members.filter(([name]) => names.has(name)));
}

/** Checks that a new resource without an id is in the list of its collection. */
function checkAdded(run: Run, { template }: Resource, pairs: readonly Pair[], sent: Json): void {
  const collection = collectionPathOf(template);
  const { after } = pairs.find((pair) => pair.after.operation.path === collection) ?? {};
  if (!after?.isList || !after.isComplete || Object.keys(sent).length === 0) return;
  if ([...after.entries.values()].every((item) => isUnequal(after, sent, item)))
    failFor(run, after, 'a stored resource is listed', `${describeGet(after)} lacks what was sent`);
}

/** Returns true if an item has the same states as a sent resource: its constants and booleans. */
const isAlike = ({ outline }: View, item: unknown, sent: Json): boolean =>
  Object.entries(sent).every(
    ([name, value]) =>
      (typeof value !== 'boolean' && outline?.member(name).constants.length === 0) ||
      isDeepStrictEqual(asObject(item)[name], value),
  );
