import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawChart } from './chart.ts';
import { BENCHMARKS } from './contenders.ts';
import { measure, summary } from './measure.ts';
import { splitCores } from './processes.ts';
import { benchStreams } from './streams.ts';

const HELP = `Measures POST /plants, each request with a new plant: this service beside others, in one run.

  npm run bench                  in memory and on disk, beside Express, express-openapi-validator (EOV) and Fastify
  npm run bench -- --paths       with 1 to 1,000 paths in the document
  npm run bench -- --workers     with 1, 2 and 4 processes
  npm run bench -- --streams     streams of events, beside Express

  --only PATTERN      only the contenders whose name matches, as in --only '^(Express|This service),'
  --rounds N          rounds; the contenders take turns in each (5)
  --seconds S         length of a measurement (2)
  --connections N,N   how many connections, each with one request at a time (32,128)
  --json FILE         writes all figures
  --svg FILE          draws the answers per second over the first number of connections
  --help

The figures are medians of the rounds. On disk: an answered plant survives a power cut. The load has a core of its own
where there are two cores and taskset, but not with --workers. DATABASE_URL takes the place of a new SQLite file.`;

try {
  const flags = readFlags();
  if (flags.help) console.log(HELP);
  else if (flags.streams) await benchStreams(flags.seconds);
  else await benchmark(flags);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// The contenders end with this process.
process.exit();

function readFlags() {
  const flag = { type: 'boolean' } as const;
  const text = (preset = '') => ({ type: 'string', default: preset }) as const;
  const numbers = { rounds: text('5'), seconds: text('2'), connections: text('32,128') };
  const options = {
    paths: flag,
    workers: flag,
    streams: flag,
    help: flag,
    only: text(),
    json: text(),
    svg: text(),
    ...numbers,
  };
  const { rounds, seconds, connections, ...others } = parseArgs({ options }).values;
  const positive = (value: string): number => {
    if (Number(value) > 0) return Number(value);
    throw new Error(`"${value}" must be a number above 0. See npm run bench -- --help.`);
  };
  return {
    ...others,
    rounds: positive(rounds),
    seconds: positive(seconds),
    connections: connections.split(',').map(positive),
  };
}

async function benchmark(flags: ReturnType<typeof readFlags>): Promise<void> {
  // In data/: the system's own temporary folder may be in memory.
  const data = join(import.meta.dirname, '../../data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

  const kind = flags.paths ? 'paths' : flags.workers ? 'workers' : 'all';
  const only = new RegExp(flags.only);
  const contenders = BENCHMARKS[kind](folder).filter(({ name }) => only.test(name));
  const cores = kind === 'workers' ? undefined : splitCores();
  const runs = await measure(contenders, flags, folder, cores);
  const cpu = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores`;
  const how = [
    `Medians of ${flags.rounds} rounds of ${flags.seconds} s.`,
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpu}${cores ? ', one for the load' : ''}.`,
  ];
  for (const connections of flags.connections) {
    console.log(`\nPOST /plants over ${connections} connections. ×: of the first row, or of Express in memory.`);
    console.table(summary(runs.filter((run) => run.connections === connections)));
  }
  console.log(how.join('\n'));
  if (flags.json) writeFileSync(flags.json, `${JSON.stringify({ how, runs }, undefined, 2)}\n`);
  if (flags.svg) writeFileSync(flags.svg, drawChart(runs, how));
  if (runs.some(({ rounds }) => rounds.some(({ failures }) => failures > 0))) throw new Error('Some requests failed.');
}
