import { median, type Results, type Round, type Run } from './results.ts';

/** @returns the median of one figure over the rounds of a run. */
export function figure(run: Run, name: keyof Round): number {
  return median(run.rounds.map((round) => round[name]));
}

/** Why a run does not count; `undefined` if it does. */
export function invalid(run: Run): string | undefined {
  const failures = run.rounds.reduce((sum, round) => sum + round.failures, 0);
  const answered = run.rounds.reduce((sum, round) => sum + round.answered, 0);
  const reasons = [
    failures > 0 && `${integer(failures)} failed`,
    run.lost > 0 && `${integer(run.lost)} acknowledged plants are not stored`,
    answered === 0 && 'nothing was answered',
  ].filter((reason) => reason !== false);
  return reasons.length === 0 ? undefined : reasons.join(', ');
}

/** The results as text: tables, what they mean, and where they come from. */
export function report(results: Results): string {
  const tables = { contest: contestTables, paths: pathsTable, workers: workersTable }[results.kind](results);
  const broken = results.runs.flatMap((run) => {
    const reason = invalid(run);
    return reason === undefined ? [] : [`INVALID: ${title(run)}, ${run.connections} connections: ${reason}.`];
  });
  return [...tables, ...broken, origin(results)].join('\n\n');
}

/** The machine, the versions and the command, in a few lines. */
export function origin({ machine, versions, pinned, ceiling, command, seconds, runs, date }: Results): string {
  const rounds = runs[0]?.rounds.length ?? 0;
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.system}`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    'p50 to p99: time to the answer; CPU: what all threads of the server compute for one; memory: resident, at the end',
    `medians of ${rounds} interleaved rounds of ${seconds} s; the load ${pinned ? 'had a core to itself' : 'shared the cores with the servers'}`,
    ...(ceiling > 0 ? [`the load's own ceiling, against bare node:http: ${integer(ceiling)} req/s`] : []),
    `${date.slice(0, 10)}, ${command}`,
  ].join('\n');
}

export function integer(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Three digits that count. */
export function milliseconds(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function contestTables(results: Results): string[] {
  const counts = [...new Set(results.runs.map((run) => run.connections))];
  const tables = counts.map((connections) => {
    const runs = results.runs.filter((run) => run.connections === connections);
    const bare = runs.find((run) => run.name === 'Express' && run.kept === 'memory');
    return [
      `POST /plants over ${connections} connections`,
      table(
        ['', 'req/s', 'ratio', 'p50 ms', 'p97.5 ms', 'p99 ms', 'ratio', 'CPU µs', 'memory MiB'],
        runs.map((run) => [
          title(run),
          integer(figure(run, 'throughput')),
          ratio(figure(run, 'throughput'), bare && figure(bare, 'throughput')),
          milliseconds(figure(run, 'p50')),
          milliseconds(figure(run, 'p975')),
          milliseconds(figure(run, 'p99')),
          ratio(figure(run, 'p99'), bare && figure(bare, 'p99')),
          computed(run),
          mebibytes(run.memory.at(-1)),
        ]),
      ),
    ].join('\n');
  });
  const first = results.runs.filter((run) => run.connections === counts[0]);
  const find = (name: string, kept: Run['kept']) => first.find((run) => run.name === name && run.kept === kept);
  const [ours, bare, commits] = [find('This service', 'disk'), find('Express', 'memory'), find('Express', 'disk')];
  if (!ours || !bare || !commits) return tables;
  const served = figure(ours, 'throughput');
  return [
    ...tables,
    `This service serves ${ratio(served, figure(bare, 'throughput'))} of Express in memory, ` +
      `and ${ratio(served, figure(commits, 'throughput'))} times Express with a commit per request.`,
  ];
}

function pathsTable(results: Results): string[] {
  const rows = byName(results.runs).map((run) => {
    const narrow = results.runs.find((other) => other.name === run.name && other.paths === 1);
    return [
      run.name,
      integer(run.paths),
      integer(figure(run, 'throughput')),
      ratio(figure(run, 'throughput'), narrow && figure(narrow, 'throughput')),
      integer(1e6 / figure(run, 'throughput')),
      computed(run),
      integer(median(run.started)),
      mebibytes(run.memory.at(-1)),
    ];
  });
  const head = ['', 'paths', 'req/s', 'ratio', 'µs', 'CPU µs', 'start to first answer ms', 'memory MiB'];
  return [`POST /plants with that many paths in the document, plants kept in memory\n${table(head, rows)}`];
}

function workersTable(results: Results): string[] {
  const rows = byName(results.runs).map((run) => {
    const alone = results.runs.find((other) => other.name === run.name && other.workers === 1);
    return [
      run.name,
      String(run.workers),
      integer(figure(run, 'throughput')),
      ratio(figure(run, 'throughput'), alone && figure(alone, 'throughput')),
      milliseconds(figure(run, 'p50')),
      milliseconds(figure(run, 'p975')),
      milliseconds(figure(run, 'p99')),
    ];
  });
  return [
    `POST /plants with that many processes\n${table(['', 'workers', 'req/s', 'ratio', 'p50 ms', 'p97.5 ms', 'p99 ms'], rows)}`,
  ];
}

function byName(runs: readonly Run[]): Run[] {
  const names = [...new Set(runs.map((run) => run.name))];
  return names.flatMap((name) => runs.filter((run) => run.name === name));
}

function title({ name, kept, paths, workers }: Run): string {
  const where = kept === 'memory' ? 'in memory' : name.startsWith('Express') ? 'a commit per request' : 'on disk';
  return [name, where, ...(paths > 1 ? [`${paths} paths`] : []), ...(workers > 1 ? [`${workers} workers`] : [])].join(
    ', ',
  );
}

function ratio(value: number, base: number | undefined): string {
  return base === undefined ? '' : (value / base).toFixed(2);
}

function computed(run: Run): string {
  const microseconds = figure(run, 'computed');
  return microseconds > 0 ? integer(microseconds) : 'unknown';
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? 'unknown' : integer(bytes / 2 ** 20);
}

/** The first column to the left, figures to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
