import type { DatabaseSync } from 'node:sqlite';

/** A module that inserts rows and migrates the database when it is opened. */
export default function seeded(db: DatabaseSync) {
  db.exec(`CREATE TABLE IF NOT EXISTS colors (name TEXT PRIMARY KEY) STRICT;
    INSERT OR IGNORE INTO colors VALUES ('green'), ('red');
    PRAGMA user_version = 3;
    CREATE TEMP TABLE mine (x)`);
  const select = db.prepare('SELECT name FROM colors ORDER BY name');
  const insert = db.prepare('INSERT INTO colors VALUES (?)');

  return {
    list: () => select.all().map(({ name }) => String(name)),
    add(name: string): void {
      insert.run(name);
    },
  };
}
