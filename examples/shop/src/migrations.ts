import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';

const first: Migration = {
  async up(db: Kysely<unknown>) {
    const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
    const moment = isPostgres ? sql`timestamptz` : sql`text`;
    const bytes = isPostgres ? sql`bytea` : sql`blob`;

    await db.schema
      .createTable('customers')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('email', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('birthday', 'text')
      .addColumn('password_hash', 'text', (column) => column.notNull())
      .addColumn('created_at', moment, (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(1))
      .execute();
    await db.schema
      .createTable('products')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('cents', 'bigint', (column) => column.notNull())
      .addColumn('stock', 'integer', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('product_tags')
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('product_id', 'bigint', (column) => column.notNull().references('products.id'))
      .addPrimaryKeyConstraint('one_row_per_tag', ['tag', 'product_id'])
      .execute();
    await db.schema
      .createTable('orders')
      .addColumn('number', isPostgres ? 'bigserial' : 'integer', (column) =>
        isPostgres ? column.primaryKey() : column.primaryKey().autoIncrement(),
      )
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('customer_id', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('cents', 'bigint', (column) => column.notNull())
      .addColumn('note', 'text')
      .addColumn('deliver_on', 'text')
      .addColumn('placed_at', moment, (column) => column.notNull())
      .addColumn('idempotency_key', 'text', (column) => column.notNull())
      .addColumn('request', 'text', (column) => column.notNull())
      .addUniqueConstraint('one_order_per_key', ['customer_id', 'idempotency_key'])
      .execute();
    await db.schema
      .createIndex('orders_of_customer')
      .on('orders')
      .columns(['customer_id', 'number'])
      .execute();
    await db.schema
      .createTable('order_lines')
      .addColumn('order_id', 'text', (column) => column.notNull().references('orders.id'))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('product_id', 'bigint', (column) => column.notNull().references('products.id'))
      .addColumn('quantity', 'integer', (column) => column.notNull())
      .addColumn('cents', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('one_line_per_position', ['order_id', 'position'])
      .execute();
    await db.schema
      .createTable('payments')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('order_id', 'text', (column) => column.notNull().references('orders.id'))
      .addColumn('cents', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('method', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('documents')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('order_id', 'text', (column) => column.notNull().references('orders.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('title', 'text')
      .addColumn('content_type', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('content', bytes, (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('reports')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('from', 'text', (column) => column.notNull())
      .addColumn('to', 'text', (column) => column.notNull())
      .addColumn('cents', 'bigint')
      .execute();
  },
};

const provider: MigrationProvider = { getMigrations: async () => ({ '001-first': first }) };

/** Brings the tables up to date. On PostgreSQL, several processes may start at the same time. */
export async function migrate<T>(db: Kysely<T>): Promise<void> {
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
}
