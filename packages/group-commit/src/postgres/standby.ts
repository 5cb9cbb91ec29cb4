/** A commit waits until a synchronous standby has it. This file says how to notice that. */
import type { ClientBase } from 'pg';
import { Unavailable } from '../errors.ts';

/**
 * Cancels the statement of a session, unless its commit waits for a standby. A cancellation would
 * not undo that commit, but make it visible before it is safe.
 */
const CANCEL = `SELECT wait_event = 'SyncRep' AS waits,
    CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_cancel_backend(pid) END
  FROM pg_stat_activity WHERE pid = $1`;

/** Reads the sessions of this role whose commit has waited for longer than usual. */
const WAITING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '500 ms'`;

/** Resolves to true if the commit of a session waits for a standby. Cancels other statements. */
export async function cancelStatement(client: ClientBase, pid: unknown): Promise<boolean> {
  const { rows } = await client.query<{ waits: boolean }>(CANCEL, [pid]);
  return rows[0]?.waits === true;
}

/** @throws {Unavailable} if a commit of this role waits for a standby. */
export async function checkStandby(client: ClientBase, location: string): Promise<void> {
  const { rowCount } = await client.query(WAITING);
  if (rowCount) throw notReplicated(location);
}

/** Returns true for the warning after a commit whose wait for a standby was cancelled. */
export const isCancelledWait = ({ routine }: { routine: string | undefined }): boolean =>
  routine === 'SyncRepWaitForLSN';

export const notReplicated = (location: string): Unavailable =>
  new Unavailable(
    `PostgreSQL at ${location}: a commit waits for a synchronous standby, and none confirms it.`,
    'NO_STANDBY',
  );
