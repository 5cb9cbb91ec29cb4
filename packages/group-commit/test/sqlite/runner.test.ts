import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Call, createRunner, touch } from '../../src/sqlite/runner.ts';
import notes from './notes.ts';
import { connect, useFolder } from './support.ts';

useFolder();

let db: DatabaseSync;
let runner: ReturnType<typeof createRunner>;
let calls: string[];
let fileChecks: number;

beforeEach(() => use(new DatabaseSync(':memory:')));

function use(opened: DatabaseSync): void {
  db = opened;
  calls = [];
  fileChecks = 0;
  const functions = {
    ...notes(db),
    full() {
      throw Object.assign(new Error('disk is full'), { errcode: 13 });
    },
    readOnly() {
      throw Object.assign(new Error('attempt to write'), { errcode: 1544 });
    },
    isOpen: () => db.isTransaction,
    record: (name: string) => calls.push(name),
  };
  runner = createRunner(
    db,
    functions,
    (task) => {
      calls.push('guard');
      return task();
    },
    () => {
      fileChecks += 1;
    },
  );
  db.exec(`CREATE TRIGGER ends BEFORE INSERT ON notes WHEN new.text = 'end'
    BEGIN SELECT raise(ROLLBACK, 'the end'); END`);
}

const add = (id: number): Call => ['add', { id, text: 'a' }];
/** A call whose trigger ends the transaction. */
const end: Call = ['add', { id: 0, text: 'end' }];
const ids = () =>
  db
    .prepare('SELECT id FROM notes ORDER BY id')
    .all()
    .map(({ id }) => id);

describe('write', () => {
  test('returns nothing if no call returns anything, and otherwise an outcome for each', () => {
    expect(runner.write([add(1), add(2)])).toEqual([]);
    expect(runner.write([add(3), ['bytes', 2]])).toEqual([
      undefined,
      { result: new Uint8Array([7, 7]) },
    ]);
    expect(ids()).toEqual([1, 2, 3]);
    expect(fileChecks).toBe(2);
    expect(calls).toEqual(['guard', 'guard', 'guard', 'guard']);
  });

  test.each<[string, Call, object]>([
    ['throws', ['fail', 'tea'], { name: 'RangeError', message: 'no tea', code: 'NO_NAME' }],
    ['violates a constraint', add(1), { errcode: 1555 }],
    ['is async', ['later'], { message: 'the function later must not be async' }],
    ['has no function', ['remove'], { message: 'the module defines no function remove' }],
    ['has an inherited name', ['toString'], { message: expect.stringContaining('toString') }],
    ['ends the transaction', end, { message: 'the end' }],
    ['returns what cannot be cloned', ['addUncloneable', 3], { name: 'DataCloneError' }],
  ])('undoes only the changes of a call that %s', (_name, call, error) => {
    const outcomes = runner.write([add(1), call, add(2)]);
    expect(outcomes).toEqual([undefined, { error: expect.objectContaining(error) }, undefined]);
    expect(ids()).toEqual([1, 2]);
    expect(db.isTransaction).toBe(false);
  });

  test('leaves out each call that ends the transaction, and runs the other calls again', () => {
    const outcomes = runner.write([end, add(1), ['add', { id: 9, text: 'end' }], add(2)]);
    expect(outcomes.map((outcome) => outcome?.error !== undefined)).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(ids()).toEqual([1, 2]);
  });

  test('rejects only the call whose deferred constraint fails at the commit', () => {
    db.exec(`CREATE TABLE replies (
      note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)`);
    const reply = (note: number): Call => ['exec', `INSERT INTO replies VALUES (${note})`];
    const outcomes = runner.write([add(1), reply(7), reply(1)]);
    expect(outcomes).toEqual([
      undefined,
      { error: expect.objectContaining({ errcode: 787 }) },
      undefined,
    ]);
    expect(db.prepare('SELECT note FROM replies').all()).toEqual([{ note: 1 }]);
    expect(db.isTransaction).toBe(false);
  });

  test('throws an error of the database, and undoes all calls', () => {
    expect(() => runner.write([add(1), ['full'], add(2)])).toThrow('disk is full');
    expect(ids()).toEqual([]);
    // The same with savepoints, after a call has failed.
    runner.write([['fail', 'tea']]);
    expect(() => runner.write([add(1), ['full'], add(2)])).toThrow('disk is full');
    expect(ids()).toEqual([]);
    expect(db.isTransaction).toBe(false);
  });

  test.each([
    [9, 1],
    [10, 2],
  ])(
    'if a call fails again after %d commits, the other calls of its commit run %d times',
    (commits, times) => {
      runner.write([['fail', 'tea']]);
      for (let count = 0; count < commits; count += 1) runner.write([add(count)]);
      calls = [];
      runner.write([
        ['record', 'ran'],
        ['fail', 'tea'],
      ]);
      expect(calls.filter((name) => name === 'ran')).toHaveLength(times);
    },
  );
});

describe('read', () => {
  test('runs each call in its own transaction, and returns its result or its error', () => {
    runner.write([add(1)]);
    const outcomes = runner.read([['isOpen'], ['fail', 'tea'], ['bytes', 0], ['readOnly']]);
    expect(outcomes).toEqual([
      { result: true },
      { error: expect.objectContaining({ message: 'no tea' }) },
      { result: new Uint8Array(0) },
      { error: expect.objectContaining({ message: 'attempt to write' }) },
    ]);
    expect(ids()).toEqual([1]);
    expect(fileChecks).toBe(2);
    expect(db.isTransaction).toBe(false);
  });
});

describe('rehearse', () => {
  test.each([
    ['without calls writes nothing', [], 0],
    ['with calls writes once', [['bytes', 2], add(1)] satisfies Call[], 1],
  ])('%s, and checks the files', (_name, rehearsed, writes) => {
    use(connect());
    const version = connect().prepare('SELECT data_version FROM pragma_data_version');
    const before = Number(version.get()?.data_version);
    runner.rehearse(rehearsed);
    expect(Number(version.get()?.data_version) - before).toBe(writes);
    expect(ids()).toEqual([]);
    expect(fileChecks).toBe(1);
  });

  test('runs calls and undoes them, whether they fail or not', () => {
    runner.rehearse([add(1), ['fail', 'tea'], ['record', 'ran'], end, add(2)]);
    expect(calls).toContain('ran');
    expect(ids()).toEqual([]);
    expect(db.isTransaction).toBe(false);
    expect(fileChecks).toBe(1);
  });
});

test('touch keeps the user version', () => {
  db.exec('PRAGMA user_version = 7');
  touch(db);
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 7 });
});
