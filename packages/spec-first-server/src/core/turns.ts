/** The CPU time that requests may use in one round of the event loop. */
const MAX_ROUND_MS = 2;

/** Work for later rounds of the event loop: continued work, then other work by arrival. */
const waiting: (() => void)[] = [];

let isScheduled = false;

/** The CPU time used in this round of the event loop, in milliseconds. */
let spent = 0;

/**
 * Runs CPU work of a request. If the requests have used the time of this round of the event loop,
 * the work runs in a later round.
 *
 * @param isContinued true if it continues earlier work. It runs before work that has not started,
 *   since the results of the earlier work take memory.
 * @returns the result of `work`, as a promise only if the work was delayed.
 * @throws {unknown} the error of `work`.
 */
export function inTurn<T>(work: () => T, isContinued = false): T | Promise<T> {
  if ((isContinued || waiting.length === 0) && spent < MAX_ROUND_MS) return timed(work);
  return new Promise((resolve, reject) => {
    enqueue(isContinued, () => {
      try {
        resolve(timed(work));
      } catch (error) {
        reject(error);
      }
    });
  });
}

/**
 * Waits for a later round of the event loop. No further work is started in that round. For work
 * that cannot be timed, such as parsing the next bytes of a body.
 */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => {
    enqueue(false, () => {
      spend(MAX_ROUND_MS);
      resolve();
    });
  });
}

function timed<T>(work: () => T): T {
  const start = performance.now();
  try {
    return work();
  } finally {
    spend(performance.now() - start);
  }
}

function spend(milliseconds: number): void {
  spent += milliseconds;
  // Schedules a round even if no work is queued, since each round resets the time.
  if (spent >= MAX_ROUND_MS) schedule();
}

function enqueue(isFirst: boolean, begin: () => void): void {
  if (isFirst) waiting.unshift(begin);
  else waiting.push(begin);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(startRound);
}

function startRound(): void {
  isScheduled = false;
  spent = 0;
  // If the time is spent and work is left, `spend` has scheduled the next round.
  while (waiting.length > 0 && spent < MAX_ROUND_MS) waiting.shift()?.();
}
