import { readdirSync, readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';

const folder = new URL('../migrations/', import.meta.url);

/** The time limit of each migration, longer than that of other statements. */
const MIGRATION_MS = 3_600_000;

/**
 * Runs each file of the folder once, in the order of their names. Instances that start together
 * wait for each other.
 */
export async function migrate(client: ClientBase): Promise<void> {
  const runSlow = (text: string) => {
    const statement = { text, query_timeout: MIGRATION_MS };
    return client.query(statement);
  };

  await client.query(`BEGIN; SET LOCAL statement_timeout = ${MIGRATION_MS}`);
  try {
    await runSlow('SELECT pg_advisory_xact_lock(424242)');
    await client.query('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY)');
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
    const done = new Set(rows.map(({ name }) => name));
    for (const name of readdirSync(folder).sort()) {
      if (done.has(name)) continue;
      await runSlow(readFileSync(new URL(name, folder), 'utf8'));
      await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
