import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import plants from '../../../src/stores/sqlite-plants.ts';

test('a plant is stored once, and different plants with its id are stored, too', () => {
  const db = new DatabaseSync(':memory:');
  const rows = [
    { id: 1n, name: 'Fern', tag: null },
    { id: 1n, name: 'Fern', tag: '' },
    { id: 1n, name: 'Fern', tag: '=' },
    { id: 1n, name: 'Palm', tag: null },
    { id: 2n ** 63n - 1n, name: 'Fern', tag: null },
  ];
  const { add } = plants(db);
  for (const { id, name, tag } of [...rows, ...rows]) add(id, name, tag);
  const select = db.prepare('SELECT id, name, tag FROM plants ORDER BY id, name, tag_key');
  select.setReadBigInts(true);
  expect(select.all().map((row) => ({ ...row }))).toEqual(rows);
});

test('a table of an earlier start is used again', () => {
  const db = new DatabaseSync(':memory:');
  plants(db).add(1n, 'Fern', null);
  plants(db).add(1n, 'Fern', null);
  expect(db.prepare('SELECT count(*) AS count FROM plants').get()).toEqual({ count: 1 });
});

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
