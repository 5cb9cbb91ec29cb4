import { type Contender, rival } from './contenders/index.ts';
import type { Cores } from './processes.ts';
import { clear, show } from './progress.ts';
import { label, over, type Run } from './results.ts';
import { type Running, start, startLoad } from './servers.ts';

export interface Plan {
  readonly rounds: number;
  /** Length of a round for each contender and number of connections. */
  readonly seconds: number;
  readonly connections: readonly number[];
  /** How often each contender is started to measure its start. */
  readonly starts: number;
  /** An existing folder for databases and logs. */
  readonly folder: string;
  readonly cores: Cores | undefined;
}

/**
 * Measures contenders against each other. All are started and warmed up, then take turns in every round. So other work
 * on the machine affects all of them alike.
 */
export async function measure(contenders: readonly Contender[], plan: Plan): Promise<Run[]> {
  const { rounds, seconds, connections, folder, cores } = plan;
  const load = startLoad(cores);
  const stages: { server: Running; answered: number; runs: Run[] }[] = [];
  try {
    for (const [index, contender] of contenders.entries()) {
      show(`starting ${label(contender)}`);
      const started: number[] = [];
      for (let extra = 1; extra < plan.starts; extra += 1) {
        const server = await start(contender, `${folder}/${index}-start${extra}`, cores);
        started.push(server.started);
        await server.stop();
      }
      const server = await start(contender, `${folder}/${index}`, cores);
      started.push(server.started);
      const { name, kept, paths, workers } = contender;
      const runs = connections.map((count) => {
        return { name, kept, paths, workers, connections: count, started, memory: [], lost: 0, rounds: [] };
      });
      stages.push({ server, answered: 0, runs });
    }

    let left = stages.length * (1 + rounds * connections.length);
    for (let round = 0; round <= rounds; round += 1) {
      const title = round === 0 ? 'warming up' : `round ${round} of ${rounds}`;
      for (const stage of stages) {
        const { server, runs } = stage;
        for (const run of round === 0 ? runs.slice(0, 1) : runs) {
          const time = `${clock(left * seconds)} left`;
          show(`${title} · ${label(run)} · ${over(run.connections)} · ${time}`);
          left -= 1;
          const before = server.cpu();
          const measured = await load.fire({ url: server.url, connections: run.connections, seconds });
          const after = server.cpu();
          stage.answered += measured.answered;
          if (round === 0) continue;
          const known = before !== undefined && after !== undefined && measured.answered > 0;
          run.rounds.push({ ...measured, cpu: known ? ((after - before) / measured.answered) * 1e6 : 0 });
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
    clear();
  }
}

/** Answers per second that the load reaches against a server that does almost nothing. */
export async function measureCeiling(plan: Plan): Promise<number> {
  const once = { ...plan, rounds: 1, starts: 1, connections: plan.connections.slice(0, 1) };
  const bare = rival('node:http', 'in memory', '');
  const [run] = await measure([bare], { ...once, folder: `${plan.folder}/ceiling` });
  return run?.rounds[0]?.throughput ?? 0;
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds) % 60).padStart(2, '0')}`;
}
