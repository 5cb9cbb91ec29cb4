import { DatabaseSync } from 'node:sqlite';
import { type Backend, HttpError, type Verifiers } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';
import { inTransaction, type Members } from './transaction.ts';

const handlers: Handlers<Verifiers, Members> = {
  getAccount({ path: { name }, tx }) {
    const account = tx.prepare('SELECT balance FROM accounts WHERE name = ?').get(name);
    if (account === undefined) throw new HttpError(404, `there is no account ${name}`);
    return { status: 200, body: { name, balance: Number(account.balance) } };
  },

  putAccount({ path: { name }, body: { balance }, tx }) {
    tx.prepare('INSERT OR REPLACE INTO accounts VALUES (?, ?)').run(name, balance);
    return { status: 200, body: { name, balance } };
  },

  transfer({ body: { from, to, amount }, tx }) {
    add(tx, from, -amount);
    // If this throws, the change of the other account is rolled back.
    add(tx, to, amount);
    return { status: 204 };
  },
};

function add(tx: DatabaseSync, name: string, amount: number): void {
  const add = tx.prepare('UPDATE accounts SET balance = balance + ? WHERE name = ? RETURNING *');
  const account = add.get(amount, name);
  if (account === undefined) throw new HttpError(404, `there is no account ${name}`);
  if (Number(account.balance) < 0) throw new HttpError(409, `${name} has less than ${-amount}`);
}

export function openAccounts(file: string) {
  using database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, balance INTEGER NOT NULL) STRICT`);
  return { handlers, around: inTransaction(file) } satisfies Backend;
}
