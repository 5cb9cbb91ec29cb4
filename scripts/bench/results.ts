/** Changes when `Results` does, so that old files are told apart. */
export const format = 'bench-2';

/** What one benchmark measured; `--json` writes it, `--from` reads it. */
export interface Results {
  readonly format: typeof format;
  readonly kind: 'contest' | 'paths' | 'workers';
  readonly command: string;
  readonly date: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly system: string;
    /** Load average of the minute before the start; near 0 on a quiet machine. */
    readonly load: number;
  };
  readonly versions: Readonly<Record<string, string>>;
  /** True if the load had a core of its own. */
  readonly pinned: boolean;
  /** Answers per second that the load reaches against `node:http`. */
  readonly ceiling: number;
  readonly seconds: number;
  readonly runs: readonly Run[];
}

/** Where a plant is when its answer is sent. */
export type Kept = 'in memory' | 'a commit per request' | 'on disk, shared commits';

/** What is measured. */
export interface Subject {
  readonly name: string;
  readonly kept: Kept;
  /** Number of paths in its document. */
  readonly paths: number;
  /** Number of processes. */
  readonly workers: number;
}

/** One subject over one number of connections. */
export interface Run extends Subject {
  readonly connections: number;
  /** Milliseconds from start to first answer, one value per start. */
  readonly started: number[];
  /** Resident bytes after each round; empty where the system does not tell. */
  readonly memory: number[];
  /** Acknowledged plants that are not in the contender's database. */
  lost: number;
  readonly rounds: Round[];
}

export interface Round {
  readonly answered: number;
  readonly failures: number;
  /** Answers per second. */
  readonly throughput: number;
  /** Milliseconds within which half of the answers came. */
  readonly p50: number;
  /** Milliseconds within which 99 of 100 answers came. */
  readonly p99: number;
  /** CPU microseconds of all server threads per answer; 0 where the system does not tell. */
  readonly cpu: number;
}

/** The middle value, or the mean of the middle two; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** The median of one figure over the rounds of a run. */
export function figure(run: Run, name: keyof Round): number {
  return median(run.rounds.map((round) => round[name]));
}

/** The lowest and the highest value of one figure over the rounds of a run. */
export function range(run: Run, name: keyof Round): [low: number, high: number] {
  const values = run.rounds.map((round) => round[name]);
  return [Math.min(...values), Math.max(...values)];
}

/** Tells why a run does not count; `undefined` for a valid run. */
export function invalid({ rounds, lost }: Run): string | undefined {
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
  const reasons = [
    failures > 0 && `${integer(failures)} requests failed`,
    lost > 0 && `${integer(lost)} acknowledged plants are not stored`,
    rounds.every((round) => round.answered === 0) && 'no request was answered',
  ].filter((reason) => reason !== false);
  return reasons.length === 0 ? undefined : reasons.join(', ');
}

export function integer(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Three significant digits. */
export function milliseconds(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function times(value: number, base: number): string {
  return `${(value / base).toFixed(2)} ×`;
}

/** Names what was measured, as in "Express, in memory". */
export function label({ name, kept, paths, workers }: Subject): string {
  const size = [...(paths > 1 ? [`${integer(paths)} paths`] : []), ...(workers > 1 ? [`${workers} workers`] : [])];
  return [name, kept, ...size].join(', ');
}

export function over(connections = 0): string {
  return connections === 1 ? '1 connection' : `${integer(connections)} connections`;
}
