import {
  figure,
  integer,
  invalid,
  label,
  median,
  milliseconds,
  over,
  type Results,
  type Round,
  type Run,
  range,
  times,
} from './results.ts';

/** The results as text: tables, what they mean, and how they were measured. */
export function report(results: Results): string {
  const broken = results.runs.flatMap((run) => {
    const reason = invalid(run);
    return reason === undefined ? [] : [`INVALID: ${label(run)}, ${over(run.connections)}: ${reason}.`];
  });
  return [...tables(results), ...summary(results), ...broken, origin(results)].join('\n\n');
}

function origin({ machine, versions, pinned, ceiling, command, seconds, runs, date }: Results): string {
  return [
    'req/s: answers per second, more is better. low–high: slowest and fastest round. ms, µs, MiB: less is better.',
    'p50, p99: half and 99 of 100 answers came within that time. CPU: all threads of the server, per answer.',
    'On disk: the commit is flushed (SQLite: synchronous=FULL) before the answer; an answered plant survives a power cut.',
    `Medians of ${runs[0]?.rounds.length ?? 0} interleaved rounds of ${seconds} s. The load ${
      pinned ? 'had a core of its own' : 'shared the cores with the servers'
    }; against node:http it reaches ${integer(ceiling)} req/s.`,
    `${date.slice(0, 10)}, ${command}, ${machine.cpu}, ${machine.cores} cores, ${machine.system}, load average before the start ${machine.load.toFixed(2)}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ].join('\n');
}

type Column = readonly [head: string, cell: (run: Run, base: Run) => string];

const ratio = (name: keyof Round): Column => ['×', (run, base) => (figure(run, name) / figure(base, name)).toFixed(2)];
const time = (name: 'p50' | 'p99'): Column => [`${name} ms`, (run) => milliseconds(figure(run, name))];
const throughput: readonly Column[] = [
  ['req/s', (run) => integer(figure(run, 'throughput'))],
  ['low–high', (run) => range(run, 'throughput').map(integer).join('–')],
  ratio('throughput'),
];
const cpu: Column = ['CPU µs', (run) => (figure(run, 'cpu') > 0 ? integer(figure(run, 'cpu')) : 'unknown')];
const memory: Column = ['memory MiB', ({ memory }) => mebibytes(memory.at(-1))];
const start: Column = ['start to first answer ms', ({ started }) => integer(median(started))];
const latency = [time('p50'), ratio('p50'), time('p99'), ratio('p99')];

function tables({ kind, runs }: Results): string[] {
  const same = (run: Run) => runs.find((other) => other.name === run.name) ?? run;
  switch (kind) {
    case 'contest':
      return [...Map.groupBy(runs, (run) => run.connections)].map(([connections, rows]) => {
        const columns = [...throughput, ...latency, cpu, memory];
        const caption = `POST /plants over ${over(connections)} (×: of Express in memory)`;
        return table(caption, columns, rows, (run) => rows.find(isBare) ?? run);
      });
    case 'paths': {
      const cost: Column = ['µs', (run) => integer(1e6 / figure(run, 'throughput'))];
      const caption = 'POST /plants by paths in the document (×: of one path)';
      return [table(caption, [...throughput, cost, cpu, start, memory], byName(runs), same)];
    }
    case 'workers': {
      const caption = 'POST /plants by number of processes (×: of one process)';
      return [table(caption, [...throughput, time('p50'), time('p99')], byName(runs), same)];
    }
  }
}

function summary({ runs }: Results): string[] {
  const alike = runs.filter((run) => run.connections === runs[0]?.connections);
  const [ours, bare, peer] = [alike.find(isOurs), alike.find(isBare), bestPeer(alike)];
  if (!ours || !bare || !peer) return [];
  const of = (other: Run) => times(figure(ours, 'throughput'), figure(other, 'throughput'));
  return [
    `This service answers ${of(bare)} as many requests as Express alone in memory, and ${of(peer)} as many as ` +
      `${peer.name}, the fastest contender with a commit per request. More is better.`,
  ];
}

/** The contender with a commit per request that answers most. */
export function bestPeer(runs: readonly Run[]): Run | undefined {
  const peers = runs.filter((run) => run.kept === 'a commit per request');
  return peers.toSorted((a, b) => figure(b, 'throughput') - figure(a, 'throughput'))[0];
}

export function isOurs(run: Run): boolean {
  return run.name.startsWith('This service');
}

export function isBare(run: Run): boolean {
  return run.name === 'Express' && run.kept === 'in memory';
}

function byName(runs: readonly Run[]): Run[] {
  return [...Map.groupBy(runs, (run) => run.name).values()].flat();
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : integer(bytes / 2 ** 20);
}

/** The first column names the run; the others are aligned right. */
function table(caption: string, columns: readonly Column[], runs: readonly Run[], baseOf: (run: Run) => Run): string {
  const rows = runs.map((run) => [label(run), ...columns.map(([, cell]) => cell(run, baseOf(run)))]);
  const cells = [['', ...columns.map(([head]) => head)], ...rows];
  const widths = ['', ...columns].map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) => cell[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0);
  return [caption, ...cells.map((row) => row.map(pad).join('  '))].join('\n');
}
