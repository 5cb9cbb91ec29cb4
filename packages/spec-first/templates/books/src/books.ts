import type { DatabaseSync } from 'node:sqlite';
import type { components } from '../generated/openapi.ts';

export type Book = components['schemas']['Book'];

/** The functions of the database. They run in its thread; calls that wait share a transaction. */
export default function books(db: DatabaseSync) {
  db.exec(
    'CREATE TABLE IF NOT EXISTS books (isbn TEXT PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL) STRICT, WITHOUT ROWID',
  );
  const columns = 'isbn, title, author';
  const insert = db.prepare(`INSERT INTO books (${columns}) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`);
  const selectPage = db.prepare(`SELECT ${columns} FROM books WHERE isbn > ? ORDER BY isbn LIMIT ?`);
  const selectOne = db.prepare(`SELECT ${columns} FROM books WHERE isbn = ?`);
  const deleteOne = db.prepare('DELETE FROM books WHERE isbn = ?');
  return {
    /** Returns false if the ISBN is taken. */
    add: ({ isbn, title, author }: Book): boolean => insert.run(isbn, title, author).changes === 1,

    list: (after: string, limit: number): Book[] => selectPage.all(after, limit).map(bookOf),

    get(isbn: string): Book | undefined {
      const row = selectOne.get(isbn);
      return row && bookOf(row);
    },

    /** Returns false if there is no such book. */
    remove: (isbn: string): boolean => deleteOne.run(isbn).changes === 1,
  };
}

const bookOf = ({ isbn, title, author }: Record<string, unknown>): Book => ({
  isbn: String(isbn),
  title: String(title),
  author: String(author),
});
