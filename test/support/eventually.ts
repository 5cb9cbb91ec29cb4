import { setTimeout as delay } from 'node:timers/promises';

/** Long enough for a machine that is busy with something else. Milliseconds. */
const PATIENCE = 30_000;

/**
 * Waits until a condition holds: until it neither throws nor returns `false`.
 *
 * @throws {Error} after {@link PATIENCE}: what the condition threw last, if anything
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
    if (performance.now() > deadline) throw failure ?? new Error(`it never came to be: ${condition}`);
    await delay(10);
  }
}
