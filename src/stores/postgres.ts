import { openDatabase, RowRejected, Unusable } from 'group-commit/postgres';
import type { ClientBase } from 'pg';
import { COLUMNS, CREATE, INDEX, INSERT, INSPECT, TABLE } from './postgres-sql.ts';
import { checkPlant, type PlantStore, type StoredPlant, type StoreOptions, Unstorable } from './store.ts';

/** How long the start may take to build the index of a large table, in milliseconds. */
const CREATE_MS = 600_000;

/** Opens the plants of a PostgreSQL database, and creates their table. @throws {Unusable} if that is impossible. */
export async function openPostgres(url: string, options: StoreOptions): Promise<PlantStore> {
  const database = await openDatabase<StoredPlant>({
    ...options,
    url,
    name: 'openapi-plant-store',
    table: `${TABLE}; ${INDEX}`,
    setUp,
    insert,
  });

  return {
    location: `postgres://${database.location}`,
    async add(plant) {
      checkPlant(plant);
      for (const [path, text] of Object.entries({ '/body/name': plant.name, '/body/tag': plant.tag })) {
        if (text?.includes('\0')) throw new Unstorable(`${path} must not hold U+0000, which PostgreSQL cannot hold`);
      }
      await database.add(plant).catch((error: unknown) => {
        if (!(error instanceof RowRejected)) throw error;
        throw new Unstorable('/body breaks a rule of the database', { cause: error.cause });
      });
    },
    ready: database.ready,
    waiting: database.waiting,
    close: database.close,
  };
}

/** Checks the database, and creates the table if it is missing or of the former shape. */
async function setUp(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ encoding: string; columns: string | null }>(INSPECT);
  const { encoding = '', columns = null } = rows[0] ?? {};
  if (!['UTF8', 'SQL_ASCII'].includes(encoding)) {
    throw new Unusable(`The database has the encoding ${encoding}; create one with ENCODING 'UTF8'`);
  }
  if (columns !== null && columns !== COLUMNS) {
    throw new Unusable(
      `There is another table plants: it needs (${columns}), but must need (${COLUMNS}) and nothing else. ` +
        'Name another database, or another schema with options=-csearch_path%3DSCHEMA',
    );
  }
  await insert(client, []).catch(async (error: unknown) => {
    // Neither the table nor an index on what tells plants apart.
    if (!['42P01', '42P10'].includes(Object(error).code)) throw error;
    const create = { text: CREATE, query_timeout: CREATE_MS };
    await client.query(create);
    await insert(client, []);
  });
}

async function insert(client: ClientBase, plants: readonly StoredPlant[]): Promise<void> {
  const values = [plants.map(({ id }) => id), plants.map(({ name }) => name), plants.map(({ tag }) => tag ?? null)];
  const { rows } = await client.query<{ fsync: string | null; persistence: string }>(INSERT, values);
  if (rows[0]?.fsync === 'off') throw new Unusable('A crash would lose plants: fsync must be on, but is off');
  if (rows[0]?.persistence !== 'p') {
    throw new Unusable('A crash would lose plants: the table is unlogged; ALTER TABLE plants SET LOGGED');
  }
}
