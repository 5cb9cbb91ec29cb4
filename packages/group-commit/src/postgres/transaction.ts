import type { ClientBase } from 'pg';
import type { UrlSettings } from './url.ts';

/** Enables `synchronous_commit` for the commit, even if the task disabled it. */
const DURABLE_TRANSACTION = `SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit', true) = 'off'`;

/**
 * Commits without a time limit. A commit that waits for a standby cannot be undone: a cancellation
 * would only make its changes visible before they are safe. connections.ts cancels other commits.
 */
const COMMIT = {
  text: `${DURABLE_TRANSACTION}; SET LOCAL statement_timeout = 0; COMMIT`,
  query_timeout: 2 ** 31 - 1,
};

/** Commits within the time limit of a statement, since a pooler may not cancel the commit. */
const LIMITED_COMMIT = `${DURABLE_TRANSACTION}; COMMIT`;

/** SQLSTATE of statements after a failed one in the same transaction. */
const ABORTED = '25P02';

/**
 * Runs a task in a transaction, and resolves after its commit.
 *
 * @throws {unknown} the error of the task, after rolling back.
 */
export async function transact<T>(
  client: ClientBase,
  task: (client: ClientBase) => Promise<T>,
  { statementMs, pooled }: Pick<UrlSettings, 'statementMs' | 'pooled'>,
): Promise<T> {
  // Pipelined: the statements of the task do not wait for the response.
  const begin = client.query(`BEGIN; SET LOCAL statement_timeout = ${statementMs}`);
  begin.catch(() => {});
  try {
    const result = await task(client);
    await begin;
    await client.query(pooled ? LIMITED_COMMIT : COMMIT);
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (Object(error).code !== ABORTED) throw error;
    const message = 'the transaction was rolled back because one of its statements failed';
    throw new Error(message, { cause: error });
  }
}

/** Runs a task in a transaction that is rolled back. */
export async function rehearse(
  client: ClientBase,
  task: (client: ClientBase) => Promise<unknown>,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await task(client);
  } finally {
    await client.query('ROLLBACK').catch(() => {});
  }
}
