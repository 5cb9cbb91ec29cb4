import { isDeepStrictEqual } from 'node:util';
import { asObject, isObject, stringifyJson, valueAt } from 'openapi-document';
import { isEqualScalar } from './compare.ts';
import { perform } from './effects.ts';
import { idParameterOf } from './names.ts';
import { partOf, type RequestValues, withValue } from './parts.ts';
import { keyIn, readViews } from './views.ts';
import { hasIfMatch, isGone, type Run, type Target } from './world.ts';

/** The name of the header that makes a POST repeatable (IETF httpapi-idempotency-key-header). */
const IDEMPOTENCY_KEY = /^idempotency-key$/i;

/** The number of requests that are made until one has the optional key. */
const MAX_CHOICES = 50;

/** Checks that a repeated PUT, and a POST with the same idempotency key, succeed again. */
export async function checkRepetition(run: Run, target: Target): Promise<void> {
  const { requests, operation } = target;
  const { random, knowledge } = run.world;
  const template = knowledge.subjectOf(operation) ?? '';
  const key = requests.parameters.find(({ name }) => IDEMPOTENCY_KEY.test(name));
  const isPut = operation.method === 'put' && hasIfMatch(target) === undefined;
  if (!(isPut && template === operation.path) && !(key && operation.method === 'post')) return;
  const hasKey = (sent: RequestValues) => key === undefined || partOf(sent, key) !== undefined;
  const chosen = Array.from({ length: MAX_CHOICES }, () => requests.choose(random)).find(hasKey);
  if (chosen === undefined) return;
  const values = await run.values(target, chosen, true);
  const first = await perform(run, target, { values });
  if (first.response.status >= 300) return;
  const { response, paths } = await perform(run, target, { values }, { repeated: true });
  const check = 'a repeated request changes nothing';
  if (response.status >= 400 && response.status !== 429)
    run.fail(check, `the status of the repeated request is ${response.status}`);
  const [one, other] = [first.paths.get(template), paths.get(template)];
  if (one !== undefined && other !== undefined && !isDeepStrictEqual(one, other))
    run.fail(check, `the repeated request created ${stringifyJson(Object.values(other))}`);
}

/** Descriptions of a conflict with a value that must be unique. */
const UNIQUE = /taken|exists|unique|already|duplicate|in use/i;

/**
 * Checks that a POST with the id of another resource does not replace it, and that an operation
 * with a declared conflict refuses the values of another resource.
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
  const values = await run.values(target, requests.choose(random), true);
  const { response, paths } = await perform(run, target, { values });
  if (response.status >= 300) return;
  const path = { ...values.path, ...paths.get(template) };
  const chosen = await run.valuesAt(target, requests.choose(random), values.path);
  const taken = isItem ? requests.withTakenId(chosen, path[idParameterOf(template)]) : undefined;
  // A conflict may be that of an idempotency key.
  const hasKey = requests.parameters.some(({ name }) => IDEMPOTENCY_KEY.test(name));
  const isUnique =
    conflict && !hasKey && UNIQUE.test(String(asObject(conflict.source).description));
  const others: RequestValues[] = taken === undefined ? [] : [taken];
  if (isUnique && isItem) others.push(values);
  if (isUnique && /^(put|patch)$/.test(operation.method)) {
    const other = await run.create(template);
    if (other?.get(template))
      others.push(await run.valuesAt(target, values, other.get(template) ?? {}));
  }
  for (const other of others) {
    const step = await perform(run, target, { values: other });
    const isOther = !isDeepStrictEqual({ ...other.path, ...step.paths.get(template) }, path);
    if (conflict !== undefined && step.response.status < 300 && (other === taken || isOther))
      run.fail(
        'what is taken is refused',
        `the status is ${step.response.status} for values of another resource`,
      );
  }
}

/** The number of resources that are replaced. */
const REPLACEMENTS = 12;

/** Checks that PUT removes the members that it does not send. @throws {CheckError} */
export async function checkReplacement(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.subjectOf(operation);
  if (operation.method !== 'put' || template !== operation.path) return;
  run.effects = 'own';
  const kept = new Map<string, Set<unknown>>();
  const removed = new Set<string>();
  for (let round = 0; round < REPLACEMENTS; round += 1) {
    run.exchanges.length = 0;
    const first = await run.values(target, requests.choose(random), true);
    const { path } = first;
    if ((await run.sendAndLearn(target, { values: first })).response.status >= 300) continue;
    const values = await run.valuesAt(target, requests.choose(random), path);
    if ((await perform(run, target, { values })).response.status >= 300) continue;
    const [view] = await readViews(run, { template, path }, false);
    const shown = view?.entries.get(keyIn(view, { template, path }) ?? '');
    for (const pointer of pointersIn(first.body)) {
      const [former, current] = [first.body, shown].map((value) => valueAt(value, pointer));
      const isSent = valueAt(values.body, pointer) !== undefined;
      if (isSent || !isObject(valueAt(values.body, pointer.replace(/\/[^/]*$/, '')))) continue;
      if (!isDeepStrictEqual(former, current)) removed.add(pointer);
      else kept.set(pointer, (kept.get(pointer) ?? new Set()).add(stringifyJson(current)));
      // A service may have a default of its own, which is one value.
      if (removed.has(pointer) || (kept.get(pointer)?.size ?? 0) < 2) continue;
      const message = `${pointer} is still ${stringifyJson(current)}, which PUT did not send`;
      run.fail('PUT replaces the whole resource', message);
    }
  }
}

/** Lists the pointers of the members of a value, and of the members inside of them. */
const pointersIn = (value: unknown): string[] =>
  Object.entries(asObject(value)).flatMap(([name, member]) => [
    `/${name}`,
    ...Object.keys(asObject(member)).map((inner) => `/${name}/${inner}`),
  ]);

/** Checks that nothing can be written below a deleted resource. @throws {CheckError} */
export async function checkOrphans(run: Run, target: Target): Promise<void> {
  const { knowledge, random, targetOf } = run.world;
  const { operation, requests } = target;
  const template = knowledge.subjectOf(operation) ?? '';
  if (operation.method !== 'delete' || template !== operation.path) return;
  const values = await run.values(target, requests.choose(random), true);
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
    drafts.push([other, await run.valuesAt(other, other.requests.choose(random), chosen)]);
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
  if (part === undefined || run.world.knowledge.subjectOf(target.operation) !== operation.path)
    return;
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
