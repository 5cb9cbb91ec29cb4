import { setTimeout as delay } from 'node:timers/promises';

/** The time limit of a condition in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Waits until a condition holds: until it neither throws nor returns `false`.
 *
 * @throws {Error} after 10 s: the last error of the condition, or a new one if it returns `false`.
 */
export async function eventually(condition: () => unknown): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    let failure: unknown;
    try {
      if ((await condition()) !== false) return;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      throw failure ?? new Error(`the condition is false after ${TIMEOUT_MS} ms: ${condition}`);
    }
    await delay(10);
  }
}
