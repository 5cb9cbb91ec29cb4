import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import plants from '../../../src/stores/sqlite-plants.ts';

test('a table with further columns is used', () => {
  const db = new DatabaseSync(':memory:');
  plants(db);
  db.exec('ALTER TABLE plants ADD COLUMN note TEXT');
  plants(db).add(1n, 'Fern', null);
  expect(db.prepare('SELECT name, note FROM plants').get()).toEqual({ name: 'Fern', note: null });
});

test.each([
  [
    'other columns',
    'CREATE TABLE plants (id INTEGER PRIMARY KEY, title TEXT NOT NULL)',
    'table plants has no column named name',
  ],
  [
    'another key',
    'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT, tag_key TEXT)',
    'does not match any PRIMARY KEY or UNIQUE constraint',
  ],
  [
    'a view instead',
    "CREATE VIEW plants AS SELECT 1 AS id, 'Fern' AS name, NULL AS tag, '' AS tag_key",
    'plants',
  ],
])('a database with %s is rejected', (_, sql, message) => {
  const db = new DatabaseSync(':memory:');
  db.exec(sql);
  expect(() => plants(db)).toThrow(message);
});
