import { declaredFor, type Operation } from 'openapi-document';
import { CheckError, RAISE_LIMIT, type ReceivedResponse } from './check-response.ts';
import type { InsufficientSecrets } from './credentials.ts';
import {
  checkConcurrent,
  checkEffects,
  checkIdempotencyKey,
  checkRetry,
  checkStaleTags,
  checkTakenId,
  checkUnchanged,
  isWriting,
  NOTHING_READ,
  readBefore,
  readState,
} from './effects.ts';
import type { Knowledge } from './knowledge.ts';
import { checkDefaults, checkList } from './lists.ts';
import { checkLimit, pageOf } from './paging.ts';
import { type RequestPart, type RequestValues, valuesByName } from './parts.ts';
import { isMock } from './send.ts';
import { testRandomly } from './sequences.ts';
import { type Failure, hasIfMatch, Run, type Target, type World } from './world.ts';

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

export interface Outcome {
  readonly failures: readonly Failure[];
  /** The responses to valid requests. */
  readonly responses: readonly ReceivedResponse[];
  readonly isSkipped: boolean;
}

/** The number of valid requests whose effects are checked. Each one needs several requests. */
const MAX_EFFECTS = 12;

/** The number of mistakes after which the state of the service is checked. */
const MAX_STATES = 12;

/** The number of streams that were cut after which the operation gets fewer requests. */
const MAX_CUT_STREAMS = 3;

/** Calls an operation with valid and invalid requests. Checks each response and its effects. */
export async function testOperation(test: OperationTest): Promise<Outcome> {
  const tester = new OperationTester(test);
  return tester.test();
}

class OperationTester {
  readonly #test: OperationTest;
  readonly #failures = new Map<string, Failure>();
  readonly #responses: ReceivedResponse[] = [];
  #effects = 0;
  #cutStreams = 0;

  constructor(test: OperationTest) {
    this.#test = test;
  }

  async test(): Promise<Outcome> {
    const { world, target, runs, mayReject, mayChange } = this.#test;
    const { requests } = target;
    const { random } = world;
    if (!(await this.#isImplemented()))
      return { failures: [], responses: this.#responses, isSkipped: true };

    const exampleCount = requests.exampleCount * Math.max(1, requests.bodies.length);
    for (let index = 0; index < Math.max(1, exampleCount); index += 1)
      await this.#attempt((run) =>
        this.#sendValid(run, requests.example(index, random), index % 2 === 0),
      );
    const failure = await testRandomly(world, Math.ceil(runs / 2), async (run, next) => {
      if (this.#cutStreams >= MAX_CUT_STREAMS) return;
      const isNew = next() % 4 > 0;
      await this.#sendValid(run, requests.choose(next), isNew);
    });
    if (failure !== undefined) this.#add(failure);
    // The effects of edge cases are checked, too.
    this.#effects = Math.min(this.#effects, 1);
    for (const edge of shuffled(requests.edgeCases(), random).slice(0, runs)) {
      if (this.#cutStreams >= MAX_CUT_STREAMS) break;
      const values = requests.withEdgeCase(edge, random);
      await this.#attempt((run) => this.#sendValid(run, values, true, edge.part));
    }
    const isMocked = this.#responses.some(isMock);
    if (this.#hasSucceeded() && !isMocked) {
      await this.#attempt((run) => this.#checkReading(run));
      if (!mayChange && isWriting(target)) await this.#checkWriting();
    }
    await this.#sendMistakes();
    await this.#sendInsufficientSecrets();
    if (!mayReject && !isMocked && this.#failures.size === 0) await this.#checkSuccess();
    return { failures: [...this.#failures.values()], responses: this.#responses, isSkipped: false };
  }

  async #isImplemented(): Promise<boolean> {
    const { target } = this.#test;
    let response: ReceivedResponse | undefined;
    await this.#attempt(async (run) => {
      const values = await run.values(target, target.requests.simplest(), true);
      response = await run.send(target, { values });
      run.learn(target, values, response);
    });
    return response?.status !== 501 || isMock(response);
  }

  #hasSucceeded(): boolean {
    return this.#responses.some(({ status }) => status < 300);
  }

  /** Keeps the failure with the shortest sequence for each check. */
  async #attempt(body: (run: Run) => Promise<void>): Promise<void> {
    const run = new Run(this.#test.world);
    try {
      await body(run);
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      this.#add({ error, exchanges: run.exchanges });
    }
  }

  #add(failure: Failure): void {
    const known = this.#failures.get(failure.error.check);
    if (known === undefined || sizeOf(failure) < sizeOf(known))
      this.#failures.set(failure.error.check, failure);
  }

  /**
   * Sends a valid request, and checks the response and the effects.
   *
   * @param isNew true to create the resources that it needs.
   * @param fixed a part with an edge case.
   */
  async #sendValid(
    run: Run,
    chosen: RequestValues,
    isNew: boolean,
    fixed?: RequestPart,
  ): Promise<void> {
    const { world, target, mayReject, mayChange } = this.#test;
    const { operation } = target;
    const item = world.knowledge.itemOf(operation.path);
    const isRefused = this.#responses.at(-1)?.status === 409 && operation.method === 'post';
    const values = await run.values(target, chosen, isNew, 0, fixed);
    const checksEffects = isWriting(target) && !mayChange && this.#effects < MAX_EFFECTS;
    const prepared = run.exchanges.length;
    let before = checksEffects ? await readBefore(run, target, values) : undefined;
    if (isRefused && item !== undefined && !this.#hasSucceeded()) {
      await run.remove(item);
      before &&= NOTHING_READ;
    }
    run.exchanges.splice(prepared);
    const index = this.#responses.length;
    const draft = { values, index: Math.floor(index / 2) };
    const check = (response: ReceivedResponse) => {
      this.#responses.push(response);
      if (response.isCut) this.#cutStreams += 1;
      const isMalformed = [400, 415, 422].includes(response.status);
      if (!isMalformed || mayReject || isMock(response)) return;
      const message = `the status is ${response.status} for a request that satisfies the document`;
      run.fail('a valid request is not rejected as malformed', message);
    };
    const response = await run.sendAndCheck(target, draft, { isStrict: true, check });
    const type = response.headers['content-type'];
    if (type !== undefined) world.coverage.mediaTypes.add(`${operation.id} ${type}`);
    const { paths } = run.learn(target, values, response);
    if (response.status >= 300 || isMock(response)) return;
    checkLocation(run, world.knowledge, operation, response);
    if (operation.method === 'get') checkLimit(values, response);
    if (before === undefined) return;
    this.#effects += 1;
    await checkEffects(run, target, values, before, response, paths);
    if (this.#effects === 1) await checkIdempotencyKey(run, target, values, paths);
    const isRetried = operation.method === 'put' && hasIfMatch(target) === undefined;
    if (this.#effects === 1 && isRetried) await checkRetry(run, target, values);
  }

  async #checkReading(run: Run): Promise<void> {
    const { target } = this.#test;
    if (target.operation.method !== 'get') return;
    await checkDefaults(run, target);
    const lists = this.#responses.filter((response) => pageOf(response) !== undefined);
    if (lists.length > 0) await checkList(run, target);
  }

  async #checkWriting(): Promise<void> {
    const { target } = this.#test;
    await this.#attempt((run) => checkStaleTags(run, target));
    await this.#attempt((run) => checkConcurrent(run, target));
    await this.#attempt((run) => checkTakenId(run, target));
  }

  /** Sends requests with one mistake each. Checks that they are rejected, and change nothing. */
  async #sendMistakes(): Promise<void> {
    const { world, target, runs, mayChange } = this.#test;
    const { operation, requests } = target;
    const mistakes = shuffled(requests.mistakes(), world.random);
    const byKey = new Map(mistakes.map((mistake) => [mistake.key, mistake]));
    const selected = [...new Set([...byKey.values(), ...mistakes])].slice(
      0,
      Math.max(byKey.size, runs),
    );
    let states = 0;
    for (const mistake of selected) {
      await this.#attempt(async (run) => {
        const values = await run.values(target, mistake.values, false, 0, partOf(mistake.values));
        run.exchanges.length = 0;
        const state =
          isWriting(target) && !mayChange && states < MAX_STATES
            ? await readState(run, target, values)
            : undefined;
        states += 1;
        const draft = { ...mistake, values };
        const response = await run.sendAndCheck(target, draft, {
          check: ({ status }) => {
            world.coverage.keywords.add(`${operation.id} ${mistake.key}`);
            if (status >= 400) return;
            const message = `the status is ${status} for ${mistake.label}`;
            run.fail('an invalid request is rejected with 4xx', message);
          },
        });
        if (!isMock(response)) await checkUnchanged(run, state, valuesByName(values, 'body')['']);
      });
    }
    // A service may ignore what it does not know.
    const values = requests.simplest();
    await this.#attempt(async (run) => {
      const completed = await run.values(target, values, false);
      const draft = { values: completed, undeclaredQuery: 'undeclaredParameter=text' };
      run.learn(target, completed, await run.sendAndCheck(target, draft));
    });
  }

  async #sendInsufficientSecrets(): Promise<void> {
    const { target, insufficientSecrets } = this.#test;
    const { requests } = target;
    for (const { label, secrets, isOther } of insufficientSecrets) {
      await this.#attempt(async (run) => {
        const values = await run.values(target, requests.simplest(), isOther === true);
        const state = isWriting(target) ? await readState(run, target, values) : undefined;
        const response = await run.sendAndCheck(
          target,
          { values },
          {
            secrets,
            check: (response) => {
              const { status } = response;
              if (status === 401 || status === 403 || (isOther && status === 404)) return;
              // Mocks accept any credential of a scheme that has neither tokens nor a verifier.
              if (isMock(response) && label !== 'without credentials') return;
              const message = `a request ${label} has the status ${status}, not 401 or 403`;
              run.fail('credentials are required', message);
            },
          },
        );
        if (!isMock(response)) await checkUnchanged(run, state, valuesByName(values, 'body')['']);
      });
    }
  }

  /** Checks that an operation succeeds at least once. */
  async #checkSuccess(): Promise<void> {
    const { target } = this.#test;
    const responses = this.#responses;
    const hasSucceeded = this.#test.world.succeeded.has(target.operation.id);
    if (hasSucceeded || responses.some(({ status }) => status < 400)) return;
    const byStatus = Map.groupBy(responses, ({ status }) => status);
    const [largest = []] = [...byStatus.values()].toSorted((a, b) => b.length - a.length);
    const status = largest[0]?.status;
    const total = responses.length;
    const count = `${largest.length} of ${total} valid requests have the status ${status}`;
    const addDataAdvice =
      'add an example of a successful request to the document, add data in `seed`, ' +
      `or add ${target.operation.id} to \`mayReject\``;
    const advice = status === 429 ? RAISE_LIMIT : addDataAdvice;
    await this.#attempt(async (run) => {
      const values = await run.values(target, target.requests.simplest(), true);
      const response = await run.sendAndCheck(target, { values });
      if (response.status < 400) return;
      run.fail('an operation succeeds at least once', `${count}: ${advice}`);
    });
  }
}

const sizeOf = ({ exchanges }: Failure): number => exchanges.length;

/** Returns the part with a mistake, which is the last one. */
const partOf = (values: RequestValues): RequestPart | undefined => [...values.keys()].at(-1);

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
  knowledge: Knowledge,
  operation: Operation,
  { status, url, headers: { location } }: ReceivedResponse,
): void {
  const item = knowledge.itemOf(operation.path);
  const reader = item === undefined ? undefined : knowledge.readerOf(item);
  if (reader === undefined || status !== 201 || location === undefined) return;
  const resource = URL.parse(location, url);
  if (resource === null || resource.origin !== new URL(url).origin) return;
  const { pathname } = resource;
  if (knowledge.readersAt(pathname).length > 0) return;
  run.fail(
    'Location is the URL of a resource',
    `Location "${location}" is the path ${pathname}, which has no GET operation: ` +
      `return the URL of GET ${reader.path}`,
  );
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
    .filter(({ method, responses }) => {
      const isStream = responses.some(({ media }) => media.some(({ items }) => items));
      return method !== 'delete' && !isStream;
    })
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
        const values = await run.values(target, chosen, false);
        const { response } = await run.sendAndLearn(target, { values });
        const isSuccess = response.status < 300 && declaredFor(operation, response.status);
        if (isSuccess) successes.set(operation, (successes.get(operation) ?? 0) + 1);
      } catch (error) {
        // The test of the operation reports it.
        if (!(error instanceof CheckError)) throw error;
      }
    }
  }
}
