import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { Unavailable } from '../src/errors.ts';
import { createQueue, NotStarted, type Outcome } from '../src/queue.ts';

const MAX_WAITING = 8;
const TIMEOUT = 1_000;
const READY_MS = 800;

beforeEach(() => {
  const doNotFake = ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'] as const;
  jest.useFakeTimers({ doNotFake: [...doNotFake] });
});
afterEach(() => {
  jest.useRealTimers();
});

const isAlone = (call: string): boolean => call.startsWith('alone');
/** An outcome, as the model names it. */
const label = (error: unknown): string => Object(error).code ?? Object(error).message;

/** A commit or a check of the queue. The test ends it. */
interface Started extends PromiseWithResolvers<readonly Outcome[]> {
  readonly calls: readonly string[];
  readonly milliseconds: number;
}

function createReal(maxCommits: number, checksConcurrently: boolean) {
  const commits: Started[] = [];
  const checks: Started[] = [];
  const outcomes: Record<string, unknown> = {};
  const readiness: Record<string, unknown> = {};
  const codes: string[] = [];
  const batches: number[] = [];
  let closes = 0;
  const start = (list: Started[]) => (calls: readonly string[], milliseconds: number) => {
    const started = { calls, milliseconds, ...Promise.withResolvers<readonly Outcome[]>() };
    list.push(started);
    return started.promise;
  };
  const { add, ready, stats, close } = createQueue<string>(
    {
      location: 'notes.db',
      maxCommits,
      checksConcurrently,
      shares: (call) => !isAlone(call),
      commit: start(commits),
      check: start(checks),
      stats: () => ({}),
      async close() {
        closes += 1;
      },
    },
    {
      maxWaiting: MAX_WAITING,
      timeout: TIMEOUT,
      onBatch: (calls) => batches.push(calls),
      onUnavailable: (code) => codes.push(code),
    },
  );
  const record = (list: Record<string, unknown>, name: string, promise: Promise<unknown>) => {
    const set = (outcome: unknown) => {
      list[name] = name in list ? 'settled twice' : outcome;
    };
    promise.then(set, (error) => set(label(error)));
  };
  return {
    commits,
    checks,
    close,
    add: (call: string) => record(outcomes, call, add(call)),
    ready: (name: string) =>
      record(
        readiness,
        name,
        ready().then(() => 'ready'),
      ),
    state: () => ({
      commits: commits.map(({ calls, milliseconds }) => ({ calls, milliseconds })),
      checks: checks.map(({ calls }) => calls),
      ...{ outcomes, readiness, codes, batches, closes },
      waiting: stats().waiting,
      timers: jest.getTimerCount(),
    }),
  };
}
type Real = ReturnType<typeof createReal>;

interface Commit {
  readonly calls: readonly string[];
  readonly milliseconds: number;
}

/** States what a queue must have done when it has nothing left to do. */
class Model {
  readonly outcomes: Record<string, unknown> = {};
  readonly readiness: Record<string, unknown> = {};
  readonly codes: string[] = [];
  readonly batches: number[] = [];
  readonly deadlines = new Map<string, number>();
  readonly maxCommits: number;
  readonly checksConcurrently: boolean;
  now = 0;
  limit: number;
  queue: string[] = [];
  commits: Commit[] = [];
  failedCalls: readonly string[] = [];
  /** The calls of the check in progress, or the commits of which one must end before it starts. */
  check: { calls?: readonly string[]; after?: readonly Commit[] } | undefined;
  /** Calls of `ready`, with the commits or the check whose outcome they get. */
  asked: { readonly name: string; readonly time: number; readonly commits?: readonly Commit[] }[] =
    [];
  isClosed = false;
  count = 0;

  constructor(maxCommits: number, checksConcurrently: boolean) {
    this.maxCommits = maxCommits;
    this.limit = maxCommits;
    this.checksConcurrently = checksConcurrently;
  }

  waits = (call: string): boolean => !(call in this.outcomes);

  add(call: string): void {
    if (this.isClosed) this.outcomes[call] = 'CLOSED';
    else if (this.waiting() >= MAX_WAITING) {
      this.outcomes[call] = 'BUSY';
      this.codes.push('BUSY');
    } else {
      this.deadlines.set(call, this.now + TIMEOUT);
      this.queue.push(call);
    }
  }

  waiting = (): number => [...this.deadlines.keys()].filter(this.waits).length;

  settle(call: string, outcome: unknown, isUnavailable = false): void {
    if (!this.waits(call)) return;
    this.outcomes[call] = outcome;
    if (isUnavailable) this.codes.push(String(outcome));
  }

  start(): void {
    this.queue = this.queue.filter(this.waits);
    while (this.queue[0] !== undefined && this.commits.length < this.limit) {
      const alone = this.queue.findIndex(isAlone);
      const calls = this.queue.splice(0, alone < 0 ? this.queue.length : Math.max(1, alone));
      const left = (this.deadlines.get(calls[0] ?? '') ?? 0) - this.now;
      this.commits.push({ calls, milliseconds: Math.max(1, left - Math.min(500, left / 2)) });
    }
  }

  /** Ends a commit: with a result for each call, with nothing, or with the label of an error. */
  end(commit: Commit, outcome: string): void {
    this.commits = this.commits.filter((each) => each !== commit);
    const { calls } = commit;
    const shared = calls.filter((call) => !isAlone(call));
    const isFailure = !SUCCESSES.includes(outcome);
    if (outcome === 'not started') {
      this.queue.unshift(...calls.filter(this.waits));
      this.limit = Math.max(1, this.commits.length);
    } else if (isFailure) {
      // A lock, a time limit or a bug is not tried again.
      if (shared.length > 0) this.failedCalls = outcome === 'SQLITE_FULL' ? shared : [];
      const others = outcome === 'SQLITE_BUSY' ? this.queue.splice(0) : [];
      for (const call of [...calls, ...others]) this.settle(call, outcome, outcome !== 'a bug');
    } else {
      this.limit = Math.min(this.limit + 1, this.maxCommits);
      if (shared.length === calls.length) {
        this.failedCalls = [];
        this.batches.push(calls.length);
      }
      for (const [index, call] of calls.entries())
        this.settle(call, resultOf(call, index, outcome));
    }
    this.tell(({ commits }) => commits?.includes(commit) === true, isFailure ? outcome : 'ready');
    if (this.check?.after?.includes(commit)) this.check = { calls: this.failedCalls };
    const waitsForCheck = outcome === 'not started' && this.commits.length === 0 && this.check;
    if (!waitsForCheck) this.start();
  }

  endCheck(outcome: string): void {
    const { calls } = this.check ?? {};
    if (outcome === 'not started') {
      if (this.commits.length > 0) this.check = { after: [...this.commits] };
      else this.check = { calls: this.failedCalls };
      return;
    }
    this.check = undefined;
    if (outcome === 'ready' && calls === this.failedCalls) this.failedCalls = [];
    this.tell(({ commits }) => commits === undefined, outcome);
    this.start();
  }

  tell(matches: (asked: Model['asked'][number]) => boolean, outcome: string): void {
    for (const { name } of this.asked.filter(matches)) this.readiness[name] = outcome;
    this.asked = this.asked.filter((asked) => !matches(asked));
  }

  state() {
    const isIdle = this.queue.length === 0 && this.commits.length === 0 && !this.check;
    return {
      commits: this.commits,
      checks: this.check?.calls ? [this.check.calls] : [],
      outcomes: this.outcomes,
      readiness: this.readiness,
      codes: this.codes,
      batches: this.batches,
      closes: this.isClosed && isIdle ? 1 : 0,
      waiting: this.waiting(),
      // A call or a check has a timer until it is settled.
      timers: Math.min(1, this.waiting()) + this.asked.length,
    };
  }
}

/** The outcome of a call in a successful commit. Every second call fails with `errors`. */
function resultOf(call: string, index: number, outcome: string): unknown {
  if (outcome === 'nothing') return undefined;
  return outcome === 'errors' && index % 2 === 1 ? `no ${call}` : `stored ${call}`;
}

const errorOf = (outcome: string): Error => {
  if (outcome === 'not started') return new NotStarted(outcome);
  return outcome === 'a bug' ? new TypeError(outcome) : new Unavailable('a failure', outcome);
};

/** A step of the model and of the queue. Afterwards, both have the same state. */
class Step implements fc.AsyncCommand<Model, Real> {
  readonly title: string;
  readonly model: (model: Model) => void;
  readonly real: (real: Real, model: Model) => void;
  readonly isPossible: (model: Model) => boolean;

  constructor(
    title: string,
    real: Step['real'],
    model: Step['model'],
    isPossible: Step['isPossible'] = () => true,
  ) {
    this.title = title;
    this.real = real;
    this.model = model;
    this.isPossible = isPossible;
  }
  check = (model: Readonly<Model>): boolean => this.isPossible(model);
  toString = (): string => this.title;
  async run(model: Model, real: Real): Promise<void> {
    this.real(real, model);
    this.model(model);
    for (let turn = 0; turn < 8; turn += 1) await immediate();
    expect(real.state()).toEqual(model.state());
  }
}

const adds = fc.array(fc.constantFrom('a', 'a', 'alone'), { minLength: 1, maxLength: 4 });
const addStep = adds.map((kinds) => {
  const names = (count: number) => kinds.map((kind, index) => `${kind}${count + index}`);
  return new Step(
    `add ${kinds}`,
    (real, model) => names(model.count).forEach(real.add),
    (model) => {
      for (const name of names(model.count)) model.add(name);
      model.count += kinds.length;
      model.start();
    },
  );
});

const SUCCESSES = ['results', 'nothing', 'errors'];
const FAILURES = ['SQLITE_FULL', 'SQLITE_FULL', 'SQLITE_BUSY', 'TIMEOUT', 'a bug', 'not started'];
const endStep = fc
  .tuple(fc.nat(), fc.constantFrom(...SUCCESSES, ...FAILURES))
  .map(([at, outcome]) => {
    const index = ({ commits }: Model) => at % commits.length;
    return new Step(
      `end commit ${at}: ${outcome}`,
      (real, model) => {
        const [commit] = real.commits.splice(index(model), 1);
        if (outcome === 'nothing') commit?.resolve([]);
        else if (outcome === 'results' || outcome === 'errors') {
          const results = (commit?.calls ?? []).map((call, index) =>
            String(resultOf(call, index, outcome)),
          );
          commit?.resolve(
            results.map((text) =>
              text.startsWith('no ') ? { error: new Error(text) } : { result: text },
            ),
          );
        } else commit?.reject(errorOf(outcome));
      },
      (model) => {
        const commit = model.commits[index(model)];
        if (commit) model.end(commit, outcome);
      },
      ({ commits }) => commits.length > 0,
    );
  });

const checkStep = fc.constantFrom('ready', 'SQLITE_FULL', 'not started').map(
  (outcome) =>
    new Step(
      `end check: ${outcome}`,
      ({ checks }) => {
        const check = checks.shift();
        if (outcome === 'ready') check?.resolve([]);
        else check?.reject(errorOf(outcome));
      },
      (model) => model.endCheck(outcome),
      ({ check }) => check?.calls !== undefined,
    ),
);

const ready = new Step(
  'ready',
  (real, { count }) => real.ready(`ready${count}`),
  (model) => {
    const name = `ready${model.count}`;
    model.count += 1;
    const isFull = model.commits.length >= model.maxCommits && !model.checksConcurrently;
    if (model.isClosed) model.readiness[name] = 'CLOSED';
    else if (isFull) model.asked.push({ name, time: model.now, commits: [...model.commits] });
    else {
      model.asked.push({ name, time: model.now });
      model.check ??= { calls: model.failedCalls };
    }
  },
);
const readyStep = fc.constant(ready);

const timeStep = fc.constantFrom(1, 400, 999, 1_000).map(
  (milliseconds) =>
    new Step(
      `${milliseconds} ms pass`,
      () => jest.advanceTimersByTime(milliseconds),
      (model) => {
        model.now += milliseconds;
        for (const [call, deadline] of model.deadlines)
          if (deadline <= model.now) model.settle(call, 'TIMEOUT', true);
        model.tell(({ time }) => time + READY_MS <= model.now, 'TIMEOUT');
      },
    ),
);

const closeStep = fc.constant(
  new Step(
    'close',
    (real) => void real.close(),
    (model) => {
      model.isClosed = true;
    },
  ),
);

const steps = fc.commands(
  [addStep, addStep, endStep, endStep, checkStep, checkStep, readyStep, readyStep, timeStep],
  { maxCommands: 40, size: 'max' },
);
const ending = fc.commands([endStep, checkStep, closeStep, addStep, readyStep], {
  maxCommands: 10,
});

test('the queue settles each call once, with the outcome of its commit, its limit or its failure', async () => {
  const run = async (
    maxCommits: number,
    checksConcurrently: boolean,
    steps: Iterable<fc.AsyncCommand<Model, Real>>,
    ending: Iterable<fc.AsyncCommand<Model, Real>>,
  ): Promise<void> => {
    jest.clearAllTimers();
    const model = new Model(maxCommits, checksConcurrently);
    const real = createReal(maxCommits, checksConcurrently);
    model.now = performance.now();
    for (const list of [steps, [ready], ending])
      await fc.asyncModelRun(() => ({ model, real }), list);
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(1, 2, 3), fc.boolean(), steps, ending, run),
    randomValues(100),
  );
});
