/** The CPU time that calls may use in one round of the event loop. */
const MAX_ROUND_MS = 2;

/** The bytes, or characters, that streams may send in one round of the event loop. */
const MAX_ROUND_SENT = 16_384;

/** A call or a connection whose work takes turns with the work of others. */
export interface TurnTaker {
  /** Work of the same caller shares its turns. */
  readonly caller: string;
}

/** Work that waits, each part by arrival. Continued work is first. */
interface Queue {
  readonly continued: (() => void)[];
  readonly starting: (() => void)[];
}

/**
 * Divides the CPU time of a process between callers. Each caller runs one unit of work in its turn,
 * however many requests it sends. A caller that has not waited lately is first.
 */
export class Turns {
  /** The queues of callers that have had no turn yet. They are first. */
  readonly #newcomers = new Map<string, Queue>();
  /** The queues of callers that have had a turn while others waited. Some are empty. */
  readonly #others = new Map<string, Queue>();
  /** The number of units of work that wait. */
  #waiting = 0;
  #isScheduled = false;
  /** The CPU time used in this round of the event loop, in milliseconds. */
  #spent = 0;

  /** True if calls have not used up the time of this round of the event loop. */
  get hasTime(): boolean {
    return this.#spent < MAX_ROUND_MS;
  }

  /** True if work that begins now would wait. */
  get mustWait(): boolean {
    return this.#waiting > 0 || this.#spent >= MAX_ROUND_MS;
  }

  /**
   * Runs CPU work. If the time of this round of the event loop is used up, the work runs in a later
   * round.
   *
   * @param isContinued true if it continues earlier work. It runs before work of the same caller
   *   that has not started, since the results of the earlier work take memory.
   * @returns the result of `work`, as a promise only if the work was delayed.
   * @throws {unknown} the error of `work`.
   */
  run<T>(taker: TurnTaker, work: () => T, isContinued = false): T | Promise<T> {
    const waiting = isContinued ? 0 : this.#waiting;
    if (waiting === 0 && this.#spent < MAX_ROUND_MS) return this.#timed(work);
    return new Promise((resolve, reject) => {
      this.#enqueue(taker, isContinued, () => {
        try {
          resolve(this.#timed(work));
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
  nextRound(taker: TurnTaker): Promise<void> {
    return new Promise((resolve) => {
      this.#enqueue(taker, false, () => {
        this.#spend(MAX_ROUND_MS);
        resolve();
      });
    });
  }

  /** Counts bytes, or characters, that a stream sends: their time cannot be measured. */
  sent(size: number): void {
    this.#spend((size / MAX_ROUND_SENT) * MAX_ROUND_MS);
  }

  #timed<T>(work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.#spend(performance.now() - start);
    }
  }

  #spend(milliseconds: number): void {
    this.#spent += milliseconds;
    // Schedules a round even if no work is queued, since each round resets the time.
    if (this.#spent >= MAX_ROUND_MS) this.#schedule();
  }

  #enqueue({ caller }: TurnTaker, isContinued: boolean, begin: () => void): void {
    let queue = this.#newcomers.get(caller) ?? this.#others.get(caller);
    if (queue === undefined) {
      queue = { continued: [], starting: [] };
      this.#newcomers.set(caller, queue);
    }
    (isContinued ? queue.continued : queue.starting).push(begin);
    this.#waiting += 1;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#spent = 0;
      this.#runNext();
    });
  }

  #runNext(): void {
    this.#next()?.();
    if (this.#waiting === 0) this.#others.clear();
    // If the time is spent and work is left, `#spend` has scheduled the next round.
    else if (this.hasTime) {
      // Runs after all promises are settled: the call may continue with its next unit of work.
      queueMicrotask(() => process.nextTick(() => this.#runNext()));
    }
  }

  #next(): (() => void) | undefined {
    for (const queues of [this.#newcomers, this.#others]) {
      for (const [caller, queue] of queues) {
        queues.delete(caller);
        const begin = queue.continued.shift() ?? queue.starting.shift();
        if (begin === undefined) continue;
        this.#waiting -= 1;
        // Its next turn comes after one turn of each other caller.
        this.#others.set(caller, queue);
        return begin;
      }
    }
    return undefined;
  }
}
