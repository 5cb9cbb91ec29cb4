import { setTimeout as delay } from 'node:timers/promises';

/** How often connections are counted within the time that has to be quiet. */
const CHECKS = 5;

/** How long to wait at most. Milliseconds. */
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
