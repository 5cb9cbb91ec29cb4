import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersByPaths, contendersIn } from './contenders.ts';
import { fire, type Measured } from './load.ts';
import { start, takeCore } from './processes.ts';
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

type Figures = Measured & { readonly cpu: number };

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
    for (let times = 0; times < WARM_UP; times += 1) await fire(server.url, 32, seconds);
  }
  const runs = servers.flatMap((server) =>
    numbers.map((connections) => ({ server, connections, figures: [] as Figures[] })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    console.error(`round ${round} of ${rounds}`);
    for (const { server, connections, figures } of runs) {
      const before = server.cpu();
      const measured = await fire(server.url, connections, seconds);
      figures.push({ ...measured, cpu: ((server.cpu() - before) / measured.answered) * 1e6 });
    }
  }

  const cpu = `${cpus()[0]?.model.trim()}, ${cpus().length} cores`;
  const how = [
    `Medians of ${rounds} rounds of ${seconds} s.`,
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpu}${cores ? ', one for the load' : ''}.`,
  ];
  const tables = numbers.map((connections) => {
    const rows = runs.filter((each) => each.connections === connections).map(summary);
    const base = (rows.find(({ name }) => name === 'Express, in memory') ?? rows[0])?.['/s'] ?? 1;
    console.log(`\nPOST /plants over ${connections} connections`);
    console.table(
      Object.fromEntries(rows.map(({ name, ...row }) => [name, { ...row, '×': (row['/s'] / base).toFixed(2) }])),
    );
    return Object.fromEntries(rows.map((row) => [row.name, row['/s']]));
  });
  console.log(how.join('\n'));
  const named = runs.map(({ server: { name }, connections, figures }) => ({ name, connections, rounds: figures }));
  if (json) writeFileSync(json, `${JSON.stringify({ how, runs: named }, undefined, 2)}\n`);
  const title = `POST /plants, answers per second over ${numbers[0]} connections`;
  // echarts takes half a second to load.
  if (svg) writeFileSync(svg, (await import('./chart.ts')).drawChart(title, tables[0] ?? {}, how));
  if (named.some((run) => run.rounds.some(({ failures }) => failures > 0))) throw new Error('Some requests failed.');
}

/** The row of a table. */
function summary({ server, figures }: { readonly server: { readonly name: string }; readonly figures: Figures[] }) {
  const sorted = (key: keyof Figures) => figures.map((each) => each[key]).toSorted((a, b) => a - b);
  const median = (key: keyof Figures) => sorted(key)[figures.length >> 1] ?? NaN;
  const rates = sorted('throughput').map(Math.round);
  return {
    name: server.name,
    '/s': Math.round(median('throughput')),
    rounds: `${rates[0]}–${rates.at(-1)}`,
    'p50 ms': median('p50').toFixed(2),
    'p99 ms': median('p99').toFixed(2),
    'CPU µs': median('cpu').toFixed(1),
  };
}
