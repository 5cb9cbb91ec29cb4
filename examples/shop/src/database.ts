import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  CamelCasePlugin,
  type Dialect,
  type Generated,
  Kysely,
  PostgresDialect,
  type SqliteDatabase,
  SqliteDialect,
} from 'kysely';
import pg from 'pg';
import type { Int64, OrderStatus, PaymentMethod } from '../generated/openapi.ts';
import { migrate } from './migrations.ts';

/** A `Date` from PostgreSQL, a string from SQLite. Replies accept both. */
type Timestamp = string | Date;

export interface Tables {
  customers: {
    id: string;
    email: string;
    name: string;
    birthday: string | null;
    passwordHash: string;
    createdAt: Timestamp;
    version: Generated<number>;
  };
  products: { id: Int64; name: string; cents: number; stock: number; tags: string };
  /** The tags of `products` as rows, for searches. */
  productTags: { productId: Int64; tag: string };
  orders: {
    /** Ascends with time. */
    number: Generated<Int64>;
    id: string;
    customerId: string;
    status: OrderStatus;
    cents: number;
    note: string | null;
    deliverOn: string | null;
    placedAt: Timestamp;
    idempotencyKey: string;
    /** The body of the request. Distinguishes a retry from another order with the same key. */
    request: string;
  };
  orderLines: {
    orderId: string;
    position: number;
    productId: Int64;
    quantity: number;
    cents: number;
  };
  payments: {
    id: string;
    orderId: string;
    cents: number;
    state: 'pending' | 'received';
    method: PaymentMethod['method'];
    details: string;
  };
  documents: {
    id: string;
    orderId: string;
    kind: 'invoice' | 'photo';
    title: string | null;
    contentType: DocumentType;
    size: number;
    content: Uint8Array;
  };
  reports: {
    id: string;
    state: 'running' | 'done';
    from: string;
    to: string;
    cents: number | null;
  };
}

export type DocumentType = 'application/pdf' | 'image/png' | 'image/jpeg';
export type Database = Kysely<Tables>;

/**
 * Opens a database, and brings its tables up to date.
 *
 * @param url `sqlite:FILE`, or the URL of a PostgreSQL database.
 */
export async function openDatabase(url: string): Promise<Database> {
  const dialect = url.startsWith('sqlite:')
    ? sqliteDialect(url.slice('sqlite:'.length))
    : postgresDialect(url);
  const database: Database = new Kysely({ dialect, plugins: [new CamelCasePlugin()] });
  await migrate(database);
  return database;
}

/** Returns true for an error of a unique constraint. */
export function isDuplicate(error: unknown): boolean {
  const { code, errcode } = Object(error);
  return code === '23505' || errcode === 2067;
}

const integer = (value: bigint): Int64 => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

function postgresDialect(connectionString: string): Dialect {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, (text: string) => integer(BigInt(text)));
  const pool = new pg.Pool({ connectionString, types, connectionTimeoutMillis: 5000 });
  // The pool replaces lost connections. Without listeners, `error` would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new PostgresDialect({ pool });
}

function sqliteDialect(file: string): Dialect {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000');
  const adapter: SqliteDatabase = {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      const bound = (values: readonly unknown[]) => values as SQLInputValue[];
      const rowOf = (row: object) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'bigint' ? integer(value) : value,
          ]),
        );
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...bound(values)).map(rowOf),
        run: (values) => statement.run(...bound(values)),
        iterate: (values) => statement.iterate(...bound(values)),
      };
    },
  };
  return new SqliteDialect({ database: adapter });
}
