import { type Contender, ceiling } from './contenders/index.ts';
import type { Progress } from './progress.ts';
import type { Run } from './results.ts';
import { type Cores, type Running, start, startLoad } from './servers.ts';

export interface Plan {
  /** How many rounds; a run's figure is the median over them. */
  readonly rounds: number;
  /** How long each round is for each contender and number of connections. */
  readonly seconds: number;
  readonly connections: readonly number[];
  /** How often each contender is started to time it. */
  readonly starts: number;
  /** For databases and logs; exists. */
  readonly folder: string;
  readonly cores: Cores | undefined;
}

/**
 * Measures contenders against each other: all are started, warmed up, and then take turns in every round, so that
 * whatever else the machine does meets each of them alike.
 */
export async function measure(contenders: readonly Contender[], plan: Plan, progress: Progress): Promise<Run[]> {
  const { rounds, seconds, connections, folder, cores } = plan;
  const load = startLoad(cores);
  const stages: { server: Running; answered: number; runs: Run[] }[] = [];
  try {
    for (const [index, contender] of contenders.entries()) {
      progress.step(`starting ${label(contender)}`);
      const started: number[] = [];
      for (let extra = 1; extra < plan.starts; extra += 1) {
        const server = await start(contender, `${folder}/${index}-start${extra}`, cores);
        started.push(server.started);
        await server.stop();
      }
      const server = await start(contender, `${folder}/${index}`, cores);
      started.push(server.started);
      const { name, kept, paths, workers } = contender;
      stages.push({
        server,
        answered: 0,
        runs: connections.map((count) => {
          return { name, kept, paths, workers, connections: count, started, memory: [], lost: 0, rounds: [] };
        }),
      });
    }

    let left = stages.length * (1 + rounds * connections.length);
    for (let round = 0; round <= rounds; round += 1) {
      const title = round === 0 ? 'warming up' : `round ${round} of ${rounds}`;
      for (const stage of stages) {
        const { server, runs } = stage;
        for (const run of round === 0 ? runs.slice(0, 1) : runs) {
          const about = `${title} · ${label(server.contender)} · ${run.connections} connections`;
          progress.step(`${about} · ${clock(left * seconds)} left`);
          left -= 1;
          const before = server.computed();
          const seen = await load.fire({ url: server.url, connections: run.connections, seconds });
          const after = server.computed();
          stage.answered += seen.answered;
          if (round === 0) continue;
          const known = before !== undefined && after !== undefined && seen.answered > 0;
          run.rounds.push({ ...seen, computed: known ? ((after - before) / seen.answered) * 1e6 : 0 });
          const memory = server.memory();
          if (memory !== undefined) run.memory.push(memory);
        }
      }
    }

    for (const { server, answered, runs } of stages) {
      await server.stop();
      const lost = Math.max(0, answered - (server.stored() ?? answered));
      for (const run of runs) run.lost = lost;
    }
    return stages.flatMap(({ runs }) => runs);
  } finally {
    for (const { server } of stages) await server.stop();
    await load.stop();
    progress.end();
  }
}

/** @returns how many answers a second the load reaches where the server does next to nothing. */
export async function measureCeiling(
  plan: Pick<Plan, 'seconds' | 'connections' | 'folder' | 'cores'>,
  progress: Progress,
): Promise<number> {
  const connections = plan.connections.slice(0, 1);
  const folder = `${plan.folder}/ceiling`;
  const [run] = await measure([ceiling], { ...plan, connections, folder, rounds: 1, starts: 1 }, progress);
  return run?.rounds[0]?.throughput ?? 0;
}

function label({ name, kept, paths, workers }: Contender): string {
  const details = [kept === 'disk' ? 'on disk' : 'in memory'];
  if (paths > 1) details.push(`${paths} paths`);
  if (workers > 1) details.push(`${workers} workers`);
  return `${name}, ${details.join(', ')}`;
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.ceil(seconds) % 60).padStart(2, '0')}`;
}
