import { setTimeout } from 'node:timers/promises';
import { asObject, declaredFor, type Json, type Operation, stringifyJson } from 'openapi-document';
import { CALLERS, checkSingleton, isPrivate } from './callers.ts';
import {
  CheckError,
  isNotFoundDeclared,
  RAISE_LIMIT,
  type ReceivedResponse,
  resourceOf,
} from './check-response.ts';
import {
  changeMember,
  checkDeletedParent,
  checkEntityTags,
  checkKey,
  checkNewAfterDeletion,
  checkPlaces,
  checkReadOnly,
  checkRemoval,
  checkTaken,
  checkTakenByChange,
} from './checks.ts';
import { onlyObjectIn } from './compare.ts';
import type { InsufficientSecrets } from './credentials.ts';
import { isChanged, isWriting, perform, readState, type State } from './effects.ts';
import { checkDefaults, checkList } from './lists.ts';
import { idNameOfParameter, idParameterOf, ownNamesOf, resourcePathOf } from './names.ts';
import { pageOf } from './paging.ts';
import { type RequestPart, type RequestValues, withValue } from './parts.ts';
import type { Mistake } from './requests.ts';
import { isMock, type RequestDraft } from './send.ts';
import { testRandomly } from './sequences.ts';
import { PAUSES } from './views.ts';
import { type Failure, isSuccess, Run, type Target, type World } from './world.ts';

export interface OperationTest {
  readonly world: World;
  readonly target: Target;
  readonly insufficientSecrets: readonly InsufficientSecrets[];
  /** Sets the number of requests, as in `ContractTestOptions`. */
  readonly runs: number;
  /** True if the service may reject valid requests. */
  readonly mayReject: boolean;
  /** True if the service may store changed values, or delete a resource after its response. */
  readonly mayChange: boolean;
}

/** A request that must be refused. */
interface Refusal extends RequestDraft, Partial<Pick<InsufficientSecrets, 'secrets' | 'isOther'>> {
  /** The part that keeps its value. */
  readonly part?: RequestPart;
  /** The member of the body that keeps its value, an id of no resource. */
  readonly unknown?: string;
  readonly renewed?: Mistake['renewed'];
  check(run: Run, response: ReceivedResponse): void;
}

/** The number of unknown ids that must be found, since a service may have resources of its own. */
const MIN_FOUND = 6;

export interface Outcome {
  readonly failures: readonly Failure[];
  /** The responses to valid requests. */
  readonly responses: readonly ReceivedResponse[];
  readonly hasSucceeded: boolean;
  readonly isSkipped: boolean;
  /** The checks that were left out, and advice. */
  readonly notes: readonly string[];
}

/** The number of valid requests after which all resources are compared, not only that of them. */
const MAX_WIDE = 3;

/** The number of random requests with the same values, such as those without any parameter. */
const MAX_EQUAL = 4;

/** The number of streams that were cut after which the operation gets fewer requests. */
const MAX_CUT_STREAMS = 3;

/** Calls an operation with valid and invalid requests. Checks each response and its effects. */
export async function testOperation(test: OperationTest): Promise<Outcome> {
  const tester = new OperationTester(test);
  const isSkipped = !(await tester.test());
  const { responses, hasSucceeded, notes } = tester;
  return { failures: [...tester.failures.values()], responses, hasSucceeded, isSkipped, notes };
}

class OperationTester {
  readonly #test: OperationTest;
  /** The failure with the shortest sequence for each check. */
  readonly failures = new Map<string, Failure>();
  readonly responses: ReceivedResponse[] = [];
  readonly notes: string[] = [];
  #effects = 0;
  /** An action after which the state of a resource accepts the requests. */
  #enabler: Operation | undefined;

  constructor(test: OperationTest) {
    this.#test = test;
  }

  /**
   * True if a request has succeeded, also one that prepared another test, unless the session has
   * ended since then.
   */
  get hasSucceeded(): boolean {
    const { world, target } = this.#test;
    const isEnded = this.#mostFrequent()[0]?.status === 401;
    const hasPrepared = world.succeeded.has(target.operation.id) && !isEnded;
    return hasPrepared || this.responses.some(({ status }) => status < 400);
  }

  /** Returns the responses with the status that most of them have. */
  #mostFrequent = (): readonly ReceivedResponse[] =>
    largestGroup(this.responses, ({ status }) => status);

  /** Returns false if the operation is not implemented. */
  async test(): Promise<boolean> {
    const { world, target, runs, mayReject } = this.#test;
    const { requests } = target;
    const { random } = world;
    for (let index = 0; index < requests.exampleCount; index += 1) {
      const values = requests.example(index, random);
      await this.#attempt((run) => this.#sendValid(run, values, index % 2 === 0));
      const [response] = this.responses;
      if (response?.status === 501 && !isMock(response)) {
        this.failures.clear();
        return false;
      }
    }
    const template = resourcePathOf(target.operation.path);
    const counts = new Map<string, number>();
    const failure = await testRandomly(world, Math.ceil(runs / 2), async (run, next) => {
      const isRefused = this.#isRefusedByState();
      // A service may work on a new resource for a while. An older one is ready.
      const isNew = next() % 4 === 3 || (isRefused && next() % 2 === 1);
      const values = requests.choose(next);
      const { path, media: _media, ...others } = values;
      const key =
        stringifyJson(this.#isCreatedByPost(template) ? others : { path, ...others }) ?? '';
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (Number(counts.get(key)) > MAX_EQUAL && !isRefused) return;
      const exchange = await this.#sendValid(run, values, isNew);
      const isStored = exchange !== undefined && exchange.response.status < 300;
      if (isStored && run.effects !== 'none' && this.#isChange())
        await changeMember(run, target, exchange.values);
    });
    if (failure !== undefined) this.#add(failure);
    // The effects of edge cases are checked, too.
    this.#effects = Math.min(this.#effects, MAX_WIDE - 1);
    await this.#sendEdgeCases();
    const isMocked = this.responses.some(isMock);
    if (this.responses.some(({ status }) => status < 300) && !isMocked) await this.#checkState();
    await this.#sendRefused();
    if (!isMocked && this.failures.size === 0) {
      const advice = this.#advice();
      if (!mayReject) await this.#checkSuccess(advice);
      if (advice !== undefined) this.notes.push(advice);
    }
    return true;
  }

  /** Runs checks, and keeps the failure. Returns true if no check has failed. */
  async #attempt(body: (run: Run) => Promise<unknown>, isKept = true): Promise<boolean> {
    const run = new Run(this.#test.world);
    try {
      await body(run);
      return true;
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      if (isKept) this.#add({ error, exchanges: run.exchanges });
      return false;
    }
  }

  /** Sends requests with unusual values in all places, or in one place each if one fails. */
  async #sendEdgeCases(): Promise<void> {
    const { world, target, runs } = this.#test;
    const { requests, operation } = target;
    // Another resource may have a state that refuses the request.
    const isNew = world.knowledge.itemOf(operation.path) === undefined;
    let sent = 0;
    for (const { edges, kind } of requests.edgeCases()) {
      if (sent >= runs) return;
      let isRefused = false;
      const isRight = await this.#attempt(async (run) => {
        const values = requests.withEdgeCases(kind, edges, world.random);
        const exchange = await this.#sendValid(run, values, isNew, edges);
        isRefused = exchange !== undefined && exchange.response.status >= 400;
      }, edges.length === 1);
      sent += 1;
      if ((isRight && !isRefused) || edges.length === 1) continue;
      for (const edge of edges) {
        // Until a request succeeds, the values of the example are the best guess.
        const hasSucceeded = this.responses.some(({ status }) => status < 300);
        const values = hasSucceeded
          ? requests.withEdgeCases(kind, [edge], world.random)
          : edge.values;
        await this.#attempt((run) => this.#sendValid(run, values, isNew, [edge]));
      }
      sent += edges.length;
    }
  }

  #add(failure: Failure): void {
    const known = this.failures.get(failure.error.check);
    if (known === undefined || failure.exchanges.length < known.exchanges.length)
      this.failures.set(failure.error.check, failure);
  }

  /** Enables the checks of effects. All resources are compared for some requests only. */
  #enableEffects(run: Run, isWide = this.#effects < MAX_WIDE): void {
    if (!this.#test.mayChange) run.effects = isWide ? 'all' : 'own';
    this.#effects += 1;
  }

  /**
   * Sends a valid request, and checks the response and the effects.
   *
   * @param isNew true to create the resources that it needs.
   * @param edges its unusual values.
   */
  async #sendValid(
    run: Run,
    chosen: RequestValues,
    isNew: boolean,
    edges: readonly { readonly part: RequestPart }[] = [],
  ): Promise<{ values: RequestValues; response: ReceivedResponse } | undefined> {
    const { target, mayReject } = this.#test;
    const { responses } = this;
    if (responses.filter(({ isCut }) => isCut).length >= MAX_CUT_STREAMS) return undefined;
    const fixed = edges.map(({ part }) => part);
    const first = await run.values(target, chosen, { isNew, fixed });
    const action = this.#isRefusedByState() ? await this.#act(run, first.path) : undefined;
    const within = first.path;
    const values = action ? await run.values(target, chosen, { within, fixed }) : first;
    run.exchanges.length = 0;
    const draft = { values, index: Math.floor(responses.length / 2) };
    const check = (response: ReceivedResponse) => {
      responses.push(response);
      const isMalformed = [400, 415, 422].includes(response.status);
      if (!isMalformed || mayReject || isMock(response)) return;
      const message = `the status is ${response.status} for a request that satisfies the document`;
      run.fail('a valid request is not rejected as malformed', message);
    };
    this.#enableEffects(run);
    const { response } = await perform(run, target, draft, { isStrict: true, check });
    if (response.status < 300 && !isMock(response)) checkLocation(run, target.operation, response);
    if (response.status < 300) this.#enabler ??= action;
    return { values, response };
  }

  /** Returns true if the state of most resources has refused the request. */
  #isRefusedByState(): boolean {
    const { path } = this.#test.target.operation;
    // A vote that was not given cannot be withdrawn: `/polls/{id}/vote` has 404.
    const refusals = path === resourcePathOf(path) ? [409] : [404, 409];
    const conflicts = this.responses.filter(({ status }) => refusals.includes(status));
    return conflicts.length > this.responses.filter(({ status }) => status < 300).length;
  }

  /** Performs an action on a resource, such as one after which requests have succeeded. */
  async #act(run: Run, within: Json): Promise<Operation | undefined> {
    const { world, target } = this.#test;
    const { knowledge, random } = world;
    const template = resourcePathOf(target.operation.path);
    // An order may need lines before it is placed, and only what is deleted can be restored.
    // Without an action, a service has time to finish its work.
    const actions = knowledge.operations.filter(
      (other) =>
        other.method !== 'get' &&
        other.id !== target.operation.id &&
        resourcePathOf(other.path) === template,
    );
    const operation = this.#enabler ?? actions[random() % (actions.length + 1)];
    const action = operation && template !== '' ? world.targetOf(operation) : undefined;
    if (action === undefined) return undefined;
    const values = await run.values(action, action.requests.choose(random), { within });
    await run.sendAndLearn(action, { values });
    return operation;
  }

  async #checkState(): Promise<void> {
    const { target } = this.#test;
    const checks = isWriting(target)
      ? [
          checkKey,
          checkEntityTags,
          checkTaken,
          checkTakenByChange,
          checkRemoval,
          checkReadOnly,
          checkPlaces,
          checkDeletedParent,
          checkNewAfterDeletion,
          checkSingleton,
        ]
      : [
          checkPlaces,
          ...(this.responses.some((each) => pageOf(target, each)) ? [checkList] : []),
          checkDefaults,
        ];
    for (const check of checks)
      await this.#attempt(async (run) => {
        this.#enableEffects(run, true);
        if (!isWriting(target) || run.effects !== 'none') await check(run, target);
      });
  }

  /** Sends requests that must be refused. Checks that they are, and that they change nothing. */
  async #sendRefused(): Promise<void> {
    const { target, world } = this.#test;
    const { operation, requests } = target;
    const refusals = [
      ...this.#mistakes(),
      ...this.#unknownPaths(),
      ...this.#unknownReferences(),
      ...this.#insufficientSecrets(),
    ];
    const isNew = operation.method !== 'put';
    const prepare = async (run: Run) => {
      const base = await run.values(target, requests.simplest(), { isNew });
      if (!this.#isChange()) return base;
      // If a refused request has changed the resource, it shows other values than before.
      const within = base.path;
      const values = await run.values(target, requests.full(world.random), { within });
      await run.sendAndLearn(target, { values });
      return base;
    };
    let path: Json = {};
    let state: State | undefined;
    await this.#attempt(async (run) => {
      this.#enableEffects(run, true);
      const base = await prepare(run);
      path = base.path;
      state = isWriting(target) ? await readState(run, target, base) : undefined;
    });
    for (const refusal of refusals)
      await this.#attempt((run) => this.#sendRefusal(run, refusal, path));
    let isSame = true;
    await this.#attempt(async (run) => {
      if (state !== undefined) isSame = !(await isChanged(run, state));
    });
    if (isSame) return;
    // Finds the request that has changed something.
    for (const refusal of refusals)
      await this.#attempt(async (run) => {
        this.#enableEffects(run, true);
        await this.#sendRefusal(run, refusal, (await prepare(run)).path);
      });
  }

  async #sendRefusal(run: Run, refusal: Refusal, within: Json): Promise<void> {
    const { target, world } = this.#test;
    const { part, unknown, renewed, secrets, isOther = false, check, ...draft } = refusal;
    const fixed = part && [part];
    const values = await run.values(target, draft.values, { within, fixed, unknown });
    if (isOther && !(await this.#isOwned(values))) return;
    run.exchanges.length = 0;
    const options = { check: (response: ReceivedResponse) => check(run, response) };
    const checked = secrets ? { ...options, secrets } : options;
    if (!isOther) {
      const { response } = await perform(run, target, { ...draft, values }, checked);
      // The value of another member may be taken.
      const others = response.status === 409 ? renewed?.(world.random) : undefined;
      if (others === undefined) return;
      run.exchanges.length = 0;
      const again = await run.values(target, others, { within, fixed });
      return void (await perform(run, target, { ...draft, values: again }, checked));
    }
    // Nothing is learned from a response to another caller.
    const state = isWriting(target) ? await readState(run, target, values) : undefined;
    await run.sendAndCheck(target, { ...draft, values }, checked);
    if (state !== undefined && (await isChanged(run, state)))
      run.fail(CALLERS, 'a request of another caller changes what this caller reads');
  }

  /** Lists requests with one mistake each. */
  #mistakes(): Refusal[] {
    const { world, target, runs } = this.#test;
    const { requests } = target;
    const mistakes = shuffled(requests.mistakes(), world.random);
    const byKey = new Map(mistakes.map((mistake) => [mistake.key, mistake]));
    const selected = [...new Set([...byKey.values(), ...mistakes])];
    const refusals = selected.slice(0, Math.max(byKey.size, runs)).map((mistake) => ({
      ...mistake,
      check: (run: Run, { status }: ReceivedResponse) => {
        const message = `the status is ${status} for ${mistake.label}`;
        if (status < 400) run.fail('an invalid request is rejected with 4xx', message);
      },
    }));
    // A service may ignore what it does not know.
    const undeclaredQuery = 'undeclaredParameter=text';
    const isSafe = !isWriting(target);
    const undeclared = { values: requests.simplest(), undeclaredQuery, check: () => {} };
    return [...refusals, ...(isSafe ? [undeclared] : [])];
  }

  /** Lists requests to a resource that does not exist. */
  #unknownPaths(): Refusal[] {
    const { target } = this.#test;
    const { operation, requests } = target;
    const template = resourcePathOf(operation.path);
    const name = idParameterOf(template);
    const part = requests.parameters.find((each) => each.in === 'path' && each.name === name);
    if (part === undefined) return [];
    const { knowledge, random } = this.#test.world;
    const isUsed = (id: unknown) =>
      knowledge.hasShownId(idNameOfParameter(operation.path, name), id);
    const ids = requests.unusedValues(part, isUsed, random);
    const creators = knowledge.creatorsOf(template);
    const isRead = operation.method === 'get' && operation.path === template;
    // A PUT may create what does not exist.
    const isChecked =
      this.#isCreatedByPost(template) &&
      (isRead ||
        (isNotFoundDeclared(operation) && creators.every(({ method }) => method === 'post')));
    if (isChecked && ids.length === 0) this.notes.push(`no ${name} was found that is not in use`);
    return this.#unknown(
      ids.slice(0, isChecked ? MIN_FOUND : 1).map((id) => ({
        id,
        draft: { values: withValue(requests.simplest(), part, id), part },
      })),
    );
  }

  /**
   * Lists requests whose body has the id of a resource that does not exist, if the operation
   * declares 404, which cannot mean a resource of its path.
   */
  #unknownReferences(): Refusal[] {
    const { world, target } = this.#test;
    const { operation, requests } = target;
    const { knowledge, random } = world;
    if (operation.template.names.length > 0 || !isNotFoundDeclared(operation)) return [];
    const entityIn = ({ body }: RequestValues) => onlyObjectIn(body)?.inner ?? asObject(body);
    return Object.keys(entityIn(requests.fullest)).flatMap((member) => {
      const isReference =
        knowledge.creatorsOf(idNameOfParameter('', member)).length > 0 &&
        knowledge.idsOf(member).length > 0;
      const drafts = Array.from({ length: isReference ? MIN_FOUND : 0 }, () => {
        const values = requests.full(random);
        return { id: entityIn(values)[member], draft: { values, unknown: member } };
      });
      return this.#unknown(
        drafts.filter(({ id }) => (id ?? null) !== null && !knowledge.hasShownId(member, id)),
      );
    });
  }

  /** Returns requests with unknown ids. A service may have resources of its own, but not all. */
  #unknown(
    drafts: readonly { readonly id: unknown; readonly draft: Omit<Refusal, 'check'> }[],
  ): Refusal[] {
    let found = 0;
    return drafts.map(({ id, draft }) => ({
      ...draft,
      check(run: Run, response: ReceivedResponse) {
        const { status } = response;
        if (status < 300 && !isMock(response)) found += 1;
        const message = `the status is ${status} for the id ${id} of no resource`;
        if (found === MIN_FOUND) run.fail('a resource that does not exist is not found', message);
      },
    }));
  }

  /** Returns true for a PUT or a PATCH of a resource itself. */
  #isChange(): boolean {
    const { world, target } = this.#test;
    const { method, path } = target.operation;
    return /^(put|patch)$/.test(method) && world.knowledge.subjectOf(target.operation) === path;
  }

  /** Returns true if the service chooses the id of a resource. */
  #isCreatedByPost(template: string): boolean {
    const creators = this.#test.world.knowledge.creatorsOf(template);
    return creators.some(({ method }) => method === 'post');
  }

  /** Returns true if another caller may not use the resource of a request. */
  async #isOwned({ path }: RequestValues): Promise<boolean> {
    const { world, target } = this.#test;
    const { operation } = target;
    if (operation.responses.some(({ key }) => key === '403')) return true;
    const template = resourcePathOf(operation.path);
    return (await isPrivate(new Run(world), { template, path })) === true;
  }

  #insufficientSecrets(): Refusal[] {
    const { target, insufficientSecrets } = this.#test;
    return insufficientSecrets.map((insufficient) => ({
      ...insufficient,
      values: target.requests.simplest(),
      check(run: Run, response: ReceivedResponse) {
        const { label, isOther } = insufficient;
        const { status } = response;
        if (status === 401 || status === 403 || (isOther && status === 404)) return;
        // The DELETE of what does not exist may succeed. What it changes is compared.
        if (isOther && target.operation.method === 'delete') return;
        // Another caller may create a resource with the same id in its own namespace.
        if (isOther && status === 201 && target.operation.method === 'put') return;
        // Mocks accept any credential of a scheme that has neither tokens nor a verifier.
        if (isMock(response) && label !== 'without credentials') return;
        const expected = isOther ? '401, 403 or 404' : '401 or 403';
        const message = `a request ${label} has the status ${status}, not ${expected}`;
        run.fail(isOther ? CALLERS : 'credentials are required', message);
      },
    }));
  }

  /** Returns advice if most valid requests fail: it depends on their status. */
  #advice(): string | undefined {
    const { target, world, mayReject } = this.#test;
    const { id, path, parameters } = target.operation;
    const { responses } = this;
    const successes = responses.filter(({ status }) => status < 400).length;
    if (successes * 2 >= responses.length) return undefined;
    const status = this.#mostFrequent()[0]?.status;
    if (status === 429) return RAISE_LIMIT;
    const hasCredentials = target.secrets.length > 0;
    if (hasCredentials && status === 401 && world.succeeded.has(id))
      return 'its credentials are no longer accepted: another operation may have ended the session';
    if (hasCredentials && (status === 401 || status === 403))
      return 'pass `credentials` that may call it';
    const template = resourcePathOf(path);
    const { knowledge } = world;
    const creator = knowledge.operations.find(
      (other) =>
        other.id !== id &&
        (other.method === 'post'
          ? knowledge.itemOf(other.path) === template
          : other.method === 'put' && other.path === template),
    );
    const origin = `its resources come from ${creator?.id}, which`;
    if (creator && world.mocked.has(creator.id)) return `${origin} is still a mock: implement it`;
    if (creator && !world.succeeded.has(creator.id)) return `${origin} never succeeds`;
    const ids = parameters.flatMap((each) => (each.in === 'path' ? each.outline.constants : []));
    // Examples have no other ids than those that were sent.
    if (ids.length > 0)
      return successes > 0 ? undefined : `add a resource with one of its ids (${ids.join(', ')})`;
    const end = mayReject ? '' : `, or add ${id} to \`mayReject\``;
    return `add an example of a successful request to the document, add data in \`seed\`${end}`;
  }

  /** Checks that an operation succeeds at least once. */
  async #checkSuccess(advice: string | undefined): Promise<void> {
    if (this.hasSucceeded) return;
    const { target } = this.#test;
    const { responses } = this;
    const count = `${responses.length} valid requests have failed (${statusesOf(responses)})`;
    await this.#attempt(async (run) => {
      const values = await run.values(target, target.requests.simplest(), { isNew: true });
      const prepared = run.exchanges.length;
      // A service may work on a new resource for a while.
      for (const milliseconds of [0, ...PAUSES]) {
        await setTimeout(milliseconds);
        run.exchanges.length = prepared;
        const response = await run.sendAndCheck(target, { values });
        if (response.status < 400) return;
      }
      run.fail('an operation succeeds at least once', `${count}: ${advice}`);
    });
  }
}

/** Counts responses by their status: `26 × 409, 2 × 404`. */
export const statusesOf = (responses: readonly ReceivedResponse[]): string =>
  [...Map.groupBy(responses, ({ status }) => status)]
    .map(([status, { length }]) => `${length} × ${status}`)
    .join(', ');

/** Returns the items of the key that most of them have. */
function largestGroup<T>(items: readonly T[], keyOf: (item: T) => unknown): readonly T[] {
  const groups = [...Map.groupBy(items, keyOf).values()];
  return groups.toSorted((one, other) => other.length - one.length)[0] ?? [];
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}

/**
 * Checks that the path of `Location` in a response 201 is that of a GET operation (RFC 9110
 * §10.2.2). Ignores URLs of other origins, and resources without a GET operation.
 */
function checkLocation(
  run: Run,
  operation: Operation,
  { status, url, headers: { location } }: ReceivedResponse,
): void {
  const { knowledge } = run.world;
  const reader = knowledge.readerOf(knowledge.itemOf(operation.path) ?? '');
  const resource = location === undefined ? null : URL.parse(location, url);
  if (reader === undefined || status !== 201 || resource?.origin !== new URL(url).origin) return;
  const { pathname } = resource;
  if (knowledge.readersAt(pathname).length > 0) return;
  run.fail(
    'Location is the URL of a resource',
    `Location "${location}" is the path ${pathname}, which has no GET operation: ` +
      `return the URL of GET ${reader.path}`,
  );
}

/** The number of members that are tried as the id of a new resource. */
const MAX_GUESSES = 6;

/** Finds the member with the id of a new resource whose response does not name it as such. */
async function findIds(
  run: Run,
  target: Target,
  values: RequestValues,
  response: ReceivedResponse,
): Promise<void> {
  const { knowledge } = run;
  const template = knowledge.itemOf(target.operation.path);
  const entity = asObject(resourceOf(target, response).value);
  if (template === undefined || knowledge.readerOf(template) === undefined) return;
  if (knowledge.idsIn(template, entity) !== undefined || ownNamesOf(template).length !== 1) return;
  const isId = (value: unknown) => /^(string|number|bigint)$/.test(typeof value);
  for (const id of Object.values(entity).filter(isId).slice(0, MAX_GUESSES)) {
    const reading = await run.read(template, { ...values.path, [idParameterOf(template)]: id });
    if (reading !== undefined && isSuccess(reading))
      return void run.learn(target, values, response);
  }
}

/** The rounds of requests that find ids. A resource may need the id of another one. */
const ROUNDS = 4;

/** The number of successes of an operation that are enough to know its ids. */
const ENOUGH = 2;

/** Sends valid requests to learn ids, before the tests. Nothing is deleted. */
export async function explore(world: World, operations: readonly Operation[]): Promise<void> {
  const successes = new Map<Operation, number>();
  const rankOf = ({ method, path }: Operation) =>
    path.split('/').length + (method === 'post' || method === 'put' ? 0 : 100);
  const explored = operations
    .filter(({ method }) => method !== 'delete')
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const operation of explored) {
      const target = world.targetOf(operation);
      if (target === undefined || (successes.get(operation) ?? 0) >= ENOUGH) continue;
      const run = new Run(world);
      const { requests } = target;
      const chosen =
        round === 0 ? requests.example(0, world.random) : requests.choose(world.random);
      try {
        const values = await run.values(target, chosen);
        const { response } = await run.sendAndLearn(target, { values });
        const isSuccess = response.status < 300 && declaredFor(operation, response.status);
        if (isSuccess) await findIds(run, target, values, response);
        if (isSuccess) successes.set(operation, (successes.get(operation) ?? 0) + 1);
      } catch (error) {
        // The test of the operation reports it.
        if (!(error instanceof CheckError)) throw error;
      }
    }
  }
}
