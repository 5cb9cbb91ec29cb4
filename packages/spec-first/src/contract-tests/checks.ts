import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  escapePointerToken,
  type Json,
  mapMembers,
  stringifyJson,
  valueAt,
} from 'openapi-document';
import { changedWith, excerptOf } from './compare.ts';
import { perform, type Step } from './effects.ts';
import { idParameterOf } from './names.ts';
import { partOf, type RequestPart, type RequestValues, withValue } from './parts.ts';
import { isRepeatKey } from './requests.ts';
import { keyIn, readViews } from './views.ts';
import { hasIfMatch, isGone, isSuccess, type Run, type Target } from './world.ts';

/** The number of requests of which one is repeated. */
const MAX_TRIES = 12;

/** The number of requests that are made until one has the optional key. */
const MAX_CHOICES = 50;

/**
 * Checks that a repeated PUT, and a POST with the same idempotency key, succeed again, and that
 * other requests with this key have their own effect.
 */
export async function checkRepetition(run: Run, target: Target): Promise<void> {
  const { requests, operation } = target;
  const { random, knowledge } = run.world;
  const template = knowledge.subjectOf(operation) ?? '';
  const key = requests.parameters.find(isRepeatKey);
  const isPut = operation.method === 'put' && hasIfMatch(target) === undefined;
  if (!(isPut && template === operation.path) && !(key && operation.method === 'post')) return;
  const hasKey = (sent: RequestValues) => key === undefined || partOf(sent, key) !== undefined;
  const choices = Array.from({ length: MAX_CHOICES }, () => requests.choose(random)).filter(hasKey);
  for (const chosen of choices.slice(0, MAX_TRIES)) {
    run.exchanges.length = 0;
    const values = await run.values(target, chosen, { isNew: true });
    const first = await perform(run, target, { values });
    // A resource may be in a state that refuses the request.
    if (first.response.status >= 300) continue;
    await checkRepeated(run, target, values, first);
    if (key !== undefined) await checkKey(run, target, values, key);
    return;
  }
}

async function checkRepeated(run: Run, target: Target, values: RequestValues, first: Step) {
  const template = run.knowledge.subjectOf(target.operation) ?? '';
  const { response, paths } = await perform(run, target, { values }, { repeated: true });
  const check = 'a repeated request changes nothing';
  if (response.status >= 400 && response.status !== 429)
    run.fail(check, `the status of the repeated request is ${response.status}`);
  const [one, other] = [first.paths.get(template), paths.get(template)];
  if (one !== undefined && other !== undefined && !isDeepStrictEqual(one, other))
    run.fail(check, `the repeated request created ${stringifyJson(Object.values(other))}`);
}

/** Checks requests with the key of another operation, of another parent, and of another caller. */
async function checkKey(run: Run, target: Target, values: RequestValues, key: RequestPart) {
  const { knowledge, random, targetOf } = run.world;
  const posts = knowledge.operations.filter(({ method }) => method === 'post');
  const others = posts
    .flatMap((each) => targetOf(each) ?? [])
    .filter(({ requests }) => requests.parameters.some(isRepeatKey));
  for (const other of others) {
    if (other === target && target.operation.template.names.length === 0) continue;
    const chosen = await run.values(other, other.requests.choose(random), { isNew: true });
    await perform(run, other, { values: withValue(chosen, key, partOf(values, key)) });
  }
  if (target.otherSecrets === undefined) return;
  run.isOther = true;
  const chosen = await run.values(target, values, { isNew: true });
  const sent = withValue(chosen, key, partOf(values, key));
  const { response, paths } = await run.sendAndLearn(target, { values: sent });
  run.isOther = false;
  const template = knowledge.subjectOf(target.operation) ?? '';
  const created = paths.get(template);
  if (created === undefined || response.status >= 300) return;
  const reading = await run.read(template, created);
  if (reading !== undefined && isSuccess(reading)) {
    run.isOther = true;
    const own = await run.read(template, created);
    run.isOther = false;
    if (own === undefined || isSuccess(own)) return;
    run.fail(
      'a repeated request changes nothing',
      'another caller with the same Idempotency-Key got the response of the first caller',
    );
  }
  knowledge.ignore(template, created);
}

/** Descriptions of a conflict with a value that must be unique. */
const UNIQUE = /taken|exists|unique|duplicate|registered|in use/i;

/**
 * Checks that a POST with the values or the id of another resource does not replace it, and that an
 * operation with a declared conflict refuses the values of another resource.
 *
 * @throws {CheckError}
 */
export async function checkTaken(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.subjectOf(operation) ?? '';
  const conflict = operation.responses.find(({ key }) => key === '409');
  const isItem = knowledge.itemOf(operation.path) === template;
  if (operation.method === 'post' ? !isItem : template !== operation.path) return;
  const values = await run.values(target, requests.choose(random), { isNew: true });
  const { response, paths } = await perform(run, target, { values });
  if (response.status >= 300) return;
  const path = { ...values.path, ...paths.get(template) };
  const at = (chosen: RequestValues, within: Json) => run.values(target, chosen, { within });
  const taken = isItem
    ? requests.withTakenId(
        await at(requests.choose(random), values.path),
        path[idParameterOf(template)],
      )
    : undefined;
  // A conflict may be that of an idempotency key.
  const hasKey = requests.parameters.some(isRepeatKey);
  const isUnique =
    conflict && !hasKey && UNIQUE.test(String(asObject(conflict.source).description));
  const others: RequestValues[] = taken === undefined ? [] : [taken];
  if (isItem) {
    // An id may be made from a text.
    const louder = mapMembers(values.body, (member) =>
      typeof member === 'string' ? member.toUpperCase() : member,
    );
    const similar = requests.withChange(values, '', louder);
    for (const chosen of [values, similar ?? values]) others.push(await at(chosen, values.path));
  }
  if (isUnique && /^(put|patch)$/.test(operation.method)) {
    const other = (await run.create(template))?.get(template);
    if (other) others.push(await at(values, other));
  }
  for (const other of others) {
    const step = await perform(run, target, { values: other });
    const isOther = !isDeepStrictEqual({ ...other.path, ...step.paths.get(template) }, path);
    const isSame = isDeepStrictEqual(other.body, values.body);
    const isRefused = other === taken ? conflict : isUnique && isSame && isOther;
    if (isRefused && step.response.status < 300)
      run.fail(
        'what is taken is refused',
        `the status is ${step.response.status} for values of another resource`,
      );
  }
}

/** The number of values of which one differs from that of another request. */
const MAX_VALUES = 10;

/**
 * Changes each member of a resource alone, and removes it by PUT. Checks that the resource has the
 * new value, or none, and that its entity tag changes.
 *
 * @throws {CheckError}
 */
export async function checkMembers(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.subjectOf(operation);
  if (!/^(put|patch)$/.test(operation.method) || template !== operation.path) return;
  run.effects = 'own';
  const first = await run.values(target, requests.full(random), { isNew: true });
  const { path } = first;
  const at = (values: RequestValues) => run.values(target, values, { within: path });
  if ((await run.sendAndLearn(target, { values: first })).response.status >= 300) return;
  const shownAt = async (pointer: string) => {
    const [view] = await readViews(run, { template, path }, false);
    return valueAt(view?.entries.get(keyIn(view, { template, path }) ?? ''), pointer);
  };
  for (const pointer of pointersIn(first.body)) {
    run.exchanges.length = 0;
    const kept: unknown[] = [];
    const [former] = [valueAt(first.body, pointer)];
    const others = Array.from({ length: MAX_VALUES }, () => requests.choose(random).body)
      .map((body) => valueAt(body, pointer))
      .filter((value) => value !== undefined && !isDeepStrictEqual(value, former));
    for (const value of [...others.slice(0, 2), null]) {
      const alone = operation.method === 'patch' && requests.withOnly(first, pointer, value);
      const changed = alone || requests.withChange(first, pointer, value);
      if (changed === undefined) continue;
      const { response } = await perform(run, target, { values: await at(changed) });
      const without = requests.withChange(first, pointer, undefined);
      if (response.status >= 300) break;
      if (operation.method === 'patch' || without === undefined) continue;
      if ((await perform(run, target, { values: await at(without) })).response.status >= 300) break;
      // A service may have a default of its own, which is one value.
      if (value !== null && isDeepStrictEqual(await shownAt(pointer), value)) kept.push(value);
    }
    if (new Set(kept.map((value) => stringifyJson(value))).size > 1)
      run.fail(
        'PUT replaces the whole resource',
        `${pointer} is still ${stringifyJson(kept.at(-1))}, which PUT did not send`,
      );
  }
}

/** Lists the pointers of the members of a value, and of the members inside of them. */
const pointersIn = (value: unknown): string[] =>
  Object.entries(asObject(value)).flatMap(([name, member]) => {
    const pointer = `/${escapePointerToken(name)}`;
    const inner = Object.keys(asObject(member)).map((each) => `/${escapePointerToken(each)}`);
    return [pointer, ...inner.map((each) => pointer + each)];
  });

/** Words of an operation on a resource of its caller. */
const OWN = /\b(my|me|own|your|callers?|current user|profile|account)\b/i;

/** Checks that a change of a resource of the caller does not change that of another caller. */
export async function checkCallers(run: Run, target: Target): Promise<void> {
  const { operation, requests, otherSecrets } = target;
  const { random, knowledge } = run.world;
  const { path, source, template } = operation;
  const { summary, description } = asObject(source);
  const isOwn = OWN.test(`${path.replaceAll('/', ' ')} ${summary} ${description}`);
  const isSingleton = knowledge.subjectOf(operation) === path && template.names.length === 0;
  if (otherSecrets === undefined || !isOwn || !isSingleton) return;
  const readOther = async () => {
    run.isOther = true;
    const reading = await run.read(path, {});
    run.isOther = false;
    return reading && isSuccess(reading) ? reading.body : undefined;
  };
  const before = await readOther();
  const values = await run.values(target, requests.choose(random));
  if (before === undefined) return;
  await run.send(target, { values });
  const [former, current] = [asObject(before), asObject(await readOther())];
  const name = changedWith(undefined, asObject(values.body), former, current);
  if (name !== undefined)
    run.fail(
      'other resources stay as they are',
      `GET ${path} of another caller has ${name} ${excerptOf(current[name])} after the request`,
    );
}

/** Checks that nothing can be written below a deleted resource. @throws {CheckError} */
export async function checkOrphans(run: Run, target: Target): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const { operation, requests } = target;
  const template = knowledge.subjectOf(operation) ?? '';
  if (operation.method !== 'delete' || template !== operation.path) return;
  const values = await run.values(target, requests.choose(random), { isNew: true });
  const { path } = values;
  const below = knowledge.operations.filter(
    (other) => /^(post|put|patch)$/.test(other.method) && other.path.startsWith(`${template}/`),
  );
  const drafts: [Target, RequestValues][] = [];
  for (const other of below.flatMap((each) => targetOf(each) ?? [])) {
    const { names } = other.operation.template;
    const created = knowledge.subjectOf(other.operation);
    if (created !== undefined && names.length > operation.template.names.length)
      await run.create(created, { within: path });
    const [known = {}] = knowledge.pathsOf(created ?? '');
    const chosen = { ...known, ...path };
    drafts.push([
      other,
      await run.values(other, other.requests.choose(random), { within: chosen }),
    ]);
  }
  const { response } = await run.sendAndLearn(target, { values });
  const reading = response.status < 300 ? await run.read(template, path) : undefined;
  if (reading === undefined || !isGone(reading)) return;
  for (const [other, draft] of drafts) {
    const { status } = await run.sendAndCheck(other, { values: draft });
    if (status < 300)
      run.fail('a deleted resource is gone', `the status is ${status} below it after the deletion`);
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
export async function checkEntityTags(run: Run, target: Target): Promise<void> {
  const part = hasIfMatch(target);
  const { requests, operation } = target;
  if (part === undefined || run.world.knowledge.subjectOf(target.operation) !== operation.path)
    return;
  const values = await run.values(target, requests.choose(run.world.random), { isNew: true });
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
