import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Unavailable, Unusable } from 'group-commit';
import type { Client } from 'pg';
import { readVariables } from 'spec-first-server/cli';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { openPlants, variables } from '../../../src/plants.ts';
import { openStore } from '../../../src/stores/index.ts';
import { plantKey } from '../../../src/stores/postgres-sql.ts';
import { type PlantStore, type StoredPlant, Unstorable } from '../../../src/stores/store.ts';
import { post } from '../../support/launch.ts';
import { serve, TOKEN } from '../support/plant-service.ts';
import { describeStore } from './store-suite.ts';

const options = { maxWaiting: 10_000 };
let server: PostgresServer;
let opened: { close?(): unknown }[] = [];

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.remove());

afterEach(async () => {
  await Promise.all(opened.map((each) => each.close?.()));
  opened = [];
});

/** Gives calls 20 s instead of 3 s, since a commit waits for a disk that other tests use. */
const patient = (url: string): string =>
  /\?(?!.*statement_timeout)/.test(url) ? `${url}&statement_timeout=20000` : url;

async function open(url: string, maxWaiting = options.maxWaiting): Promise<PlantStore> {
  const store = await openStore(patient(url), { maxWaiting });
  opened.push(store);
  return store;
}

/** Opens a separate session, which can hold locks. */
async function session(url: string): Promise<Client> {
  const client = await server.connect(url);
  opened.push({ close: () => client.end() });
  return client;
}

const insertOf = ({ id, name, tag }: StoredPlant): string =>
  `INSERT INTO plants (key, id, name) VALUES ('\\x${plantKey({ id, name, tag }).toString('hex')}', ${id}, '${name}')`;

const waitForLocks = (client: Client, count: number) =>
  eventually(async () => {
    const { rows } = await client.query('SELECT count(*)::int FROM pg_locks WHERE NOT granted');
    expect(rows).toEqual([{ count }]);
  });

describeStore(
  'PostgreSQL',
  async (storeOptions) => {
    const url = patient(await server.createSchema());
    const client = await server.connect(url);
    const store = await openStore(url, storeOptions);
    const stores = [store];
    return {
      store,
      async another() {
        const another = await openStore(url, storeOptions);
        stores.push(another);
        return another;
      },
      async read() {
        const { rows } = await client.query<{ id: string; name: string; tag: string | null }>(
          'SELECT id, name, tag FROM plants',
        );
        return rows.map(
          ({ id, name, tag }): StoredPlant => ({
            id: BigInt(id),
            name,
            ...(tag !== null && { tag }),
          }),
        );
      },
      async dispose() {
        await Promise.all([client.end(), ...stores.map((each) => each.close())]);
      },
    };
  },
  { holdsNul: false },
);

describe('add', () => {
  test('rejects U+0000 with the name of the property, and stores the other plants', async () => {
    const url = await server.createSchema();
    const store = await open(url);
    const outcomes = await Promise.allSettled([
      store.add({ id: 1n, name: 'a\0b' }),
      store.add({ id: 2n, name: 'Basil', tag: '\0' }),
      store.add({ id: 3n, name: 'Basil' }),
    ]);
    expect(outcomes).toEqual([
      {
        status: 'rejected',
        reason: new Unstorable('/body/name must not contain U+0000, which PostgreSQL cannot store'),
      },
      {
        status: 'rejected',
        reason: new Unstorable('/body/tag must not contain U+0000, which PostgreSQL cannot store'),
      },
      { status: 'fulfilled', value: undefined },
    ]);
  });

  test.each([
    ['ADD must int NOT NULL', /"level":50.* rejects a valid plant: null value in column .+must/],
    ['ADD CHECK (name::int > 0)', /"level":50.* rejects a valid plant: SQLSTATE 22P02/],
  ])(
    'logs a constraint (%s) without the values of the plant, and responds with 503',
    async (change, line) => {
      const url = await server.createSchema();
      const service = await serve({ store: await open(url) });
      opened.push({ close: service.stop });
      await server.query(`ALTER TABLE plants ${change}`, url);
      const nettle = { id: 1, name: 'Nettle' };
      expect(await post(`http://127.0.0.1:${service.port}`, nettle, TOKEN)).toBe(503);
      await eventually(() => expect(service.log()).toMatch(line));
      expect(service.log()).not.toContain('Nettle');
    },
  );

  test('stores each plant of two concurrent instances once, even if transactions are serializable', async () => {
    const option = encodeURIComponent(' -cdefault_transaction_isolation=serializable');
    const url = (await server.createSchema()) + option;
    const stores = await Promise.all([open(url), open(url)]);
    const ids = Array.from({ length: 100 }, (_, at) => BigInt(at));
    const added = stores.map((store, at) =>
      Promise.all(
        (at === 0 ? ids : ids.toReversed()).map(async (id) => {
          await delay(Number(id % 7n));
          await Promise.all([
            store.add({ id, name: 'both' }),
            store.add({ id, name: `instance ${at}` }),
          ]);
        }),
      ),
    );
    await Promise.all(added);
    const rows = await server.query(
      'SELECT name, count(*)::int FROM plants GROUP BY name ORDER BY name',
      url,
    );
    expect(rows).toEqual([
      { name: 'both', count: 100 },
      { name: 'instance 0', count: 100 },
      { name: 'instance 1', count: 100 },
    ]);
  });

  test('never deadlocks with another instance that adds the same plants in another order', async () => {
    const url = await server.createSchema();
    const stores = [await open(url), await open(url)];
    const rival = await session(url);
    await rival.query(`BEGIN; ${insertOf({ id: 50n, name: 'Basil' })}`);
    const ids = Array.from({ length: 100 }, (_, at) => BigInt(at));
    const adds = stores.map((store, at) =>
      Promise.all(
        (at === 0 ? ids : ids.toReversed()).map((id) => store.add({ id, name: 'Basil' })),
      ),
    );
    await waitForLocks(rival, 2);
    await rival.query('ROLLBACK');
    await Promise.all(adds);
    expect(await server.query('SELECT count(*)::int FROM plants', url)).toEqual([{ count: 100 }]);
    // A connection writes its statistics when it ends.
    await Promise.all(stores.map((store) => store.close()));
    const counted =
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()';
    expect(await server.query(counted, url)).toEqual([{ deadlocks: 0 }]);
  });
});

describe('the start', () => {
  test('creates the table once for 12 concurrent starts', async () => {
    const url = await server.createSchema();
    const stores = await Promise.all(Array.from({ length: 12 }, () => open(url)));
    await Promise.all(stores.map((store, at) => store.add({ id: BigInt(at), name: 'Basil' })));
    expect(await server.query('SELECT count(*)::int FROM plants', url)).toEqual([{ count: 12 }]);
  });

  test('needs no CREATE privilege if the table exists', async () => {
    const url = await server.createDatabase();
    await (await open(url)).add({ id: 1n, name: 'Basil' });
    await server.query(
      "CREATE ROLE writer LOGIN PASSWORD 'p'; GRANT SELECT, INSERT, UPDATE (key) ON plants TO writer",
      url,
    );
    const store = await open(url.replace(/\/\/.*@/, '//writer:p@'));
    await store.add({ id: 1n, name: 'Basil' });
  });

  test('succeeds without the server, and creates the table when the server is up', async () => {
    const url = await server.createSchema();
    await server.kill();
    try {
      const store = await open(url);
      await expect(store.ready()).rejects.toThrow(Unavailable);
      await expect(store.add({ id: 1n, name: 'Basil' })).rejects.toThrow(
        /^PostgreSQL at 127.0.0.1:\d+\/postgres is unavailable: connect ECONNREFUSED/,
      );
      await server.start();
      await eventually(() => store.ready());
      await store.add({ id: 1n, name: 'Basil' });
    } finally {
      await server.start();
    }
  });

  test.each<[string, string, RegExp]>([
    [
      'a table with columns of other types',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name varchar(20), tag text)',
      /must be \(id bigint, key.*\), but are \(id bigint, name character varying\(20\), tag text\)/,
    ],

    [
      'a table with additional columns that need a value',
      'CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text, must int NOT NULL, also int NOT NULL)',
      /but are \(also integer, id bigint, must integer, name text, tag text\)/,
    ],
    [
      'an unlogged table',
      'CREATE UNLOGGED TABLE plants (key bytea PRIMARY KEY, id bigint, name text, tag text)',
      /unlogged.*SET LOGGED/,
    ],
  ])('rejects %s', async (_, statement, message) => {
    const url = await server.createSchema();
    await server.query(statement, url);
    const error = await open(url).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Unusable);
    expect(String(error)).toMatch(message);
  });

  test('accepts a table with additional columns that are optional', async () => {
    const url = await server.createSchema();
    await server.query(
      'CREATE TABLE plants (key bytea PRIMARY KEY, id bigint NOT NULL, name text NOT NULL, tag text, ' +
        'gone int NOT NULL, free int, ' +
        'since timestamptz NOT NULL DEFAULT now(), row int GENERATED ALWAYS AS IDENTITY, ' +
        'size int NOT NULL GENERATED ALWAYS AS (length(name)) STORED); ALTER TABLE plants DROP gone',
      url,
    );
    await (await open(url)).add({ id: 1n, name: 'Basil' });
  });

  test('rejects a database whose encoding cannot hold every name', async () => {
    await server.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const url = (await server.createSchema()).replace(/postgres\?.*$/, 'latin');
    await expect(open(url)).rejects.toThrow(/encoding LATIN1.*ENCODING 'UTF8'/);
  });
});

describe('a commit', () => {
  test('is not acknowledged while fsync is off', async () => {
    const url = await server.createSchema();
    const store = await open(url);
    await server.query('ALTER SYSTEM SET fsync = off');
    await server.query('SELECT pg_reload_conf()');
    try {
      await eventually(async () =>
        expect(await store.ready().catch(String)).toMatch(/fsync must be on, but is off/),
      );
      await expect(store.add({ id: 1n, name: 'Basil' })).rejects.toThrow(Unavailable);
      await expect(open(url)).rejects.toThrow(Unusable);
      expect(await server.query('SELECT FROM plants', url)).toEqual([]);
    } finally {
      await server.query('ALTER SYSTEM RESET fsync');
      await server.query('SELECT pg_reload_conf()');
    }
    await eventually(() => store.ready());
    await store.add({ id: 1n, name: 'Basil' });
  });

  test('is not acknowledged while the table is unlogged', async () => {
    const url = await server.createSchema();
    const store = await open(url);
    await server.query('ALTER TABLE plants SET UNLOGGED', url);
    await expect(store.add({ id: 1n, name: 'Basil' })).rejects.toThrow(
      /the table is unlogged; ALTER TABLE/,
    );
    await expect(store.ready()).rejects.toThrow(Unavailable);
    await server.query('ALTER TABLE plants SET LOGGED', url);
    await eventually(() => store.ready());
    await store.add({ id: 1n, name: 'Basil' });
  });
});

describe('a failure', () => {
  test('by a lock on one plant does not delay other plants', async () => {
    const url = await server.createSchema();
    const store = await open(url);
    const rival = await session(url);
    await rival.query(`BEGIN; ${insertOf({ id: 1n, name: 'Basil' })}`);
    const stuck = store.add({ id: 1n, name: 'Basil' });
    await waitForLocks(rival, 1);
    await store.add({ id: 2n, name: 'Sage' });
    await rival.query('COMMIT');
    await stuck;
    expect(await server.query('SELECT count(*)::int FROM plants', url)).toEqual([{ count: 2 }]);
  });
});

test.each([
  ['DATABASE_PASSWORD_FILE', (path: string) => path],
  ['DATABASE_PASSWORD_COMMAND', (path: string) => `cat '${path}'`],
])(
  'the password is read again for each connection from %s, in place of that of the URL',
  async (name, value) => {
    const path = join(mkdtempSync(join(tmpdir(), 'plants-password-')), 'password');
    writeFileSync(path, 'correct horse\n');
    const url = (await server.createSchema()).replace(/:[^:@]*@/, ':outdated@');
    const env = { DATABASE_URL: url, [name]: value(path) };
    const backend = await openPlants(readVariables(variables, env), { warn() {} });
    await eventually(async () => backend.ready?.());
    await server.query("ALTER ROLE postgres PASSWORD 'another'");
    try {
      writeFileSync(path, 'another\n');
      const others = 'FROM pg_stat_activity WHERE usename IS NOT NULL AND pid <> pg_backend_pid()';
      const direct = url.replace(':outdated@', ':another@');
      await server.query(`SELECT pg_terminate_backend(pid) ${others}`, direct);
      await eventually(async () => backend.ready?.());
      await server.query("ALTER ROLE postgres PASSWORD 'correct horse'", direct);
    } finally {
      await backend.close?.();
      rmSync(dirname(path), { recursive: true });
    }
  },
);
