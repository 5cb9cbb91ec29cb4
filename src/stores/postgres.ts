import { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { adviceOn, codeOf, reason } from './postgres-errors.ts';
import { COLUMNS, CREATE, INSERT, INSPECT } from './postgres-sql.ts';
import { readPostgresUrl } from './postgres-url.ts';
import {
  checkPlant,
  type PlantStore,
  type StoredPlant,
  type StoreOptions,
  StoreUnavailable,
  StoreUnusable,
  Unstorable,
} from './store.ts';

/** The most plants in one statement, and about the most characters. */
const BATCH_PLANTS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** How long the start may take to build the index of a large table, in milliseconds. */
const CREATE_MS = 600_000;

/** How long `close` waits for the server to end the connections, in milliseconds. */
const GOODBYE_MS = 1_000;

/** SQLSTATE values, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const READ_ONLY = '25006';
const NO_TABLE = ['42P01', '42P10'];
const ROLLED_BACK = ['40001', '40P01'];

/** Plants that share a statement, and the error of each. */
interface Batch {
  readonly plants: StoredPlant[];
  characters: number;
  readonly done: Promise<(Unstorable | undefined)[]>;
}

/**
 * Opens the plants of a PostgreSQL database, and creates their table if it is missing. What waits for a connection goes
 * out as one statement. Whatever the server does, `add` and `ready` answer within `connect_timeout` and
 * `statement_timeout`. A server that cannot be reached now makes the store unavailable until it can be.
 *
 * @throws {StoreUnusable} if the URL is wrong, or if the server will go on saying no.
 */
export async function openPostgres(url: string, { maxWaiting, onBatch, warn }: StoreOptions): Promise<PlantStore> {
  const { config, place, remote, prefersTls } = readPostgresUrl(url);
  const sockets = new Set<Socket>();
  const pool = new Pool({ ...config, stream: newSocket });
  const connectedAt = new WeakMap<PoolClient, number>();
  pool.on('error', () => {});
  pool.on('connect', (client) =>
    connectedAt.set(
      client.on('error', () => {}),
      performance.now(),
    ),
  );
  /** When the server was last silent or could only read: the connections of before lead to the same place. */
  let distrusted = 0;
  let prepared = false;
  let waiting = 0;
  const batches = new Set<Batch>();
  let gathering: Batch | undefined;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function newSocket(): Socket {
    const socket = new Socket();
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket));
  }

  /** Runs a task over a free connection. A connection that failed is not used again. */
  async function connected<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await pool.connect();
      while ((connectedAt.get(client) ?? 0) < distrusted) {
        client.release(true);
        client = await pool.connect();
      }
      if (!prepared) await prepare(client);
      const result = await task(client);
      client.release();
      return result;
    } catch (error) {
      client?.release(true);
      const code = codeOf(error);
      if (code === undefined || code === READ_ONLY) distrusted = performance.now();
      if (NO_TABLE.includes(code ?? '')) prepared = false;
      if (!prefersTls || !/does not support SSL/.test(String(error))) throw error;
      pool.options.ssl = false;
      warnOfPlainText();
      return connected(task);
    }
  }

  function warnOfPlainText(): void {
    if (remote)
      warn?.(`the connection to PostgreSQL at ${place} is not encrypted; sslmode=verify-full makes sure it is`);
  }

  /** Checks the database, and creates the table if it is missing or of the former shape. */
  async function prepare(client: PoolClient): Promise<void> {
    const { rows } = await client.query<{ encoding: string; columns: string | null }>(INSPECT);
    const { encoding = '', columns = null } = rows[0] ?? {};
    if (!['UTF8', 'SQL_ASCII'].includes(encoding)) {
      throw new StoreUnusable(`The database has the encoding ${encoding}; create one with ENCODING 'UTF8'`);
    }
    if (columns !== null && columns !== COLUMNS) {
      throw new StoreUnusable(
        `There is another table plants: it needs (${columns}), but must need (${COLUMNS}) and nothing else. ` +
          'Name another database, or another schema with options=-csearch_path%3DSCHEMA',
      );
    }
    await insert(client, []).catch(async (error: unknown) => {
      if (!NO_TABLE.includes(codeOf(error) ?? '')) throw error;
      const create = { text: CREATE, query_timeout: CREATE_MS };
      await client.query(create);
      await insert(client, []);
    });
    prepared = true;
  }

  /** Begins a batch, which gathers plants until a connection is free. */
  function gather(): Batch {
    const plants: StoredPlant[] = [];
    const done = connected(async (client) => {
      await turn();
      if (gathering === batch) gathering = undefined;
      onBatch?.(plants.length);
      return insertEach(client, plants);
    }).finally(() => {
      if (gathering === batch) gathering = undefined;
      batches.delete(batch);
    });
    const batch: Batch = { plants, characters: 0, done };
    batches.add(batch);
    return batch;
  }

  const unavailable = (error: unknown): StoreUnavailable => {
    const cause = reason(error);
    return new StoreUnavailable(`PostgreSQL at ${place} cannot answer now: ${cause.message}`, cause);
  };

  async function finish(): Promise<void> {
    await Promise.allSettled([...batches].map(({ done }) => done));
    await Promise.race([pool.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
    for (const socket of sockets) socket.destroy();
  }

  if (config.ssl === false) warnOfPlainText();
  await connected(async () => {}).catch((error: unknown) => {
    const advice = error instanceof StoreUnusable ? '' : adviceOn(error);
    if (advice === undefined) return;
    throw new StoreUnusable(`PostgreSQL at ${place}: ${[reason(error).message, advice].filter(Boolean).join('. ')}`);
  });

  return {
    place: `postgres://${place}`,
    async add(plant) {
      checkPlant(plant);
      for (const [path, text] of Object.entries({ '/body/name': plant.name, '/body/tag': plant.tag })) {
        if (text?.includes('\0')) throw new Unstorable(`${path} must not hold U+0000, which PostgreSQL cannot hold`);
      }
      if (closing) throw new StoreUnavailable('The store is closed.');
      if (waiting >= maxWaiting) throw new StoreUnavailable(`The store is busy: ${waiting} plants are waiting.`);
      waiting += 1;
      try {
        if (!gathering || gathering.plants.length >= BATCH_PLANTS || gathering.characters >= BATCH_CHARACTERS) {
          gathering = gather();
        }
        gathering.characters += plant.name.length + (plant.tag?.length ?? 0);
        const at = gathering.plants.push(plant) - 1;
        const error = (await gathering.done.catch((error: unknown) => Promise.reject(unavailable(error))))[at];
        if (error) throw error;
      } finally {
        waiting -= 1;
      }
    },
    async ready() {
      if (closing) throw new StoreUnavailable('The store is closed.');
      checking ??= connected((client) => insert(client, []))
        .catch((error: unknown) => Promise.reject(unavailable(error)))
        .finally(() => {
          checking = undefined;
        });
      return checking;
    },
    waiting: () => waiting,
    close() {
      closing ??= finish();
      return closing;
    },
  };
}

/** Inserts the plants with one statement. A plant that breaks a rule of the table takes no other with it. */
async function insertEach(client: PoolClient, plants: readonly StoredPlant[]): Promise<(Unstorable | undefined)[]> {
  try {
    await insert(client, plants);
    return [];
  } catch (error) {
    if (!/^2[23]/.test(codeOf(error) ?? '')) throw error;
    if (plants.length === 1) return [new Unstorable('/body breaks a rule of the database', { cause: reason(error) })];
    const errors: (Unstorable | undefined)[] = [];
    for (const plant of plants) errors.push((await insertEach(client, [plant]))[0]);
    return errors;
  }
}

/** Sends the statement, and sends it again if the server rolled it back for the sake of another. */
async function insert(client: PoolClient, plants: readonly StoredPlant[]): Promise<void> {
  const values = [plants.map(({ id }) => id), plants.map(({ name }) => name), plants.map(({ tag }) => tag ?? null)];
  for (;;) {
    try {
      const { rows } = await client.query<{ fsync: string | null; persistence: string }>(INSERT, values);
      if (rows[0]?.fsync === 'off') throw new StoreUnusable('A crash would lose plants: fsync must be on, but is off');
      if (rows[0]?.persistence !== 'p') {
        throw new StoreUnusable('A crash would lose plants: the table is unlogged; ALTER TABLE plants SET LOGGED');
      }
      return;
    } catch (error) {
      if (!ROLLED_BACK.includes(codeOf(error) ?? '')) throw error;
      await delay(20 * Math.random());
    }
  }
}
