import { openDatabase, Unusable } from 'group-commit/postgres';
import type { ClientBase } from 'pg';
import { COLUMNS, DURABILITY, INSERT, INSPECT, plantKey, TABLE } from './postgres-sql.ts';
import { type PlantStore, type StoredPlant, type StoreOptions, Unstorable } from './store.ts';

/**
 * Opens the plants of a PostgreSQL database, and creates their table. `add` rejects with
 * `RowRejected` if a plant violates a constraint.
 *
 * @throws {Unusable} if the URL is wrong, or the database or its table cannot be used.
 */
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
      for (const [path, text] of Object.entries({
        '/body/name': plant.name,
        '/body/tag': plant.tag,
      })) {
        if (text?.includes('\0'))
          throw new Unstorable(`${path} must not contain U+0000, which PostgreSQL cannot store`);
      }
      await add(plant);
    },
    ready,
    stats,
    close,
  };
}

async function setUp(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ encoding: string | null; columns: string | null }>(INSPECT);
  const { encoding, columns } = rows[0] ?? {};
  if (encoding && !['UTF8', 'SQL_ASCII'].includes(encoding)) {
    throw new Unusable(
      `The database has the encoding ${encoding}; create one with ENCODING 'UTF8'`,
    );
  }
  if (columns && columns !== COLUMNS) {
    throw new Unusable(
      `The required columns of the table plants must be (${COLUMNS}), but are (${columns}): ` +
        'use another database, or another schema with options=-csearch_path%3DSCHEMA',
    );
  }
  if (!columns) {
    await client.query(TABLE).catch((error: unknown) => {
      // Another process created it at the same time.
      if (!['23505', '42P07', '42710'].includes(Object(error).code)) throw error;
    });
  }
  await insert(client, []);
}

/** @throws {Unusable} if the settings of the database may lose commits. */
async function insert(client: ClientBase, plants: readonly StoredPlant[]): Promise<void> {
  const values = [
    plants.map(plantKey),
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ];
  // Sends the second statement without waiting for the result of the first.
  const inserted = client.query(INSERT, values);
  const settings = client.query<Durability>(DURABILITY);
  const [{ rows }] = await Promise.all([settings, inserted]);
  checkDurability(rows[0]);
}

type Durability = Readonly<Record<'fsync' | 'persistence', string | null>>;

function checkDurability(settings: Durability | undefined): void {
  const lost = 'A crash would lose plants: ';
  if (settings?.fsync === 'off') throw new Unusable(`${lost}fsync must be on, but is off`);
  if (settings?.persistence === 'u') {
    throw new Unusable(`${lost}the table is unlogged; ALTER TABLE plants SET LOGGED`);
  }
}
