import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersByPaths, contendersIn } from './contenders.ts';
import { hasWrk, LOADS, type Measurement } from './load.ts';
import { median } from './median.ts';
import { start, takeCore } from './servers.ts';

const HELP = `Measures POST /plants, with a new plant in each request, and compares other servers.

  npm run bench                  in memory and on disk, compared with Express,
                                 express-openapi-validator (EOV) and Fastify
  npm run bench -- --paths       this service with 1 to 1,000 paths in the document
  npm run bench -- --streams     streams of events, compared with Express
  npm run bench -- --failing     group-commit when some of its calls fail

  --only PATTERN      only matching contenders, such as '^(Express|This service),'
  --rounds N          rounds (5)
  --seconds S         length of a measurement (2)
  --warm-up S         load on each server before its first measurement of a round (4)
  --connections N,N   how many connections, each with one request at a time (32,128)
  --open N            how many streams, with --streams (1000)
  --load PROGRAM      wrk or autocannon (wrk if it is installed)
  --json FILE         writes all figures
  --svg FILE          draws the responses per second with the first number of connections
  --help              shows this

In each round, the contenders are started, measured and ended one after the other, each with an
empty store and the same ids. The figures are medians of the rounds. × compares with Express in
memory, or with the first row. CPU is the time of all threads of the server per request. On disk, a
200 response means that the plant survives a power cut. With taskset and two or more cores, the load
runs on a separate core. DATABASE_URL names a database to use instead of a new SQLite file. It is
not emptied.`;

/** The distance between the first ids of two measurements. No measurement sends so many plants. */
const MAX_IDS = 10_000_000;

interface Sample extends Measurement {
  /** CPU time of the server for each request, in microseconds. */
  readonly cpu: number | undefined;
}

/** A contender over a number of connections, with a sample of each round. */
interface Run {
  readonly name: string;
  readonly connections: number;
  readonly samples: Sample[];
}

try {
  await benchmark();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// Ends a running contender, too.
process.exit();

type Flags = ReturnType<typeof readFlags>;

function readFlags() {
  const flag = { type: 'boolean' } as const;
  const text = (preset = '') => ({ type: 'string', default: preset }) as const;
  const { values } = parseArgs({
    options: {
      paths: flag,
      streams: flag,
      failing: flag,
      help: flag,
      only: text(),
      load: text(hasWrk() ? 'wrk' : 'autocannon'),
      json: text(),
      svg: text(),
      rounds: text('5'),
      seconds: text('2'),
      'warm-up': text('4'),
      connections: text('32,128'),
      open: text('1000'),
    },
  });
  const positive = (option: string, value: string): number => {
    if (Number(value) > 0) return Number(value);
    throw new Error(`--${option} must be a number above 0, got "${value}"`);
  };
  const { load } = values;
  if (load !== 'wrk' && load !== 'autocannon') {
    throw new Error(`--load must be wrk or autocannon, got "${load}"`);
  }
  return {
    ...values,
    program: load,
    load: LOADS[load],
    connections: values.connections.split(',').map((count) => positive('connections', count)),
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    warmUp: positive('warm-up', values['warm-up']),
    open: positive('open', values.open),
  };
}

async function benchmark(): Promise<void> {
  const flags = readFlags();
  const { rounds, seconds } = flags;
  if (flags.help) return console.log(HELP);
  // These modules are only loaded for their own benchmarks.
  if (flags.streams) {
    const { benchStreams } = await import('./streams.ts');
    return benchStreams(seconds, flags.open);
  }
  const data = makeDataFolder();
  if (flags.failing) {
    const { benchFailingCalls } = await import('./failing-calls.ts');
    return benchFailingCalls(data, rounds, seconds);
  }

  const cores = takeCore();
  const runs = await measureRounds(flags, data, cores);
  const core = cores ? ', one for the load' : '';
  const date = new Date().toISOString().slice(0, 10);
  const measured = `Medians of ${rounds} rounds of ${seconds} s by ${flags.program}`;
  const notes = [
    `${measured}. ${date}, Node ${process.versions.node}.`,
    `${cpus()[0]?.model.trim()}, ${cpus().length} cores${core}.`,
  ];
  const [rates = {}] = flags.connections.map((connections) => printTable(runs, connections));
  console.log(notes.join('\n'));
  const { json, svg } = flags;
  if (json) writeFileSync(json, `${JSON.stringify({ notes, runs }, undefined, 2)}\n`);
  const title = `POST /plants, responses per second over ${flags.connections[0]} connections`;
  // echarts takes half a second to load.
  if (svg) writeFileSync(svg, (await import('./chart.ts')).drawChart(title, rates, notes));
  const failed = runs.filter(({ samples }) => samples.some(({ failures }) => failures > 0));
  if (failed.length > 0) {
    throw new Error(`Some requests failed: ${failed.map(({ name }) => name).join('; ')}`);
  }
}

/** Creates a folder in data/: the temporary folder of the system may be in memory. */
function makeDataFolder(): string {
  const data = join(import.meta.dirname, '../../data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  return folder;
}

async function measureRounds(flags: Flags, data: string, cores?: string): Promise<Run[]> {
  const { load, rounds, seconds, warmUp } = flags;
  const runs = new Map<string, Run>();
  for (let round = 1; round <= rounds; round += 1) {
    const folder = mkdtempSync(join(data, 'round-'));
    const contenders = (flags.paths ? contendersByPaths : contendersIn)(folder);
    for (const contender of contenders) {
      const { name } = contender;
      if (!new RegExp(flags.only).test(name)) continue;
      console.error(`round ${round} of ${rounds}: ${name}`);
      const { url, cpu, end } = await start(contender, join(folder, 'server.log'), cores);
      await load({ url, connections: 32, seconds: warmUp, firstId: 1 });
      for (const [index, connections] of flags.connections.entries()) {
        const before = cpu();
        const firstId = 1 + (index + 1) * MAX_IDS;
        const measurement = await load({ url, connections, seconds, firstId });
        const after = cpu();
        const hasTimes = before !== undefined && after !== undefined;
        const run = runs.getOrInsert(`${name} ${connections}`, { name, connections, samples: [] });
        run.samples.push({
          ...measurement,
          cpu: hasTimes ? (after - before) / measurement.responses : undefined,
        });
      }
      await end();
    }
    rmSync(folder, { recursive: true, maxRetries: 20 });
  }
  return [...runs.values()];
}

/** Prints the runs over a number of connections. Returns the median rates by name. */
function printTable(allRuns: readonly Run[], connections: number): Record<string, number> {
  const runs = allRuns.filter((run) => run.connections === connections);
  const base = runs.find(({ name }) => name === 'Express, in memory') ?? runs[0];
  const baseRate = medianOf(base, 'rate');
  const rows = runs.map((run) => {
    const rates = run.samples.map(({ rate }) => Math.round(rate));
    return [
      run.name,
      {
        '/s': Math.round(medianOf(run, 'rate')),
        rounds: `${Math.min(...rates)}–${Math.max(...rates)}`,
        'p50 ms': medianOf(run, 'p50').toFixed(2),
        'p99 ms': medianOf(run, 'p99').toFixed(2),
        '×': (medianOf(run, 'rate') / baseRate).toFixed(2),
        'CPU µs': medianOf(run, 'cpu').toFixed(1),
      },
    ] as const;
  });
  console.log(`\nPOST /plants over ${connections} connections`);
  console.table(Object.fromEntries(rows));
  return Object.fromEntries(rows.map(([name, row]) => [name, row['/s']]));
}

function medianOf(run: Run | undefined, key: 'rate' | 'p50' | 'p99' | 'cpu'): number {
  return median(run?.samples.map((sample) => sample[key] ?? NaN) ?? []);
}
