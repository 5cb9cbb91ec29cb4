import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import type { Connection } from './connection.ts';

/** How often connections are counted within the time that has to be quiet. */
const CHECKS = 5;

/** How often connections are looked at while a request may be on its way. Milliseconds. */
const ARRIVAL_CHECK = 10;

/** How long to wait at most until no connection comes. Milliseconds. */
const LONGEST_WAIT = 1_000;

/**
 * Resolves when no connection has come for a while.
 *
 * @param accepted how many have come so far.
 * @param quiet for how long none has to come. Milliseconds.
 * @param allAccepted resolves when all connections so far have come, where another process accepts them for this one.
 */
export async function noConnections(
  accepted: () => number,
  quiet: number,
  allAccepted: () => Promise<void> = async () => undefined,
): Promise<void> {
  const latest = performance.now() + LONGEST_WAIT;
  for (let checks = 0; checks < CHECKS && performance.now() < latest; checks += 1) {
    const before = accepted();
    await delay(quiet / CHECKS);
    await allAccepted();
    if (accepted() > before) checks = -1;
  }
}

/**
 * Resolves when each connection has had the request that may be on its way, right after the event loop has accepted and
 * read. Closes those that have waited for a while.
 *
 * @param timeout how long they wait. Milliseconds.
 * @param quick only for those that have had no request so far.
 */
export async function requestsArrived(
  connections: ReadonlyMap<Duplex, Connection>,
  timeout: number,
  quick: boolean,
): Promise<void> {
  const latest = performance.now() + timeout;
  for (;;) {
    await immediate();
    const waiting = [...connections].filter(([, { isUsed, isKept }]) => !isUsed || (isKept && !quick));
    if (waiting.length === 0) return;
    if (performance.now() > latest) {
      for (const [socket] of waiting) socket.destroy();
      return;
    }
    await delay(ARRIVAL_CHECK);
  }
}
