import type { DatabaseSync } from 'node:sqlite';

/** Stores orders. A call with `fails` throws after it has inserted a row. */
export default function orders(db: DatabaseSync) {
  db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, text TEXT) STRICT');
  const insert = db.prepare('INSERT INTO orders VALUES (?, ?)');

  return {
    order(id: number, fails: boolean): void {
      insert.run(id, 'Monstera deliciosa');
      if (fails) throw new Error('out of stock');
    },
  };
}
