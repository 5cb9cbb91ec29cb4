import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { StoreLimits } from './index.ts';
import { type PostgresSettings, readPostgresUrl } from './postgres-url.ts';
import {
  type AddOutcome,
  type PlantStore,
  proveStorable,
  type StoredPlant,
  StoreRefused,
  StoreUnavailable,
  Unstorable,
} from './store.ts';

/** The most plants in one statement, and about the most characters. */
const BATCH_PLANTS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** How long `close` waits for the server to end the connections, in milliseconds. */
const GOODBYE_MS = 1_000;

const TABLE = 'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)';

/** In the order of the ids, so that two of these statements never wait for each other. */
const INSERT =
  'INSERT INTO plants (id, name, tag) ' +
  'SELECT id, name, tag FROM unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, name, tag) ORDER BY id ' +
  'ON CONFLICT (id) DO NOTHING RETURNING id';
const SELECT = 'SELECT id, name, tag FROM plants WHERE id = ANY ($1::bigint[])';

/** Columns without which no plant can be added; where there is a trigger, it may fill them. */
const FURTHER_COLUMNS =
  'SELECT attname FROM pg_attribute ' +
  "WHERE attrelid = 'plants'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('id', 'name', 'tag') " +
  "AND attnotnull AND NOT atthasdef AND attidentity = '' " +
  'AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = attrelid AND NOT tgisinternal)';

/** The types of the columns id, name and tag in PostgreSQL's protocol: int8, text, text. */
const COLUMN_TYPES = '20,25,25';

/** SQLSTATE values, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const READ_ONLY = '25006';
const UNDEFINED_TABLE = '42P01';
const ROLLED_BACK = new Set(['40001', '40P01']);

interface Connection {
  readonly client: Client;
  readonly socket: Socket;
}

/** Someone who waits for the database: with a plant, or only for it to answer. */
interface Waiter {
  readonly plant?: StoredPlant | undefined;
  settle(outcome: AddOutcome | Error): void;
}

/**
 * Opens the plants of a PostgreSQL database, and makes their table if need be. {@link readPostgresUrl} says what the URL
 * may hold.
 *
 * What waits goes out as one statement over each free connection. Whatever the server does, `add` and `ready` answer
 * within `connect_timeout` and `statement_timeout` together. A connection that failed is replaced when it is needed, and
 * no statement is sent twice unless the server has said that it rolled it back.
 *
 * A server that cannot be reached now is no hindrance: the store is unavailable until it can, and the table is made then.
 *
 * @throws {StoreRefused} if the URL is wrong or if the server's answer will stay no: wrong password, no such database, no
 *   right to the table or another table of that name, an untrusted certificate, commits that do not wait for the disk.
 */
export async function openPostgres(url: string, { maxWaiting, onBatch }: StoreLimits): Promise<PlantStore> {
  const settings = readPostgresUrl(url);
  const patience = settings.connectTimeout + settings.statementTimeout;
  const waiters = new Set<Waiter>();
  const queue: Waiter[] = [];
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const drained = Promise.withResolvers<void>();
  let busy = 0;
  let scheduled = false;
  let prepared = false;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function wait(plant?: StoredPlant): Promise<AddOutcome> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiter.settle(unavailable(settings, new Error(`no answer within ${patience} ms`)));
      }, patience);
      const waiter: Waiter = {
        plant,
        settle(outcome) {
          if (!waiters.delete(waiter)) return;
          clearTimeout(timer);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
          if (closing && waiters.size === 0) drained.resolve();
        },
      };
      waiters.add(waiter);
      if (plant) queue.push(waiter);
      else queue.unshift(waiter);
      schedule();
    });
  }

  /** Sends once all that arrived together is waiting. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      send();
    });
  }

  function send(): void {
    while (busy < settings.connections) {
      const batch = nextBatch();
      if (batch.length === 0) return;
      busy += 1;
      exchange(batch)
        .catch((error: unknown) => {
          for (const waiter of batch) waiter.settle(unavailable(settings, error));
        })
        .finally(() => {
          busy -= 1;
          send();
        });
    }
  }

  function nextBatch(): Waiter[] {
    let size = 0;
    let characters = 0;
    for (; size < queue.length && size < BATCH_PLANTS && characters < BATCH_CHARACTERS; size += 1) {
      const plant = queue[size]?.plant;
      characters += (plant?.name.length ?? 0) + (plant?.tag?.length ?? 0);
    }
    const batch = queue.splice(0, size).filter((waiter) => waiters.has(waiter));
    return batch.length > 0 || queue.length === 0 ? batch : nextBatch();
  }

  /** Settles the batch over one connection, within the time for a statement. */
  async function exchange(batch: readonly Waiter[]): Promise<void> {
    const connection = idle.pop() ?? (await connect());
    const { client, socket } = connection;
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no answer within ${settings.statementTimeout} ms`));
    }, settings.statementTimeout);
    try {
      if (!prepared) await prepare(client);
      prepared = true;
      const plants = batch.filter(({ plant }) => plant !== undefined).length;
      if (plants > 0) onBatch?.(plants);
      await addAll(client, batch);
      if (open.has(connection)) idle.push(connection);
    } catch (error) {
      drop(connection);
      const code = codeOf(error);
      if (code === UNDEFINED_TABLE) prepared = false;
      // No answer, or one of a server that is no longer the primary: the other connections lead there, too.
      if (code === undefined || code === READ_ONLY) for (const other of idle.splice(0)) drop(other);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function connect(): Promise<Connection> {
    const socket = new Socket();
    const client = new Client({ ...settings.client, stream: () => socket });
    const connection = { client, socket };
    open.add(connection);
    client.on('error', () => drop(connection));
    client.on('end', () => drop(connection));
    try {
      await client.connect();
      return connection;
    } catch (error) {
      drop(connection);
      throw error;
    }
  }

  function drop(connection: Connection): void {
    open.delete(connection);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    connection.socket.destroy();
  }

  async function finish(): Promise<void> {
    if (waiters.size > 0) await drained.promise;
    const goodbye = new AbortController();
    await Promise.race([
      Promise.allSettled([...open].map(({ client }) => client.end())),
      delay(GOODBYE_MS, undefined, { signal: goodbye.signal }).catch(() => {}),
    ]);
    goodbye.abort();
    for (const connection of open) drop(connection);
  }

  try {
    await exchange([]);
  } catch (error) {
    const refused = refusal(settings, error);
    if (refused) throw refused;
  }

  return {
    async add(plant) {
      if (closing) throw new StoreUnavailable('The store is closed.');
      proveStorable(plant);
      proveNoNul(plant);
      if (waiters.size >= maxWaiting)
        throw new StoreUnavailable(`The store is busy: ${waiters.size} plants are waiting.`);
      return wait(plant);
    },
    async ready() {
      if (closing) throw new StoreUnavailable('The store is closed.');
      checking ??= wait()
        .then(() => {})
        .finally(() => {
          checking = undefined;
        });
      return checking;
    },
    stats: () => ({ waiting: waiters.size }),
    close() {
      closing ??= finish();
      return closing;
    },
  };
}

/**
 * Adds the plants of the batch and tells each waiter as soon as its plant is committed. A plant that breaks a rule which
 * somebody gave the table takes no other with it.
 */
async function addAll(client: Client, batch: readonly Waiter[]): Promise<void> {
  try {
    await addTogether(client, batch);
  } catch (error) {
    if (!/^2[23]/.test(codeOf(error) ?? '')) throw error;
    if (batch.length > 1) for (const waiter of batch) await addAll(client, [waiter]);
    else
      for (const waiter of batch)
        waiter.settle(new Unstorable('/body breaks a rule of the database', { cause: brokenRule(error) }));
  }
}

async function addTogether(client: Client, batch: readonly Waiter[]): Promise<void> {
  const claims = new Map<bigint, { plant: StoredPlant; waiters: Waiter[] }>();
  for (const waiter of batch) {
    if (!waiter.plant) continue;
    const claim = claims.get(waiter.plant.id);
    if (claim) claim.waiters.push(waiter);
    else claims.set(waiter.plant.id, { plant: waiter.plant, waiters: [waiter] });
  }

  function tell(id: bigint, name: string, tag: string | null, first: AddOutcome | undefined): void {
    for (const [at, { plant, settle }] of claims.get(id)?.waiters.entries() ?? []) {
      const same = plant?.name === name && (plant.tag ?? null) === tag;
      settle((at === 0 && first) || (same ? 'unchanged' : 'conflict'));
    }
    claims.delete(id);
  }

  // A plant that is neither inserted nor found was deleted by others in between: it is tried again.
  do {
    const plants = [...claims.values()].map(({ plant }) => plant);
    const tags = plants.map(({ tag }) => tag ?? null);
    const inserted = await query(client, INSERT, [[...claims.keys()], plants.map(({ name }) => name), tags]);
    for (const [id = ''] of inserted) {
      const plant = claims.get(BigInt(String(id)))?.plant;
      if (plant) tell(plant.id, plant.name, plant.tag ?? null, 'added');
    }
    if (claims.size === 0) break;
    // A statement of its own: only then does it see what a racing transaction has committed.
    for (const [id, name, tag] of await query(client, SELECT, [[...claims.keys()]])) {
      tell(BigInt(String(id)), String(name), tag == null ? null : String(tag), undefined);
    }
  } while (claims.size > 0);
  for (const { plant, settle } of batch) if (!plant) settle('unchanged');
}

/** Sends a statement, and sends it again where the server says that it was rolled back for the sake of another. */
async function query(client: Client, text: string, values: unknown[]): Promise<unknown[][]> {
  for (;;) {
    try {
      return (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
    } catch (error) {
      if (!ROLLED_BACK.has(codeOf(error) ?? '')) throw error;
      await delay(20 * Math.random());
    }
  }
}

/** Sees to it that the database can keep plants, making the table if it is not there. */
async function prepare(client: Client): Promise<void> {
  const [[encoding, commit] = []] = await query(
    client,
    "SELECT current_setting('server_encoding'), current_setting('synchronous_commit', true)",
    [],
  );
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    throw new StoreRefused(
      `The PostgreSQL database has the encoding ${encoding}, which cannot hold every name; make one with ENCODING 'UTF8'`,
    );
  }
  if (commit === 'off') {
    throw new StoreRefused(
      'The PostgreSQL database has synchronous_commit off, so that a crash would lose plants that were acknowledged; ' +
        'it must be on: ALTER DATABASE … SET synchronous_commit = on',
    );
  }
  try {
    await probe(client);
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
    await makeTable(client);
  }
  const { fields } = await client.query('SELECT id, name, tag FROM plants LIMIT 0');
  if (fields.map(({ dataTypeID }) => dataTypeID).join() !== COLUMN_TYPES) {
    throw new StoreRefused(
      'The PostgreSQL database has another table plants; its columns must be id bigint PRIMARY KEY, name text NOT NULL, ' +
        'tag text. Name another database, or another schema with options=-csearch_path%3DSCHEMA',
    );
  }
  const further = await query(client, FURTHER_COLUMNS, []);
  if (further.length > 0) {
    throw new StoreRefused(
      `The table plants of the PostgreSQL database has columns that must be filled: ${further.join(', ')}; each must have ` +
        'a default or allow NULL',
    );
  }
}

/** Where many make the table at once, IF NOT EXISTS does not keep all but one from failing; the table is there then. */
async function makeTable(client: Client): Promise<void> {
  try {
    await client.query(TABLE);
  } catch (error) {
    await probe(client).catch(() => {
      throw error;
    });
  }
}

/** Adds no plant, and fails where adding one would: no table, no right, no primary key, a server that only reads. */
async function probe(client: Client): Promise<void> {
  await query(client, INSERT, [[], [], []]);
}

function proveNoNul({ name, tag }: StoredPlant): void {
  const held = name.includes('\0') ? '/body/name' : tag?.includes('\0') ? '/body/tag' : undefined;
  if (held !== undefined) throw new Unstorable(`${held} must not hold U+0000, which PostgreSQL cannot hold`);
}

function unavailable({ place }: PostgresSettings, error: unknown): StoreUnavailable {
  const cause = reason(error);
  return new StoreUnavailable(`PostgreSQL at ${place} takes no plants now: ${cause.message}`, { cause });
}

/** The error without the fields that pg adds, which may quote a plant. */
export function reason(error: unknown): Error {
  if (error instanceof DatabaseError) return new Error(`${error.message} (SQLSTATE ${error.code})`);
  const { message, errors } = fieldsOf(error);
  // A host with several addresses, each with an error of its own.
  if (Array.isArray(errors)) return new Error(errors.map((each) => reason(each).message).join('; '));
  return new Error(String(message || error), { cause: error });
}

/** Which rule a plant breaks: what the server says, but for class 22, whose messages quote what they are about. */
function brokenRule(error: unknown): Error {
  const code = codeOf(error);
  return code?.startsWith('22') ? new Error(`SQLSTATE ${code}`) : reason(error);
}

function fieldsOf(error: unknown): { message?: unknown; code?: unknown; errors?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

function codeOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** What to tell the operator about an error that waiting would not mend; `undefined` for all others. */
function refusal({ place, client }: PostgresSettings, error: unknown): StoreRefused | undefined {
  if (error instanceof StoreRefused) return error;
  const advice = adviceOn(error);
  if (advice === undefined) return undefined;
  const cause = reason(error);
  return new StoreRefused(`PostgreSQL at ${place} refuses ${client.user ?? 'the user'}: ${cause.message}. ${advice}`, {
    cause,
  });
}

/** Whether waiting would not mend what PostgreSQL or the way to it failed with. */
export const isLasting = (error: unknown): boolean => adviceOn(error) !== undefined;

function adviceOn(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === undefined) return adviceOnConnection(error);
  switch (code) {
    case '28P01':
      return 'The PostgreSQL URL must hold the right user and password';
    case '28000':
      return 'The PostgreSQL URL must name a user whom pg_hba.conf lets in from here; sslmode=require asks for TLS';
    case '3D000':
      return "Make the database with CREATE DATABASE … ENCODING 'UTF8', or name another at the end of the PostgreSQL URL";
    case '42501':
      return `The user must have the rights SELECT and INSERT on the table; without the right to make it, make it first: ${TABLE}`;
    case '42P10':
    case '42703':
      return `There is another table plants; right would be the one of: ${TABLE}`;
    case '22023':
    case '42704':
      return 'The options and parameters of the PostgreSQL URL must be such as the server knows';
    case '08P01':
      // PgBouncer's answer to what it was not told to ignore; all else under this code may pass.
      if (!/unsupported startup parameter/.test(reason(error).message)) return undefined;
      return 'PgBouncer must have ignore_startup_parameters = statement_timeout, and the URL no options';
  }
  return /^(0A|28|3F|42)/.test(code) ? 'The server must be a PostgreSQL, or understand its SQL' : undefined;
}

function adviceOnConnection(error: unknown): string | undefined {
  const { message, code } = fieldsOf(error);
  if (/^SASL/.test(String(message))) return 'The PostgreSQL URL must hold the right user and password';
  if (message === 'The server does not support SSL connections') {
    return 'Turn on TLS there, or say sslmode=disable in the PostgreSQL URL';
  }
  if (/^ERR_OSSL/.test(String(code))) {
    return 'sslcert and sslkey in the PostgreSQL URL must name a PEM certificate and its own key';
  }
  if (/CERT|SIGNATURE|^ERR_TLS/.test(String(code))) {
    return 'sslrootcert=FILE in the PostgreSQL URL must name the authority that signed its certificate for this host';
  }
  return undefined;
}
