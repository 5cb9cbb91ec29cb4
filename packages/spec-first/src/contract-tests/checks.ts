import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  escapePointerToken,
  isObject,
  type Operation,
  stringifyJson,
  valueAt,
} from 'openapi-document';
import { parsedBody, type ReceivedResponse } from './check-response.ts';
import { differenceOf, excerptOf, isEqualScalar } from './compare.ts';
import { perform } from './effects.ts';
import { idIn } from './knowledge.ts';
import { collectionPathOf, idParameterOf, normalizedName, resourcePathOf } from './names.ts';
import { mediaOf } from './paging.ts';
import { partOf, type RequestValues, withValue } from './parts.ts';
import { isRepeatKey } from './requests.ts';
import { isMock } from './send.ts';
import { readView, readViews } from './views.ts';
import { hasIfMatch, isGone, isSuccess, type Run, type Target } from './world.ts';

/** The name of the checks of another caller. */
export const CALLERS = 'a resource belongs to its caller';

/** Checks that a POST with the key of another operation or parent has its own effect. */
export async function checkKey(run: Run, target: Target): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const key = target.requests.parameters.find(isRepeatKey);
  if (key === undefined || target.operation.method !== 'post') return;
  const values = await run.values(target, target.requests.fullest, { isNew: true });
  await perform(run, target, { values });
  for (const operation of knowledge.operations.filter(({ method }) => method === 'post')) {
    const other = targetOf(operation);
    const isElsewhere = operation.id !== target.operation.id || operation.template.names.length > 0;
    if (!isElsewhere || !other?.requests.parameters.some(isRepeatKey)) continue;
    const chosen = await run.values(other, other.requests.choose(random), { isNew: true });
    await perform(run, other, { values: withValue(chosen, key, partOf(values, key)) });
  }
  if (target.otherSecrets === undefined) return;
  run.isOther = true;
  const others = await run.values(target, target.requests.choose(random), { isNew: true });
  const { body } = others;
  const draft = { values: withValue(others, key, partOf(values, key)) };
  const { response } = await run.sendAndLearn(target, draft);
  const outline = response.status < 300 ? mediaOf(target, response)?.outline : undefined;
  const difference = outline && differenceOf(outline, body, parsedBody(response));
  if (difference !== undefined && !isMock(response))
    run.fail(CALLERS, `${difference} in the response to another caller with the same key`);
}

/**
 * Checks that a POST with the values or the id of another resource does not replace it, and that
 * it refuses the id if it declares 409.
 *
 * @throws {CheckError}
 */
export async function checkTaken(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.itemOf(operation.path);
  if (operation.method !== 'post' || template === undefined) return;
  const values = await run.values(target, requests.full(random), { isNew: true });
  const { response, paths } = await perform(run, target, { values });
  if (response.status >= 300) return;
  const at = (chosen: RequestValues) => run.values(target, chosen, { within: values.path });
  const path = paths.get(template) ?? {};
  const id = path[idParameterOf(template)];
  const isChosen = isEqualScalar(id, idIn(template, asObject(values.body)));
  const taken = requests.withTakenId(await at(requests.choose(random)), id);
  let meansId = false;
  if (isChosen && taken !== undefined) {
    const before = await run.read(template, path);
    const { response: wrong } = await perform(run, target, { values: taken });
    const after = await run.read(template, path);
    // A 200 may be the response to a change.
    const isReplaced = wrong.status === 201 && !isDeepStrictEqual(before?.body, after?.body);
    const isDeclared = operation.responses.some(({ key }) => key === '409');
    const message = `the status is ${wrong.status} for the id of another resource`;
    if (wrong.status < 300 && (isDeclared || isReplaced))
      run.fail('what is taken is refused', message, undefined, wrong);
    meansId = wrong.status === 409;
  }
  const again = await at(values);
  const second = await perform(run, target, { values: again });
  const others = second.paths.get(template);
  // A 409 for the id, such as `This note exists.`, says nothing of a member `note`.
  if (!meansId && others !== undefined && !isDeepStrictEqual(others, path))
    failIfUnique(run, operation, [values.body, again.body], second.response);
}

/**
 * Fails if the description of 409 names a text that two resources share.
 *
 * @param creator the operation that creates the resources.
 * @param bodies the bodies of the requests that were accepted.
 */
function failIfUnique(
  run: Run,
  creator: Operation,
  bodies: readonly unknown[],
  response: ReceivedResponse,
): void {
  const { description } = creator.responses.find(({ key }) => key === '409')?.source ?? {};
  const words = new Set(`${description}`.split(/[^\p{L}\p{N}_]+/u).map(normalizedName));
  const [one, other] = bodies.map(asObject);
  const name = Object.keys(one ?? {}).find(
    (each) =>
      typeof one?.[each] === 'string' &&
      one[each] === other?.[each] &&
      words.has(normalizedName(each)) &&
      creator.requestBody?.media.every(
        ({ outline }) => outline.member(each).constants.length === 0,
      ),
  );
  const value = excerptOf(one?.[name ?? '']);
  const message = `two resources have the ${name} ${value}, but 409 means: ${description}`;
  if (name !== undefined && response.status < 300)
    run.fail('what is taken is refused', message, undefined, response);
}

/** Checks that a PUT with the values of another resource is refused if it declares 409. */
export async function checkTakenByChange(run: Run, target: Target): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const { requests, operation } = target;
  const creators = knowledge.creatorsOf(operation.path).filter(({ method }) => method === 'post');
  const [creator] = creators.flatMap((each) => targetOf(each) ?? []);
  const isDeclared = operation.responses.some(({ key }) => key === '409');
  if (operation.method !== 'put' || !isDeclared || creator === undefined) return;
  const changed = await run.values(target, requests.simplest(), { isNew: true });
  const names = creator.operation.template.names.map((name) => [name, changed.path[name]]);
  const within = Object.fromEntries(names);
  const added = await run.values(creator, creator.requests.full(random), { within });
  const { response: first } = await run.sendAndLearn(creator, { values: added });
  const values = { ...changed, body: added.body };
  if (first.status >= 300 || !requests.isValid(values)) return;
  const { response } = await run.sendAndLearn(target, { values });
  failIfUnique(run, creator.operation, [added.body, values.body], response);
}

/** Checks that a resource is shown and changed below its own parent only. */
export async function checkPlaces(run: Run, target: Target): Promise<void> {
  const { knowledge, random } = run.world;
  const { requests, operation } = target;
  const isRead = operation.method === 'get';
  const template =
    (isRead ? knowledge.itemOf(operation.path) : undefined) ?? resourcePathOf(operation.path);
  const parent = resourcePathOf(collectionPathOf(template));
  const isCreator = knowledge.creatorsOf(template).includes(operation);
  if (parent === '' || isCreator) return;
  const other = (await run.create(parent))?.get(parent);
  const path = (await run.create(template))?.get(template);
  if (path === undefined || other === undefined) return;
  const wrong = { ...path, ...other };
  const fail = (message: string, response: ReceivedResponse) =>
    run.fail('a resource is below its own parent only', message, undefined, response);
  if (isRead) {
    const [own, shown] = [
      await readView(run, operation, path),
      await readView(run, operation, wrong),
    ];
    const key = own?.isList ? String(path[idParameterOf(template)]) : '';
    const entity = own?.entries.get(key);
    if (shown && entity !== undefined && isDeepStrictEqual(entity, shown.entries.get(key)))
      fail(`it shows ${excerptOf(entity)} of another parent`, shown.response);
    return;
  }
  const before = await run.read(template, path);
  if (before === undefined || !isSuccess(before)) return;
  const values = await run.values(target, requests.choose(random), { within: path });
  const draft = { values: { ...values, path: { ...values.path, ...other } } };
  const response = await run.sendAndCheck(target, draft);
  const after = await run.read(template, path);
  if (response.status < 300 && !isDeepStrictEqual(after?.body, before.body))
    fail(`the status is ${response.status} for a resource of another parent`, response);
}

/** Checks that nothing is created below a deleted resource, if the operation declares 404. */
export async function checkDeletedParent(run: Run, target: Target): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const { requests, operation } = target;
  const template = knowledge.subjectOf(operation) ?? '';
  const parent = resourcePathOf(collectionPathOf(template));
  const isStoring =
    /^(post|put)$/.test(operation.method) &&
    [template, collectionPathOf(template)].includes(operation.path);
  const isDeclared = operation.responses.some(({ key }) => /^4(04|10|XX)$/.test(key));
  const remover = knowledge.operations.find(
    ({ method, path }) => method === 'delete' && path === parent,
  );
  const removing = remover && targetOf(remover);
  if (!isStoring || !isDeclared || removing === undefined) return;
  const within = (await run.create(parent))?.get(parent);
  if (within === undefined) return;
  const values = await run.values(target, requests.choose(random), { within });
  const removal = await run.values(removing, removing.requests.simplest(), { within });
  await run.sendAndLearn(removing, { values: removal });
  const isAbsent = async () => {
    const reading = await run.read(parent, within);
    return reading !== undefined && isGone(reading);
  };
  if (!(await isAbsent())) return;
  const response = await run.sendAndCheck(target, { values });
  // A service may create the parent, too.
  const isAccepted = response.status < 300 && response.status !== 202 && !isMock(response);
  if (isAccepted && (await isAbsent()))
    run.fail(
      'nothing is created below a deleted resource',
      `the status is ${response.status} below a deleted resource`,
      undefined,
      response,
    );
}

/**
 * Checks that another caller does not change a singleton of this one. A service whose callers share
 * any other resource may share singletons, too.
 */
export async function checkSingleton(run: Run, target: Target): Promise<void> {
  const { knowledge, random } = run.world;
  const { requests, operation, otherSecrets } = target;
  const { path } = operation;
  const isSingleton = operation.template.names.length === 0 && knowledge.readerOf(path);
  if (otherSecrets === undefined || operation.method === 'post' || !isSingleton) return;
  let isSeparated = false;
  for (const template of knowledge.templates) {
    const [resource] = knowledge.pathsOf(template);
    if (resource === undefined) continue;
    const own = await run.read(template, resource);
    if (own === undefined || !isSuccess(own)) continue;
    run.isOther = true;
    const other = await run.read(template, resource);
    run.isOther = false;
    if (other !== undefined && isSuccess(other)) return;
    isSeparated = true;
  }
  if (!isSeparated) return;
  const send = async () => {
    const values = await run.values(target, requests.full(random));
    return run.send(target, { values });
  };
  run.exchanges.length = 0;
  await send();
  const before = await run.read(path, {});
  run.isOther = true;
  const { status } = await send();
  run.isOther = false;
  const after = await run.read(path, {});
  if (status < 300 && !isDeepStrictEqual(before?.body, after?.body))
    run.fail(CALLERS, 'a request of another caller changes what this caller reads');
}

/** Sends a PUT or a PATCH again with one other member. @throws {CheckError} */
export async function changeMember(run: Run, target: Target, values: RequestValues): Promise<void> {
  const { requests } = target;
  const { random } = run.world;
  const pointers = pointersIn(values.body);
  const pointer = pointers[random() % pointers.length] ?? '';
  const member = random() % 2 === 1 ? undefined : valueAt(requests.full(random).body, pointer);
  const changed = requests.withChange(values, pointer, member) ?? values;
  const sent = await run.values(target, changed, { within: values.path });
  await perform(run, target, { values: sent });
}

/** The number of times that PUT removes members: alternately inside of objects, and all. */
const REMOVALS = 6;

/** Checks that PUT removes what it does not send. @throws {CheckError} */
export async function checkRemoval(run: Run, target: Target): Promise<void> {
  const { requests, operation } = target;
  const { knowledge, random } = run.world;
  if (operation.method !== 'put' || knowledge.subjectOf(operation) !== operation.path) return;
  run.effects = 'own';
  const { path } = await run.values(target, requests.simplest(), { isNew: true });
  /** The removed values that were still shown, by the pointer of the member. */
  const kept = new Map<string, Set<unknown>>();
  for (let round = 0; round < REMOVALS; round += 1) {
    run.exchanges.length = 0;
    const full = await run.values(target, requests.full(random), { within: path });
    const { response } = await perform(run, target, { values: full });
    if (response.status >= 300) continue;
    let values = full;
    for (const pointer of pointersIn(full.body)) {
      const isInner = pointer.lastIndexOf('/') > 0;
      const isKept = round % 2 === 0 && isObject(valueAt(full.body, pointer));
      if (!isKept || isInner) values = requests.withChange(values, pointer, undefined) ?? values;
    }
    const sent = await run.values(target, values, { within: path });
    await perform(run, target, { values: sent });
    const [view] = await readViews(run, { template: operation.path, path }, false);
    for (const pointer of pointersIn(full.body)) {
      const former = stringifyJson(valueAt(full.body, pointer));
      const shown = stringifyJson(valueAt(view?.entries.get(''), pointer));
      if (valueAt(sent.body, pointer) !== undefined || shown !== former) continue;
      // A service may have a default of its own, which is one value.
      const values = (kept.get(pointer) ?? new Set()).add(former);
      kept.set(pointer, values);
      if (values.size > 1)
        run.fail(
          'PUT replaces the whole resource',
          `${pointer} is still ${former}, which PUT did not send`,
        );
    }
  }
}

/** Lists the pointers of the members of a value, and of the members inside of them. */
const pointersIn = (value: unknown): string[] =>
  Object.entries(asObject(value)).flatMap(([name, member]) => {
    const pointer = `/${escapePointerToken(name)}`;
    const inner = Object.keys(asObject(member)).map((each) => `/${escapePointerToken(each)}`);
    return [pointer, ...inner.map((each) => pointer + each)];
  });

/**
 * Checks that `If-Match` with the current entity tag is accepted, and with the former one after a
 * change is refused (RFC 9110 §13.1.1).
 *
 * @throws {CheckError}
 */
export async function checkEntityTags(run: Run, target: Target): Promise<void> {
  const part = hasIfMatch(target);
  const { requests, operation } = target;
  const template = run.world.knowledge.subjectOf(operation);
  if (part === undefined || operation.method === 'delete' || template !== operation.path) return;
  const values = await run.values(target, requests.choose(run.world.random), { isNew: true });
  const tagOf = async () => (await run.read(template, values.path))?.response.headers.etag;
  const tag = await tagOf();
  const draft = { values: withValue(values, part, tag) };
  if (tag === undefined || !requests.isValid(draft.values)) return;
  const first = await perform(run, target, draft);
  const current = await tagOf();
  if (first.response.status === 412 && current === tag && !tag.startsWith('W/'))
    run.fail('the current entity tag is accepted', `the status is 412 for If-Match: ${tag}`);
  if (first.response.status >= 300 || current === tag) return;
  // Of the same form as the current one.
  const unknown = current?.replace(/[^"]+(?="?$)/, (text) => text + text);
  for (const [label, wrong] of Object.entries({ stale: tag, unknown })) {
    const sent = withValue(values, part, wrong);
    if (wrong === undefined || wrong === current || !requests.isValid(sent)) continue;
    const { response } = await perform(run, target, { values: sent });
    const message = `the status is ${response.status} for the ${label} entity tag in If-Match`;
    if (response.status < 300)
      run.fail('a wrong entity tag is rejected', message, undefined, response);
  }
}
