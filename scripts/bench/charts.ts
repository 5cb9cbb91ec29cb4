import { type Bar, type Chart, draw, type Row } from './draw.ts';
import { bestPeer, isBare, isOurs } from './report.ts';
import {
  figure,
  integer,
  median,
  milliseconds,
  over,
  type Results,
  type Round,
  type Run,
  range,
  times,
} from './results.ts';

/** Draws the results. Returns SVG texts by file name. */
export function charts(results: Results): Record<string, string> {
  switch (results.kind) {
    case 'contest':
      return { 'throughput.svg': draw(throughput(results)), 'latency.svg': draw(latency(results)) };
    case 'paths':
      return { 'paths.svg': draw(paths(results)) };
    case 'workers':
      return { 'workers.svg': draw(workers(results)) };
  }
}

const onDisk =
  'On disk: the commit is flushed before the answer (SQLite, synchronous=FULL), so an answered plant survives a power cut.';

function throughput(results: Results): Chart {
  const { runs } = results;
  const connections = runs[0]?.connections;
  const alike = runs.filter((run) => run.connections === connections);
  const bare = alike.find(isBare);
  const groups = Map.groupBy(alike, ({ kept }) =>
    kept === 'in memory' ? 'In memory: lost when the process ends' : 'On disk before the answer',
  );
  return {
    title: 'Plants stored per second',
    subtitle: `POST /plants over ${over(connections)}. ×: as many as Express alone in memory. More is better.`,
    groups: [...groups].map(([heading, members]) => ({
      heading,
      rows: members.map((run) => {
        const value = figure(run, 'throughput');
        const ratio = bare === undefined ? '' : ` · ${times(value, figure(bare, 'throughput'))}`;
        return row(run, run.name, `${integer(value)}${ratio}`, bar(run, 'throughput'));
      }),
    })),
    oneScale: true,
    notes: [
      onDisk,
      'The others commit each request; this service commits the requests that wait together.',
      'EOV: express-openapi-validator. Express alone checks nothing.',
      ...source(results),
    ],
  };
}

function latency(results: Results): Chart {
  const { runs } = results;
  const peer = bestPeer(runs.filter((run) => run.connections === runs[0]?.connections))?.name;
  const shown = runs.filter(
    (run) => isBare(run) || isOurs(run) || (run.name === peer && run.kept === 'a commit per request'),
  );
  const counts = [...new Set(runs.map((run) => run.connections))].toSorted((a, b) => a - b);
  return {
    title: 'Time to the answer',
    subtitle:
      'Milliseconds of POST /plants: half of the answers came within the solid bar (p50), 99 of 100 within the pale bar ' +
      '(p99). Less is better.',
    groups: counts.map((connections) => ({
      heading: over(connections),
      rows: shown
        .filter((run) => run.connections === connections)
        .map((run) => {
          const name = `${run.name}, ${run.kept === 'in memory' ? 'in memory' : 'on disk'}`;
          const [p50, p99] = [bar(run, 'p50'), bar(run, 'p99')];
          const figures = `p50 ${milliseconds(p50.median)} · p99 ${milliseconds(p99.median)} ms`;
          return row(run, name, figures, p50, p99);
        }),
    })),
    oneScale: false,
    notes: ['Each group has a scale of its own.', onDisk, ...source(results)],
  };
}

function paths(results: Results): Chart {
  const cost = (value: number) => 1e6 / value;
  const groups = [...Map.groupBy(results.runs, (run) => run.paths)].map(([count, runs]) => ({
    heading: count === 1 ? '1 path' : `${integer(count)} paths`,
    rows: runs.map((run) => {
      const { median: rate, range } = bar(run, 'throughput');
      const start = (median(run.started) / 1000).toFixed(2);
      return row(run, run.name, `${integer(cost(rate))} µs · starts in ${start} s`, {
        median: cost(rate),
        range: [cost(range[1]), cost(range[0])],
      });
    }),
  }));
  return {
    title: 'Cost of a request as the document grows',
    subtitle: 'Microseconds for POST /plants among that many paths, plants in memory. Less is better.',
    groups,
    oneScale: true,
    notes: ['EOV: express-openapi-validator on Express.', ...source(results)],
  };
}

function workers(results: Results): Chart {
  return {
    title: 'Plants stored per second, by processes',
    subtitle: `POST /plants over ${over(results.runs[0]?.connections)} on ${results.machine.cores} cores, which the load shares. More is better.`,
    groups: [...Map.groupBy(results.runs, (run) => run.name)].map(([heading, runs]) => ({
      heading,
      rows: runs.map((run) => {
        const name = run.workers === 1 ? '1 process' : `${run.workers} processes`;
        return row(run, name, integer(figure(run, 'throughput')), bar(run, 'throughput'));
      }),
    })),
    oneScale: true,
    notes: [`${onDisk} PostgreSQL: fsync=on.`, ...source(results)],
  };
}

function row(run: Run, name: string, figures: string, ...bars: readonly Bar[]): Row {
  return { name, figures, ours: isOurs(run), bars };
}

function bar(run: Run, name: keyof Round): Bar {
  return { median: figure(run, name), range: range(run, name) };
}

/** How, where and when the figures were measured. */
function source({ runs, seconds, machine, versions, command, date }: Results): string[] {
  return [
    `Bars: medians of ${runs[0]?.rounds.length} rounds of ${seconds} s. Lines: lowest to highest round.`,
    `${date.slice(0, 10)}, ${command}. ${machine.cpu}, ${machine.cores} cores, ${machine.system}, Node ${versions.node}.`,
  ];
}
