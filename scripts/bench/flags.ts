import { parseArgs } from 'node:util';
import type { Results } from './results.ts';

export const help = `Measures this service against others: POST /plants, each request with a new plant.

  npm run bench                  against Express alone and with three ways to check a contract,
                                 in memory and with a commit per request
  npm run bench -- --paths       the cost of a request with 1 to 1,000 paths in the document
  npm run bench -- --workers     1 and 2 processes, on SQLite and on PostgreSQL

  --rounds N                     rounds; all contenders take turns in each round (5; 3 with --paths)
  --seconds S                    length of a round per contender and number of connections (2)
  --connections N[,N…]           numbers of connections; each connection sends one request at a time
                                 (32,1,128,512; otherwise 32). The throughput chart shows the first.
  --json FILE                    writes the results
  --svg FOLDER                   writes the charts: throughput.svg and latency.svg, paths.svg, or workers.svg
  --from FILE                    measures nothing; reads the results that --json wrote
  --help

The figures are medians over the rounds. Run it on a machine that does nothing else. It takes about seven minutes, two
with --paths or --workers. Databases and logs are in data/ while it runs.`;

/** The command line is wrong. */
export class UsageError extends Error {}

export type Flags = ReturnType<typeof readFlags>;

/** @throws {UsageError} */
export function readFlags() {
  const { paths, workers, rounds, seconds, connections, ...others } = parse();
  if (paths && workers) throw new UsageError('--paths and --workers are two benchmarks. Choose one.');
  const kind: Results['kind'] = paths ? 'paths' : workers ? 'workers' : 'contest';
  const counts = connections ?? (kind === 'contest' ? '32,1,128,512' : '32');
  return {
    ...others,
    kind,
    rounds: positive('--rounds', rounds ?? (kind === 'paths' ? '3' : '5'), true),
    seconds: positive('--seconds', seconds, false),
    connections: counts.split(',').map((count) => positive('--connections', count, true)),
  };
}

function parse() {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean', default: false }] as const;
  const files = { json: text, svg: text, from: text };
  const seconds = { ...text, default: '2' };
  const options = { paths: flag, workers: flag, help: flag, rounds: text, seconds, connections: text, ...files };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\nSee npm run bench -- --help.`);
  }
}

function positive(flag: string, value: string, whole: boolean): number {
  const number = Number(value);
  if (number > 0 && number <= 10_000 && (!whole || Number.isInteger(number))) return number;
  throw new UsageError(`${flag} is "${value}". Use a ${whole ? 'whole ' : ''}number above 0, up to 10,000.`);
}
