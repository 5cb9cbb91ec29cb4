import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersByPaths, contendersIn } from './contenders.ts';
import { start, takeCore } from './servers.ts';
import { benchStreams } from './streams.ts';

const HELP = `Measures POST /plants, each request with a new plant: this service beside others, in one run.

  npm run bench                  in memory and on disk, beside Express, express-openapi-validator (EOV) and Fastify
  npm run bench -- --paths       this service with 1 to 1,000 paths in the document
  npm run bench -- --streams     streams of events, beside Express

  --only PATTERN      only the contenders whose name matches, as in --only '^(Express|This service),'
  --rounds N          rounds; the contenders take turns in each (5)
  --seconds S         length of a measurement (2)
  --connections N,N   how many connections, each with one request at a time (32,128)
  --json FILE         writes all figures
  --svg FILE          draws the answers per second over the first number of connections
  --help

The figures are medians of the rounds; ×: of Express in memory, or of the first row. Each server is warm before the first
round. On disk: an answered plant survives a power cut. The load has a core of its own where there are two cores and
taskset. DATABASE_URL takes the place of a new SQLite file.`;

/** Before the first round each server is under load for this many measurements: V8 compiles what runs often. */
const WARM_UP = 3;

try {
  await benchmark();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// The contenders end with this process.
process.exit();

function readFlags() {
  const flag = { type: 'boolean' } as const;
  const text = (preset = '') => ({ type: 'string', default: preset }) as const;
  const files = { only: text(), json: text(), svg: text() };
  const numbers = { rounds: text('5'), seconds: text('2'), connections: text('32,128') };
  const { values } = parseArgs({ options: { paths: flag, streams: flag, help: flag, ...files, ...numbers } });
  const positive = (value: string): number => {
    if (Number(value) > 0) return Number(value);
    throw new Error(`"${value}" must be a number above 0. See npm run bench -- --help.`);
  };
  const connections = values.connections.split(',').map(positive);
  return { ...values, connections, rounds: positive(values.rounds), seconds: positive(values.seconds) };
}

async function benchmark(): Promise<void> {
  const { help, paths, streams, only, rounds, seconds, connections: numbers, json, svg } = readFlags();
  if (help) return console.log(HELP);
  if (streams) return benchStreams(seconds);
  // In data/: the system's own temporary folder may be in memory.
  const data = join(import.meta.dirname, '../../data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

  const cores = takeCore();
  const servers = [];
  for (const contender of (paths ? contendersByPaths : contendersIn)(folder)) {
    if (!new RegExp(only).test(contender.name)) continue;
    console.error(`starting ${contender.name}`);
    const server = await start(contender, join(folder, `${servers.length}.log`), cores);
    servers.push(server);
    for (let times = 0; times < WARM_UP; times += 1) await server.fire(32, seconds);
  }
  const runs = servers.flatMap(({ name, fire }) =>
    numbers.map((connections) => ({ name, connections, fire, rounds: [] as Awaited<ReturnType<typeof fire>>[] })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    console.error(`round ${round} of ${rounds}`);
    for (const run of runs) run.rounds.push(await run.fire(run.connections, seconds));
  }

  const how = [
    `Medians of ${rounds} rounds of ${seconds} s. ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}.`,
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores${cores ? ', one for the load' : ''}.`,
  ];
  const [rates = {}] = numbers.map((connections) => {
    const measured = runs.filter((run) => run.connections === connections);
    const median = (run: (typeof runs)[number], key: 'throughput' | 'p50' | 'p99') =>
      run.rounds.map((round) => round[key]).sort((a, b) => a - b)[rounds >> 1] ?? NaN;
    const base = measured.find(({ name }) => name === 'Express, in memory') ?? measured[0];
    const rows = measured.map((run) => {
      const all = run.rounds.map(({ throughput }) => Math.round(throughput));
      const row = {
        '/s': Math.round(median(run, 'throughput')),
        rounds: `${Math.min(...all)}–${Math.max(...all)}`,
        'p50 ms': median(run, 'p50').toFixed(2),
        'p99 ms': median(run, 'p99').toFixed(2),
        '×': base && (median(run, 'throughput') / median(base, 'throughput')).toFixed(2),
      };
      return [run.name, row] as const;
    });
    console.log(`\nPOST /plants over ${connections} connections`);
    console.table(Object.fromEntries(rows));
    return Object.fromEntries(rows.map(([name, row]) => [name, row['/s']]));
  });
  console.log(how.join('\n'));
  if (json) writeFileSync(json, `${JSON.stringify({ how, runs }, undefined, 2)}\n`);
  const title = `POST /plants, answers per second over ${numbers[0]} connections`;
  // echarts takes half a second to load.
  if (svg) writeFileSync(svg, (await import('./chart.ts')).drawChart(title, rates, how));
  if (runs.some((run) => run.rounds.some(({ failures }) => failures > 0))) throw new Error('Some requests failed.');
}
