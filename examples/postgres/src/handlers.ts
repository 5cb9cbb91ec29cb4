import { Unusable } from 'group-commit';
import { openDatabase } from 'group-commit/postgres';
import { type Backend, ConfigError } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';
import { migrate } from './migrate.ts';

interface Row {
  id: string;
  text: string;
  tag: string | null;
  created_at: Date;
}

const noteOf = ({ id, text, tag, created_at }: Row) => ({
  id: BigInt(id),
  text,
  ...(tag !== null && { tag }),
  createdAt: created_at.toISOString(),
});

export async function openNotes(url: string): Promise<Backend & { handlers: Handlers }> {
  const database = await openDatabase({
    url,
    name: 'notes',
    setUp: migrate,
  }).catch((error: unknown) => {
    throw error instanceof Unusable
      ? new ConfigError(`DATABASE_URL: ${error.message}`, { cause: error })
      : error;
  });
  const query = (sql: string, values: readonly unknown[]) =>
    database.run(async (client) => (await client.query<Row>(sql, [...values])).rows.map(noteOf));

  const handlers: Handlers = {
    async listNotes({ query: { tag } }) {
      const sql =
        'SELECT * FROM notes WHERE $1::text IS NULL OR tag = $1 ORDER BY id DESC LIMIT 50';
      return { status: 200, body: await query(sql, [tag ?? null]) };
    },
    async addNote({ body: { text, tag } }) {
      const sql = 'INSERT INTO notes (text, tag) VALUES ($1, $2) RETURNING *';
      const [note] = await query(sql, [text, tag ?? null]);
      if (note === undefined) throw new Error('INSERT returned no row');
      return { status: 201, body: note };
    },
  };
  const { location, ready, close } = database;
  return { handlers, location, ready, close };
}
