/** Adds plants while the leader of a Patroni cluster changes, and checks that each is stored. */
import { execFileSync, execSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from 'group-commit';
import { openDatabase } from 'group-commit/postgres';
import { openStore } from '../src/stores/index.ts';

const HELP = `Usage: npm run patroni-drill -- CONFIG URL [KILL_COMMAND]

  CONFIG        the configuration of patronictl
  URL           a database for tests, such as
                postgres://user:password@db1,db2,db3/database?target_session_attrs=read-write
  KILL_COMMAND  kills the leader, such as "ssh db1 sudo pkill -9 postgres"

Adds plants with 16 concurrent callers during a switchover and, with KILL_COMMAND, a crash of the
leader. The callers retry a plant until it is acknowledged, like clients. Exits with 1 if an
acknowledged plant is missing afterwards.
`;

const CALLERS = 16;

/** The time limit of `waitForPlants`, including an outage, in milliseconds. */
const MAX_WAIT_MS = 120_000;

const name = `drill ${randomUUID()}`;

async function idsIn(url: string): Promise<Set<string>> {
  const database = await openDatabase({ url, name: 'patroni-drill' });
  const query = 'SELECT id::text FROM plants WHERE name = $1';
  const { rows } = await database.run((client) => client.query<{ id: string }>(query, [name]));
  await database.close();
  return new Set(rows.map(({ id }) => id));
}

async function drill(config: string, url: string, killCommand: string | undefined) {
  const store = await openStore(url, { maxWaiting: 1_000 });
  const acknowledged = new Set<string>();
  let next = 0n;
  let retried = 0;
  let isStopped = false;
  let longestOutage = 0;
  let lastSuccess = performance.now();

  async function addPlants(): Promise<void> {
    while (!isStopped) await addPlant(next++);
  }

  async function addPlant(id: bigint): Promise<void> {
    let attempts = 0;
    for (; !acknowledged.has(String(id)); attempts += 1) {
      try {
        await store.add({ id, name });
        acknowledged.add(String(id));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        await delay(20);
      }
    }
    if (attempts > 1) retried += 1;
    longestOutage = Math.max(longestOutage, performance.now() - lastSuccess);
    lastSuccess = performance.now();
  }

  async function waitForPlants(): Promise<void> {
    const target = acknowledged.size + 500;
    const deadline = performance.now() + MAX_WAIT_MS;
    while (acknowledged.size < target) {
      if (performance.now() > deadline)
        throw new Error(
          'the cluster stored fewer than 500 plants in two minutes: is there a leader?',
        );
      await delay(50);
    }
  }

  const callers = Promise.all(Array.from({ length: CALLERS }, addPlants));
  await waitForPlants();
  console.log('switchover');
  execFileSync('patronictl', ['-c', config, 'switchover', '--force'], { stdio: 'inherit' });
  await waitForPlants();
  if (killCommand) {
    console.log(killCommand);
    execSync(killCommand, { stdio: 'inherit' });
    await waitForPlants();
  }
  isStopped = true;
  await callers;
  await store.close();

  const lost = acknowledged.difference(await idsIn(url)).size;
  const outage = `longest outage ${Math.round(longestOutage)} ms`;
  console.log(
    `${acknowledged.size} acknowledged, ${retried} after retries, ${lost} lost, ${outage}`,
  );
  if (lost > 0) process.exitCode = 1;
}

const [config, url, killCommand, extra] = process.argv.slice(2);
if (config === undefined || url === undefined || extra !== undefined) {
  console.error(HELP);
  process.exit(2);
}
await drill(config, url, killCommand).catch((error: unknown) => {
  const isMissing = Object(error).code === 'ENOENT';
  console.error(isMissing ? 'patronictl is not installed' : String(Object(error).message ?? error));
  process.exit(1);
});
