import { openDatabase, RowRejected, Unusable } from 'group-commit/postgres';
import type { ClientBase } from 'pg';
import {
  COLUMNS,
  DURABILITY,
  FORMER_COLUMNS,
  INSERT,
  INSPECT,
  keyOf,
  MIGRATE,
  TABLE,
  UNFINISHED,
} from './postgres-sql.ts';
import { checkPlant, type PlantStore, type StoredPlant, type StoreOptions, Unstorable } from './store.ts';

/** How long the start may take to bring a large table into today's form, in milliseconds. */
const MIGRATE_MS = 600_000;

/** Opens the plants of a PostgreSQL database, and creates their table. @throws {Unusable} if that is impossible. */
export async function openPostgres(url: string, options: StoreOptions): Promise<PlantStore> {
  const { location, add, ready, stats, close } = await openDatabase<StoredPlant>({
    ...options,
    url,
    name: 'openapi-plant-store',
    table: TABLE,
    setUp,
    insert,
  });

  return {
    location: `postgres://${location}`,
    async add(plant) {
      checkPlant(plant);
      for (const [path, text] of Object.entries({ '/body/name': plant.name, '/body/tag': plant.tag })) {
        if (text?.includes('\0')) throw new Unstorable(`${path} must not hold U+0000, which PostgreSQL cannot hold`);
      }
      await add(plant).catch((error: unknown) => {
        if (!(error instanceof RowRejected)) throw error;
        throw new Unstorable('/body breaks a rule of the database', { cause: error.cause });
      });
    },
    ready,
    stats,
    close,
  };
}

/** Checks the database, and creates the table if it is missing or of the former shape. */
async function setUp(client: ClientBase): Promise<void> {
  const durability = await readDurability(client);
  // A setting of the server, the database or the role may have turned it off.
  if (durability.commits === 'off') await client.query('SET synchronous_commit = on');
  checkDurability({ ...durability, commits: 'on' });
  const { rows } = await client.query<{ encoding: string | null; columns: string | null }>(INSPECT);
  const { encoding, columns } = rows[0] ?? {};
  if (encoding && !['UTF8', 'SQL_ASCII'].includes(encoding)) {
    throw new Unusable(`The database has the encoding ${encoding}; create one with ENCODING 'UTF8'`);
  }
  if (columns && columns !== COLUMNS && columns !== FORMER_COLUMNS) {
    throw new Unusable(
      `There is another table plants: it needs (${columns}), but must need (${COLUMNS}) and nothing else. ` +
        'Name another database, or another schema with options=-csearch_path%3DSCHEMA',
    );
  }
  if (!columns) {
    await client.query(TABLE).catch((error: unknown) => {
      // Another process made it at the same moment: its row type, the table, or both.
      if (!['23505', '42P07', '42710'].includes(Object(error).code)) throw error;
    });
  }
  if (columns === FORMER_COLUMNS || (columns && (await isUnfinished(client)))) {
    const migrate = { text: MIGRATE, query_timeout: MIGRATE_MS };
    await client.query(migrate);
  }
  await insert(client, []);
}

async function isUnfinished(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ unfinished: boolean }>(UNFINISHED);
  return rows[0]?.unfinished === true;
}

/** @throws {Unusable} if the settings after the commit say that it may not be on disk. */
async function insert(client: ClientBase, plants: readonly StoredPlant[]): Promise<void> {
  const values = [
    plants.map(keyOf),
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ];
  // Both are sent at once, and run one after the other.
  const inserted = client.query(INSERT, values);
  const readAfter = readDurability(client);
  const [durability] = await Promise.all([readAfter, inserted]);
  checkDurability(durability);
}

/** The settings as of {@link DURABILITY}; null if the engine does not know one. */
type Durability = Readonly<Record<'fsync' | 'commits' | 'persistence', string | null>>;

async function readDurability(client: ClientBase): Promise<Durability> {
  const { rows } = await client.query<Durability>(DURABILITY);
  return rows[0] ?? { fsync: null, commits: null, persistence: null };
}

function checkDurability({ fsync, commits, persistence }: Durability): void {
  const lost = 'A crash would lose plants: ';
  if (fsync === 'off') throw new Unusable(`${lost}fsync must be on, but is off`);
  if (commits === 'off') throw new Unusable(`${lost}synchronous_commit must be on, but is off`);
  if (persistence === 'u') throw new Unusable(`${lost}the table is unlogged; ALTER TABLE plants SET LOGGED`);
}
