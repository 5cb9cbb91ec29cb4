import { DatabaseSync } from 'node:sqlite';
import type { Verifiers } from 'spec-first-server';
import type { Around } from '../generated/openapi.ts';

/** The members that each request has besides those of the document. */
export interface Members {
  readonly tx: DatabaseSync;
}

/** Gives each request a transaction. SQLite has one writer, so the requests take turns. */
export function inTransaction(file: string): Around<Verifiers, Members> {
  let lastTurn: Promise<unknown> = Promise.resolve();

  return (_operation, _request, next) => {
    const turn = lastTurn.then(async () => {
      // Closing the connection rolls back a transaction that is not committed.
      using tx = new DatabaseSync(file);
      tx.exec('BEGIN IMMEDIATE');
      const reply = await next({ tx });
      if (reply.status < 400) tx.exec('COMMIT');
      return reply;
    });
    lastTurn = turn.catch(() => undefined);
    return turn;
  };
}
