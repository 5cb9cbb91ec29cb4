import { isBusy, LOCK_MS } from './errors.ts';

/** Nothing wakes it. */
const clock = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps, and blocks the thread. */
export function sleep(milliseconds: number): void {
  Atomics.wait(clock, 0, 0, milliseconds);
}

/**
 * Tries again while another process holds the lock. SQLite's own busy timeout sleeps for up to 100 ms at a time, in which
 * other processes pass it by.
 */
export function retryWhileBusy<T>(attempt: () => T): T {
  for (const deadline = performance.now() + LOCK_MS; ; sleep(0.2 + Math.random())) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}
