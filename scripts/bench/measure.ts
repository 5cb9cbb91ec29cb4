import { once } from 'node:events';
import { join } from 'node:path';
import type { Contender } from './contenders.ts';
import type { Measured, Order } from './load.ts';
import { run, type splitCores, start, TOKEN } from './processes.ts';

/** A contender over one number of connections. */
export interface Run {
  readonly name: string;
  readonly connections: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly startMs: number;
  /** Besides what the load measures: CPU microseconds of all threads for each answer, resident MiB. */
  readonly rounds: (Measured & { readonly cpu: number; readonly memory: number })[];
}

/** Starts all contenders and lets them take turns in each round, so that other work on the machine affects all alike. */
export async function measure(
  contenders: readonly Contender[],
  plan: { readonly rounds: number; readonly seconds: number; readonly connections: readonly number[] },
  folder: string,
  cores: ReturnType<typeof splitCores>,
): Promise<Run[]> {
  const load = run(join(import.meta.dirname, 'load.ts'), cores?.load, {}, ['ignore', 2, 2, 'ipc']);
  const fire = async (url: string, connections: number): Promise<Measured> => {
    load.send({ url, token: TOKEN, connections, seconds: plan.seconds } satisfies Order);
    return (await once(load, 'message'))[0];
  };
  const turns = [];
  for (const [index, contender] of contenders.entries()) {
    const { name } = contender;
    console.error(`starting ${name}`);
    const server = await start(contender, join(folder, `${index}.log`), cores?.servers);
    const { startMs } = server;
    const runs = plan.connections.map((connections): Run => ({ name, connections, startMs, rounds: [] }));
    turns.push({ server, runs });
    await fire(server.url, 32);
  }
  for (let round = 1; round <= plan.rounds; round += 1) {
    console.error(`round ${round} of ${plan.rounds}`);
    for (const { server, runs } of turns) {
      for (const { connections, rounds } of runs) {
        const before = server.cpu();
        const measured = await fire(server.url, connections);
        const cpu = ((server.cpu() - before) / measured.answered) * 1e6;
        rounds.push({ ...measured, cpu, memory: server.memory() });
      }
    }
  }
  return turns.flatMap(({ runs }) => runs);
}

/** The middle value; the higher of the middle two. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

/** The medians of runs over one number of connections, by name. */
export function summary(runs: readonly Run[]) {
  const figure = ({ rounds }: Run, name: keyof Run['rounds'][number]) => median(rounds.map((round) => round[name]));
  const base = runs.find(({ name }) => name === 'Express, in memory') ?? runs[0];
  const rows = runs.map((run) => {
    const rates = run.rounds.map(({ throughput }) => Math.round(throughput));
    const rate = figure(run, 'throughput');
    const row = {
      'answers/s': Math.round(rate),
      rounds: `${Math.min(...rates)}–${Math.max(...rates)}`,
      '×': (rate / (base ? figure(base, 'throughput') : rate)).toFixed(2),
      'p50 ms': figure(run, 'p50').toFixed(2),
      'p99 ms': figure(run, 'p99').toFixed(2),
      'CPU µs': figure(run, 'cpu').toFixed(1),
      MiB: Math.round(figure(run, 'memory')),
      'start ms': Math.round(run.startMs),
    };
    return [run.name, row] as const;
  });
  return Object.fromEntries(rows);
}
