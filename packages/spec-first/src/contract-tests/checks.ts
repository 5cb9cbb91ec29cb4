import { asObject, escapePointerToken, stringifyJson, valueAt } from 'openapi-document';
import { perform } from './effects.ts';
import { idParameterOf } from './names.ts';
import { partOf, type RequestValues, withValue } from './parts.ts';
import { isRepeatKey } from './requests.ts';
import { readViews } from './views.ts';
import { hasIfMatch, type Run, type Target } from './world.ts';

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
}

/**
 * Checks that a POST with the values or the id of another resource does not replace it, and that
 * the id of another one is refused if the operation declares 409.
 *
 * @throws {CheckError}
 */
export async function checkTaken(run: Run, target: Target): Promise<void> {
  const { random, knowledge } = run.world;
  const { requests, operation } = target;
  const template = knowledge.itemOf(operation.path);
  if (operation.method !== 'post' || template === undefined) return;
  const values = await run.values(target, requests.choose(random), { isNew: true });
  const { response, paths } = await perform(run, target, { values });
  if (response.status >= 300) return;
  const at = (chosen: RequestValues) => run.values(target, chosen, { within: values.path });
  const id = paths.get(template)?.[idParameterOf(template)];
  const taken = requests.withTakenId(await at(requests.choose(random)), id);
  if (taken !== undefined) {
    const { status } = (await perform(run, target, { values: taken })).response;
    if (status < 300 && operation.responses.some(({ key }) => key === '409'))
      run.fail(
        'what is taken is refused',
        `the status is ${status} for the id of another resource`,
      );
  }
  await perform(run, target, { values: await at(values) });
}

/**
 * Sends a PUT or a PATCH again with one other member, or without some. Checks that PUT removes what
 * it does not send.
 *
 * @param values those of a successful request.
 * @param kept the removed values that were still shown, by the pointer of the member.
 * @throws {CheckError}
 */
export async function changeMember(
  run: Run,
  target: Target,
  values: RequestValues,
  kept: Map<string, Set<unknown>>,
): Promise<void> {
  const { requests, operation } = target;
  const { random } = run.world;
  const { path } = values;
  const pointers = pointersIn(values.body);
  const pointer = pointers[random() % pointers.length] ?? '';
  const removed = random() % 2 === 1 ? pointers.filter(() => random() % 2 === 1) : [];
  let changed = values;
  for (const each of removed) changed = requests.withChange(changed, each, undefined) ?? changed;
  if (removed.length === 0) {
    const member = valueAt(requests.full(random).body, pointer);
    changed = requests.withChange(values, pointer, member ?? null) ?? values;
  }
  const sent = await run.values(target, changed, { within: path });
  const { response } = await perform(run, target, { values: sent });
  if (operation.method !== 'put' || response.status >= 300) return;
  const [view] = await readViews(run, { template: operation.path, path }, false);
  for (const each of removed) {
    const former = stringifyJson(valueAt(values.body, each));
    const isSent = valueAt(sent.body, each) !== undefined;
    const isInside = valueAt(sent.body, each.slice(0, each.lastIndexOf('/'))) !== undefined;
    if (isSent || !isInside || stringifyJson(valueAt(view?.entries.get(''), each)) !== former)
      continue;
    // A service may have a default of its own, which is one value.
    const keptValues = (kept.get(each) ?? new Set()).add(former);
    kept.set(each, keptValues);
    if (keptValues.size > 1)
      run.fail(
        'PUT replaces the whole resource',
        `${each} is still ${former}, which PUT did not send`,
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
  const { response } = await perform(run, target, draft);
  if (response.status < 300)
    run.fail(
      'a wrong entity tag is rejected',
      `the status is ${response.status} for a stale entity tag in If-Match`,
    );
}
