import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import plants from '../../../src/stores/sqlite-plants.ts';

test('a plant is stored once, and other plants with its id beside it', () => {
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

test.each([
  [
    'other columns',
    'CREATE TABLE plants (id INTEGER PRIMARY KEY, title TEXT NOT NULL)',
    'id INTEGER 1, title TEXT 0',
  ],
  [
    'an additional column',
    'CREATE TABLE plants (id INTEGER, name TEXT, tag TEXT, tag_key TEXT, x TEXT, PRIMARY KEY (id, name, tag_key))',
    'id INTEGER 1, name TEXT 2, tag TEXT 0, tag_key TEXT 3, x TEXT 0',
  ],
  [
    'a hidden column',
    'CREATE TABLE plants (id INTEGER, name TEXT, tag TEXT, tag_key TEXT, x AS (id) VIRTUAL, PRIMARY KEY (id, name, tag_key))',
    'id INTEGER 1, name TEXT 2, tag TEXT 0, tag_key TEXT 3, x  0',
  ],
  [
    'another key',
    'CREATE TABLE plants (id INTEGER, name TEXT NOT NULL PRIMARY KEY, tag TEXT)',
    'id INTEGER 0, name TEXT 1, tag TEXT 0',
  ],
  [
    'a view instead',
    "CREATE VIEW plants AS SELECT 1 AS id, 'Fern' AS name, NULL AS tag",
    'id  0, name  0, tag  0',
  ],
])('a database with %s is rejected, and the error lists its columns', (_, sql, columns) => {
  const db = new DatabaseSync(':memory:');
  db.exec(sql);
  expect(() => plants(db)).toThrow(
    'the columns of its table plants must be (id INTEGER 1, name TEXT 2, ' +
      `tag TEXT 0, tag_key TEXT 3), but are (${columns}); use another file`,
  );
});
