import { setTimeout as delay } from 'node:timers/promises';

/** The longest wait for a condition, also on a busy machine. Milliseconds. */
const PATIENCE = 60_000;

/**
 * Waits until a condition holds: until it neither throws nor returns `false`.
 *
 * @throws {Error} the last error of the condition, after 60 s
 */
export async function eventually(condition: () => unknown): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    let failure: unknown;
    try {
      if ((await condition()) !== false) return;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) {
      throw failure ?? new Error(`the condition is false after ${PATIENCE} ms: ${condition}`);
    }
    await delay(10);
  }
}
