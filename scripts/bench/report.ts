import {
  figure,
  integer,
  invalid,
  label,
  median,
  milliseconds,
  over,
  type Results,
  type Run,
  range,
  times,
} from './results.ts';

/** The results as text: tables, what they mean, and how they were measured. */
export function report(results: Results): string {
  const tables = { contest: contestTables, paths: pathsTable, workers: workersTable }[results.kind](results.runs);
  const broken = results.runs.flatMap((run) => {
    const reason = invalid(run);
    return reason === undefined ? [] : [`INVALID: ${label(run)}, ${over(run.connections)}: ${reason}.`];
  });
  return [...tables, ...broken, origin(results)].join('\n\n');
}

function origin({ machine, versions, pinned, ceiling, command, seconds, runs, date }: Results): string {
  return [
    'req/s: answers per second, more is better. low–high: slowest and fastest round. ms, µs, MiB: less is better.',
    'p50, p99: half and 99 of 100 answers came within that time. CPU: all threads of the server, per answer.',
    'On disk: the commit is flushed (SQLite: synchronous=FULL) before the answer; an answered plant survives a power cut.',
    `Medians of ${runs[0]?.rounds.length ?? 0} interleaved rounds of ${seconds} s. The load ${
      pinned ? 'had a core of its own' : 'shared the cores with the servers'
    }; against node:http it reaches ${integer(ceiling)} req/s.`,
    `${date.slice(0, 10)}, ${command}, ${machine.cpu}, ${machine.cores} cores, ${machine.system}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ].join('\n');
}

function contestTables(runs: readonly Run[]): string[] {
  const [first] = runs;
  const tables = [...new Set(runs.map((run) => run.connections))].map((connections) => {
    const rows = runs.filter((run) => run.connections === connections);
    const bare = rows.find(isBare);
    return [
      `POST /plants over ${over(connections)} (×: of Express in memory)`,
      table(
        ['', 'req/s', 'low–high', '×', 'p50 ms', '×', 'p99 ms', '×', 'CPU µs', 'memory MiB'],
        rows.map((run) => [
          label(run),
          ...throughput(run, bare),
          milliseconds(figure(run, 'p50')),
          ratio(run, bare, 'p50'),
          milliseconds(figure(run, 'p99')),
          ratio(run, bare, 'p99'),
          cpu(run),
          memory(run),
        ]),
      ),
    ].join('\n');
  });
  const alike = runs.filter((run) => run.connections === first?.connections);
  const [ours, bare, peer] = [alike.find(isOurs), alike.find(isBare), bestPeer(alike)];
  if (!ours || !bare || !peer) return tables;
  const of = (other: Run) => times(figure(ours, 'throughput'), figure(other, 'throughput'));
  const summary =
    `This service answers ${of(bare)} as many requests as Express alone in memory, and ${of(peer)} as many as ` +
    `${peer.name}, the fastest contender with a commit per request. More is better.`;
  return [...tables, summary];
}

function pathsTable(runs: readonly Run[]): string[] {
  const rows = byName(runs).map((run) => [
    run.name,
    integer(run.paths),
    ...throughput(
      run,
      runs.find((other) => other.name === run.name && other.paths === 1),
    ),
    integer(1e6 / figure(run, 'throughput')),
    cpu(run),
    integer(median(run.started)),
    memory(run),
  ]);
  const head = ['', 'paths', 'req/s', 'low–high', '×', 'µs', 'CPU µs', 'start to first answer ms', 'memory MiB'];
  return [`POST /plants by paths in the document, plants in memory (×: of one path)\n${table(head, rows)}`];
}

function workersTable(runs: readonly Run[]): string[] {
  const rows = byName(runs).map((run) => [
    run.name,
    String(run.workers),
    ...throughput(
      run,
      runs.find((other) => other.name === run.name && other.workers === 1),
    ),
    milliseconds(figure(run, 'p50')),
    milliseconds(figure(run, 'p99')),
  ]);
  const head = ['', 'workers', 'req/s', 'low–high', '×', 'p50 ms', 'p99 ms'];
  return [`POST /plants by number of processes, plants on disk (×: of one process)\n${table(head, rows)}`];
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

function throughput(run: Run, base: Run | undefined): string[] {
  const span = range(run, 'throughput').map(integer).join('–');
  return [integer(figure(run, 'throughput')), span, ratio(run, base, 'throughput')];
}

function ratio(run: Run, base: Run | undefined, name: 'throughput' | 'p50' | 'p99'): string {
  return base === undefined ? '' : (figure(run, name) / figure(base, name)).toFixed(2);
}

function cpu(run: Run): string {
  return figure(run, 'cpu') > 0 ? integer(figure(run, 'cpu')) : 'unknown';
}

function memory(run: Run): string {
  const bytes = run.memory.at(-1);
  return bytes === undefined ? 'unknown' : integer(bytes / 2 ** 20);
}

/** The first column is aligned left, the others right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return [head, ...rows].map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
