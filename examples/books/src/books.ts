import type { DatabaseSync } from 'node:sqlite';

export type Book = { isbn: string; title: string; author: string };

/** Runs in the threads of the database. Waiting writes share a commit, and resolve after it. */
export default function books(db: DatabaseSync) {
  db.exec(`
    CREATE TABLE IF NOT EXISTS books (
      isbn TEXT PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`);
  const put = db.prepare('INSERT OR REPLACE INTO books (isbn, title, author) VALUES (?, ?, ?)');
  const bookByIsbn = db.prepare('SELECT isbn, title, author FROM books WHERE isbn = ?');
  const booksAfter = db.prepare(
    'SELECT isbn, title, author FROM books WHERE isbn > ? ORDER BY isbn LIMIT ?',
  );
  const remove = db.prepare('DELETE FROM books WHERE isbn = ?');
  return {
    put({ isbn, title, author }: Book): void {
      put.run(isbn, title, author);
    },
    get: (isbn: string) => bookByIsbn.get(isbn) as Book | undefined,
    list: (after: string, limit: number) => booksAfter.all(after, limit) as Book[],
    remove: (isbn: string): boolean => remove.run(isbn).changes === 1,
  };
}
