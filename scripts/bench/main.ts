/**
 * Measures `POST /plants` with a new plant in each request, for this service and others. All run at
 * the same time on one core, and are loaded in turns by wrk, which runs on another core.
 *
 * Usage: npm run bench -- [--rounds N] [--seconds N] [--only PATTERN] [--write]. With `--write`,
 * writes the table of docs/performance.md and the chart of README.md. The figures are medians of
 * the rounds. × compares with Express in memory. CPU is the time of all threads of the server for
 * each request. On disk, a 200 response means that the plant survives a power loss.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contendersIn } from './contenders.ts';
import { load, type Measurement } from './load.ts';
import { type Server, start, takeCore } from './servers.ts';

const root = join(import.meta.dirname, '../..');
const PAGE = join(root, 'docs/performance.md');
const CHART = join(root, '.github/charts/throughput.svg');

const CONNECTIONS = [32, 128] as const;

/** The time of the load on a server before it is measured, in times of a measurement. */
const WARM_UP = 2;

/** The distance between the first ids of two measurements. None sends so many plants. */
const MAX_IDS = 10_000_000;

/** A server over a number of connections, with a measurement of each round. */
interface Run {
  readonly name: string;
  readonly connections: number;
  readonly samples: Measurement[];
}

/** Creates a folder in data/: the temporary folder of the system may be in memory. */
function makeFolder(): string {
  const data = join(root, 'data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  return folder;
}

/** Starts all contenders with empty stores, and loads them in turns. */
async function measureRound(runs: Map<string, Run>, folder: string, only: RegExp, seconds: number) {
  const contenders = contendersIn(folder).filter(({ name }) => only.test(name));
  const servers: Server[] = [];
  for (const contender of contenders) servers.push(await start(contender, folder, core));
  for (const server of servers) {
    await load(server, { connections: 32, seconds: WARM_UP * seconds, firstId: 1 });
  }
  for (const [index, connections] of CONNECTIONS.entries()) {
    for (const server of servers) {
      const { name } = server;
      const run = runs.getOrInsert(`${name} ${connections}`, { name, connections, samples: [] });
      const firstId = (index + 1) * MAX_IDS;
      run.samples.push(await load(server, { connections, seconds, firstId }));
    }
  }
  for (const server of servers) await server.end();
}

function median(run: Run | undefined, key: keyof Measurement): number {
  const values = run?.samples.map((sample) => sample[key]).sort((a, b) => a - b) ?? [];
  return values[Math.floor(values.length / 2)] ?? NaN;
}

function tableOf(runs: readonly Run[]): string {
  const names = new Set(runs.map(({ name }) => name));
  const find = (name: string | undefined, connections: number) =>
    runs.find((run) => run.name === name && run.connections === connections);
  const rows = Array.from(names, (name) => {
    const cells = CONNECTIONS.flatMap((connections) => {
      const run = find(name, connections);
      const base = find([...names][0], connections);
      const rate = median(run, 'rate');
      return [
        Math.round(rate).toLocaleString('en'),
        (rate / median(base, 'rate')).toFixed(2),
        median(run, 'cpu').toFixed(1),
        median(run, 'p99').toFixed(1),
      ];
    });
    return [name, ...cells];
  });
  const heads = CONNECTIONS.flatMap((count) => [
    `${count} connections: /s`,
    '×',
    'CPU µs',
    'p99 ms',
  ]);
  const lines = [['server', ...heads], ['---', ...heads.map(() => '---:')], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [flags.rounds, flags.seconds].map(Number);
if (!rounds || !seconds) throw new Error('--rounds and --seconds must be numbers above 0');

const data = makeFolder();
const core = takeCore();
const runsByKey = new Map<string, Run>();
for (let round = 1; round <= rounds; round += 1) {
  console.error(`round ${round} of ${rounds}`);
  const folder = mkdtempSync(join(data, 'round-'));
  await measureRound(runsByKey, folder, new RegExp(flags.only), seconds);
  rmSync(folder, { recursive: true, maxRetries: 20 });
}

const runs = [...runsByKey.values()];
const table = tableOf(runs);
const date = new Date().toISOString().slice(0, 10);
const machine = `${cpus()[0]?.model.trim()}, one core for the servers and one for wrk`;
const measured = `Medians of ${rounds} rounds of ${seconds} s`;
const note = `${measured}. ${date}, Node ${process.versions.node}, ${machine}.`;
console.log(`${table}\n\n${note}`);
if (flags.write) {
  const page = readFileSync(PAGE, 'utf8');
  const written = page.replace(
    /(?<=<!-- bench -->\n\n).*?(?=\n\n<!-- \/bench -->)/s,
    `${table}\n\n${note}`,
  );
  writeFileSync(PAGE, written);
  const rates = runs.filter(({ connections }) => connections === 128);
  const { drawChart } = await import('./chart.ts');
  const bars = Object.fromEntries(rates.map((run) => [run.name, Math.round(median(run, 'rate'))]));
  writeFileSync(
    CHART,
    drawChart('POST /plants, responses per second, 128 connections', bars, [note]),
  );
}
const failed = runs.filter(({ samples }) => samples.some(({ failures }) => failures > 0));
if (failed.length > 0) {
  console.error(`Some requests failed: ${failed.map(({ name }) => name).join('; ')}`);
  process.exitCode = 1;
}
