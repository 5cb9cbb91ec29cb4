import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  escapePointerToken,
  isObject,
  type Operation,
  type Outline,
  stringifyJson,
  valueAt,
} from 'openapi-document';
import { CALLERS } from './callers.ts';
import { type ReceivedResponse, resourceOf } from './check-response.ts';
import { differenceOf, excerptOf, isEqualScalar, isTime, onlyObjectIn } from './compare.ts';
import { NEW_ID, perform } from './effects.ts';
import { collectionPathOf, idParameterOf, keyOf, normalizedName, resourcePathOf } from './names.ts';
import { partOf, type RequestValues, sentBodyOf, withValue } from './parts.ts';
import { isRepeatKey } from './requests.ts';
import { isMock } from './send.ts';
import { readView, readViews } from './views.ts';
import { hasIfMatch, isGone, isSuccess, type Run, type Target } from './world.ts';

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
  const others = await run.asOther(() =>
    run.values(target, target.requests.choose(random), { isNew: true }),
  );
  const draft = { values: withValue(others, key, partOf(values, key)) };
  const { response } = await run.asOther(() => run.sendAndLearn(target, draft));
  const answer = resourceOf(target, response);
  const difference =
    response.status < 300 && answer.outline
      ? differenceOf(answer.outline, sentBodyOf(target, others).sent, answer.value)
      : undefined;
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
  const name = idParameterOf(template);
  const id = path[name];
  const isChosen = isEqualScalar(id, knowledge.idsIn(template, asObject(values.body))?.[name]);
  const taken = requests.withTakenId(await at(requests.choose(random)), id, knowledge);
  let meansId = false;
  if (isChosen && taken !== undefined) {
    const before = await run.read(template, path);
    const { response: wrong } = await perform(run, target, { values: taken });
    const after = await run.read(template, path);
    // A 200 may be the response to a change.
    const isReplaced = wrong.status === 201 && !isDeepStrictEqual(before?.body, after?.body);
    const isDeclared = operation.responses.some(({ key }) => key === '409');
    const message = `the status is ${wrong.status} for the id of another resource`;
    const isMalformed = isDeclared && [400, 422].includes(wrong.status);
    if (isMalformed || (wrong.status < 300 && (isDeclared || isReplaced)))
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

/** The number of `readOnly` members that are sent. */
const MAX_READ_ONLY = 5;

/** Checks that a service does not store a `readOnly` member of a request (OpenAPI 3.1 §4.8.24). */
export async function checkReadOnly(run: Run, target: Target): Promise<void> {
  const { requests } = target;
  const values = await run.values(target, requests.simplest(), { isNew: true });
  const send = async (body: unknown) => {
    const { response } = await run.sendAndLearn(target, { values: { ...values, body } });
    return { response, ...resourceOf(target, response) };
  };
  const { body } = values;
  if (!isObject(body)) return;
  const wrapper = onlyObjectIn(body);
  const { response: first, outline, value } = await send(body);
  if (first.status >= 300 || outline === undefined) return;
  const members = Object.entries(asObject(value))
    .filter(([name]) => outline.member(name).isOneWay)
    .slice(0, MAX_READ_ONLY);
  for (const [name, shown] of members) {
    const other = otherThan(shown, outline.member(name));
    if (other === undefined) continue;
    run.exchanges.length = 0;
    const { response, value: second } = await send(
      wrapper && !outline.member(wrapper.name).isDescribed
        ? { [wrapper.name]: { ...wrapper.inner, [name]: other } }
        : { ...body, [name]: other },
    );
    if (response.status < 300 && isEqualScalar(asObject(second)[name], other))
      run.fail(
        'a readOnly member is not stored',
        `${name} was sent as ${excerptOf(other)}, and the response shows this value`,
      );
  }
}

/** Returns another value of the same kind. */
function otherThan(value: unknown, { constants, formats }: Outline): unknown {
  if (constants.length > 0) return constants.find((each) => each !== value);
  if (typeof value === 'number') return value + 7;
  if (typeof value !== 'string') return undefined;
  if (isTime(value)) return '2001-02-03T04:05:06Z';
  if (formats.includes('uuid')) return '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
  return formats.length === 0 ? `${value}x` : undefined;
}

/** Checks that a resource is shown and changed below its own parent only. */
export async function checkPlaces(run: Run, target: Target): Promise<void> {
  const { knowledge, random } = run.world;
  const { requests, operation } = target;
  const isRead = operation.method === 'get';
  const template =
    (isRead ? knowledge.itemOf(operation.path) : undefined) ?? resourcePathOf(operation.path);
  const parent = resourcePathOf(collectionPathOf(template));
  const creators = knowledge.creatorsOf(template);
  // Below another parent, a client may have chosen the same id.
  const isChosen = isRead && creators.every(({ method }) => method === 'put');
  if (parent === '' || creators.includes(operation) || isChosen) return;
  const other = (await run.create(parent))?.path;
  const path = (await run.create(template))?.path;
  if (path === undefined || other === undefined) return;
  const wrong = { ...path, ...other };
  const fail = (message: string, response: ReceivedResponse) =>
    run.fail('a resource is below its own parent only', message, undefined, response);
  if (isRead) {
    const [own, shown] = [
      await readView(run, operation, path),
      await readView(run, operation, wrong),
    ];
    const key = own?.isList ? (keyOf(template, path) ?? '') : '';
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
  const remover = knowledge.operations.find(
    ({ method, path }) => method === 'delete' && path === parent,
  );
  const removing = remover && targetOf(remover);
  const isDeclared = operation.responses.some(({ key }) => /^4(04|10|XX)$/.test(key));
  if (!isStoring || !isDeclared || removing === undefined) return;
  const within = (await run.create(parent))?.path;
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
 * Checks that a resource that is created after a deletion is new: its id is not used again, or if
 * clients choose ids, nothing is left below it.
 */
export async function checkNewAfterDeletion(run: Run, target: Target): Promise<void> {
  const { knowledge, targetOf } = run.world;
  const template = target.operation.path;
  const [creator] = knowledge.creatorsOf(template).flatMap((each) => targetOf(each) ?? []);
  if (target.operation.method !== 'delete' || creator === undefined) return;
  const path = (await run.create(template))?.path;
  if (path === undefined) return;
  const below = knowledge.templates.filter((each) =>
    collectionPathOf(each).startsWith(`${template}/`),
  );
  for (const child of below) await run.create(child, { within: path });
  const viewOf = async (child: string) => {
    const reader = knowledge.readerOf(collectionPathOf(child));
    return reader && (await readView(run, reader, path));
  };
  const former = await Promise.all(below.map(viewOf));
  const values = await run.values(target, target.requests.simplest(), { within: path });
  const { response } = await run.sendAndLearn(target, { values });
  if (response.status >= 300) return;
  const others = await run.values(creator, creator.requests.simplest(), { within: path });
  const taken = creator.requests.withTakenId(others, path[idParameterOf(template)], knowledge);
  const again = { values: taken ?? others };
  const { response: created, paths } = await run.sendAndLearn(creator, again);
  const id = keyOf(template, path);
  if (created.status >= 300 || id === undefined) return;
  if (keyOf(template, paths.get(template) ?? {}) !== id) return;
  if (creator.operation.path !== template && taken === undefined)
    run.fail(NEW_ID, `the id ${id} is that of a deleted resource`, creator.operation, created);
  for (const [index, child] of below.entries()) {
    const view = await viewOf(child);
    // A service may create others with the new resource.
    const before = [...(former[index]?.entries.values() ?? [])];
    const left = view?.entries
      .values()
      .find((item) => view.isList && before.some((other) => isDeepStrictEqual(item, other)));
    if (left !== undefined)
      run.fail(
        'a deleted resource is gone',
        `a new resource with its id has ${excerptOf(left)} of it`,
        undefined,
        view?.response,
      );
  }
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
    const { response: second } = await perform(run, target, { values: sent });
    if (second.status >= 300) continue;
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
  if (part === undefined || template !== operation.path) return;
  const values = await run.values(target, requests.choose(run.world.random), { isNew: true });
  const tagOf = async () => (await run.read(template, values.path))?.response.headers.etag;
  const tag = await tagOf();
  const draft = { values: withValue(values, part, tag) };
  if (tag === undefined || !requests.isValid(draft.values)) return;
  const isDeletion = operation.method === 'delete';
  const first = isDeletion ? undefined : await perform(run, target, draft);
  const current = isDeletion ? tag : await tagOf();
  if (first?.response.status === 412 && current === tag && !tag.startsWith('W/'))
    run.fail('the current entity tag is accepted', `the status is 412 for If-Match: ${tag}`);
  if (first && (first.response.status >= 300 || current === tag)) return;
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
