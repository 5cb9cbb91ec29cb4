/** @returns the middle value, or the mean of the middle two; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** What one benchmark saw, raw. */
export type Results = ReturnType<typeof readResults>;

/** One contender over one number of connections. */
export type Run = ReturnType<typeof readRun>;

/** One round of a run: answers, failures, answers a second, milliseconds at three percentiles, computing time. */
export type Round = ReturnType<typeof readRound>;

/** Reads back what `--json` wrote. @throws {Error} that names the first place that is not as it was written. */
export function readResults(value: unknown, at = 'the results') {
  const results = object(value, at);
  const machine = object(results.machine, `${at}.machine`);
  return {
    kind: oneOf(['contest', 'paths', 'workers'], results.kind, `${at}.kind`),
    command: string(results.command, `${at}.command`),
    date: string(results.date, `${at}.date`),
    machine: {
      cpu: string(machine.cpu, `${at}.machine.cpu`),
      cores: number(machine.cores, `${at}.machine.cores`),
      system: string(machine.system, `${at}.machine.system`),
    },
    versions: Object.fromEntries(
      Object.entries(object(results.versions, `${at}.versions`)).map(([name, version]) => [
        name,
        string(version, `${at}.versions.${name}`),
      ]),
    ),
    /** Whether the load had a core to itself. */
    pinned: boolean(results.pinned, `${at}.pinned`),
    /** Answers a second that the load reaches against bare `node:http`. */
    ceiling: number(results.ceiling, `${at}.ceiling`),
    seconds: number(results.seconds, `${at}.seconds`),
    runs: list(results.runs, `${at}.runs`).map((run, index) => readRun(run, `${at}.runs[${index}]`)),
  };
}

function readRun(value: unknown, at: string) {
  const run = object(value, at);
  return {
    name: string(run.name, `${at}.name`),
    kept: oneOf(['memory', 'disk'], run.kept, `${at}.kept`),
    paths: number(run.paths, `${at}.paths`),
    workers: number(run.workers, `${at}.workers`),
    connections: number(run.connections, `${at}.connections`),
    /** Milliseconds from start to first answer, once for each start. */
    started: list(run.started, `${at}.started`).map((item, index) => number(item, `${at}.started[${index}]`)),
    /** Resident bytes after each round; empty where the system does not tell. */
    memory: list(run.memory, `${at}.memory`).map((item, index) => number(item, `${at}.memory[${index}]`)),
    /** Acknowledged plants that the contender's database does not hold. */
    lost: number(run.lost, `${at}.lost`),
    rounds: list(run.rounds, `${at}.rounds`).map((round, index) => readRound(round, `${at}.rounds[${index}]`)),
  };
}

function readRound(value: unknown, at: string) {
  const round = object(value, at);
  return {
    answered: number(round.answered, `${at}.answered`),
    failures: number(round.failures, `${at}.failures`),
    throughput: number(round.throughput, `${at}.throughput`),
    p50: number(round.p50, `${at}.p50`),
    p975: number(round.p975, `${at}.p975`),
    p99: number(round.p99, `${at}.p99`),
    /** Microseconds that the server's threads computed for an answer; 0 where the system does not tell. */
    computed: number(round.computed, `${at}.computed`),
  };
}

function object(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(at, 'an object', value);
  return { ...value };
}

function list(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(at, 'a list', value);
  return value;
}

function number(value: unknown, at: string): number {
  if (typeof value !== 'number') throw wrong(at, 'a number', value);
  return value;
}

function string(value: unknown, at: string): string {
  if (typeof value !== 'string') throw wrong(at, 'a string', value);
  return value;
}

function boolean(value: unknown, at: string): boolean {
  if (typeof value !== 'boolean') throw wrong(at, 'true or false', value);
  return value;
}

function oneOf<Choice extends string>(choices: readonly Choice[], value: unknown, at: string): Choice {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw wrong(at, `one of ${choices.join(', ')}`, value);
  return choice;
}

function wrong(at: string, expected: string, value: unknown): Error {
  return new Error(`${at} should be ${expected}, but is ${JSON.stringify(value)}.`);
}
