import type { DatabaseSync } from 'node:sqlite';
import { isMainThread, resourceLimits, threadName } from 'node:worker_threads';

export interface Note {
  readonly id: number | bigint;
  readonly text: string;
}

/** A module like that of a user of the package. */
export default function notes(db: DatabaseSync) {
  db.exec(`CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS replies (
      note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED
    );
    CREATE TRIGGER IF NOT EXISTS ends BEFORE INSERT ON notes WHEN new.text = 'end'
    BEGIN SELECT raise(ROLLBACK, 'the end'); END`);
  const insert = db.prepare('INSERT INTO notes VALUES (?, ?)');
  // run() returns the new id, and throws if it is beyond 2^53 and numbers are not read as bigint.
  insert.setReadBigInts(true);
  const select = db.prepare('SELECT id, text FROM notes ORDER BY id');
  select.setReadBigInts(true);

  return {
    add({ id, text }: Note): void {
      insert.run(id, text);
    },
    /** Hides that its statement ended the transaction, and writes on. */
    endQuietly(): void {
      try {
        insert.run(96, 'end');
      } catch {}
      db.exec('INSERT INTO replies DEFAULT VALUES');
    },
    countReplies: () => db.prepare('SELECT count(*) AS count FROM replies').get()?.count,
    /** Adds two notes, or neither. */
    addBoth(first: Note, second: Note): number {
      insert.run(first.id, first.text);
      insert.run(second.id, second.text);
      return 2;
    },
    list(): Record<string, unknown>[] {
      return select.all().map((row) => ({ ...row }));
    },
    bytes: (length: number): Uint8Array => new Uint8Array(length).fill(7),
    fail(name: string): void {
      insert.run(99, 'undone');
      throw Object.assign(new RangeError(`no ${name}`), { code: 'NO_NAME', status: 418 });
    },
    async later(): Promise<void> {
      insert.run(98, 'undone');
      throw new Error('too late');
    },
    dropWhileReading(): void {
      for (const _ of select.iterate()) db.exec('DROP TABLE notes');
    },
    sleep(milliseconds: number): void {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    },
    exec: (sql: string): void => db.exec(sql),
    pragmas: (...names: string[]) =>
      names.map((name) => db.prepare(`PRAGMA ${name}`).get()?.[name]),
    uncloneable: () => () => 1,
    addUncloneable(id: number) {
      insert.run(id, 'undone');
      return () => 1;
    },
    failLater(): void {
      setImmediate(() => {
        throw new Error('a fault');
      });
    },
    thread: () => ({
      isMainThread,
      name: threadName,
      maxYoungGenerationSizeMb: resourceLimits.maxYoungGenerationSizeMb,
    }),
  };
}
