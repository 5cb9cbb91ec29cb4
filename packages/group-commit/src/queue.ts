import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { Unavailable } from './errors.ts';

/** What every database has, whatever its engine. */
export interface Database {
  /** Where the data is, without user and password. */
  readonly location: string;
  /** Resolves if a call would work now. @throws {Unavailable} within 800 ms. */
  ready(): Promise<void>;
  /** What can be measured now, by name: how many calls are `waiting`, and what is of the engine. */
  stats(): Readonly<Record<string, number>>;
  /** Finishes what waits, then closes the database. Further calls are rejected. */
  close(): Promise<void>;
}

/** How many calls may wait, and what is measured. */
export interface QueueOptions {
  /** How many calls may wait; further ones are rejected with {@link Unavailable}. 1,000 by default. */
  readonly maxWaiting?: number | undefined;
  /** Called after each commit with the number of its calls, and the seconds that it took. */
  readonly onBatch?: ((calls: number, seconds: number) => void) | undefined;
  /** Called for each call that is rejected with {@link Unavailable}, with the `code` of the error. */
  readonly onUnavailable?: ((code: string) => void) | undefined;
}

/** What a call returned, or the error that it threw. Most calls return nothing. */
export type Outcome = undefined | readonly [result: unknown, error?: unknown];

/** What an engine does; the queue does the rest. */
export interface Engine<Call> extends Omit<Database, 'ready'> {
  /** How many commits may run at the same time. */
  readonly lanes: number;
  /** Resolves after the commit of all calls, with an outcome for each. @throws {Unavailable} if nothing is known of them. */
  commit(calls: readonly Call[]): Promise<readonly Outcome[]>;
  /** @throws {Unavailable} if a commit would fail now. */
  check(): Promise<void>;
}

/** The most calls in one commit, and about the most characters and bytes. */
const BATCH_CALLS = 1_000;
const BATCH_SIZE = 1_000_000;

/** About the most characters and bytes of all calls that wait. */
const WAITING_SIZE = 16_000_000;

/** How long a commit waits for calls while each turn of the event loop brings some, in milliseconds. */
const GATHER_MS = 2;

/** How long `ready` waits, in milliseconds: probes often give up after a second. */
const READY_MS = 800;

/** Gathers calls that wait into commits. */
export function createQueue<Call>(
  engine: Engine<Call>,
  { maxWaiting = 1_000, onBatch, onUnavailable }: QueueOptions,
): Database & { add(call: Call): Promise<unknown> } {
  const { location } = engine;
  const queue: (PromiseWithResolvers<unknown> & { readonly call: Call; readonly size: number })[] = [];
  let waiting = 0;
  let waitingSize = 0;
  let lanes = 0;
  let gathering = false;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  const drained = Promise.withResolvers<void>();

  /** Uses a free lane for what waits. What arrives while all lanes are busy gathers for the next commit. */
  async function commitNext(): Promise<void> {
    if (gathering || queue.length === 0 || lanes === engine.lanes) return;
    lanes += 1;
    gathering = true;
    // As long as each turn of the event loop brings further calls: a commit costs far more than a call.
    const deadline = performance.now() + GATHER_MS;
    for (let before = 0; before < queue.length && queue.length < BATCH_CALLS && performance.now() < deadline; ) {
      before = queue.length;
      await turn();
    }
    gathering = false;
    let count = 0;
    for (let size = 0; count < Math.min(queue.length, BATCH_CALLS) && size < BATCH_SIZE; count += 1) {
      size += queue[count]?.size ?? 0;
    }
    const batch = queue.splice(0, count);
    void commitNext();
    const begun = performance.now();
    let outcomes: readonly Outcome[];
    try {
      outcomes = await engine.commit(batch.map(({ call }) => call));
      onBatch?.(batch.length, (performance.now() - begun) / 1000);
    } catch (error) {
      if (error instanceof Unavailable) for (const _ of batch) onUnavailable?.(error.code);
      outcomes = batch.map(() => [undefined, error]);
    }
    for (const [at, { size, resolve, reject }] of batch.entries()) {
      waiting -= 1;
      waitingSize -= size;
      const [result, error] = outcomes[at] ?? [];
      if (error) reject(error);
      else resolve(result);
    }
    lanes -= 1;
    if (closing && waiting === 0) drained.resolve();
    void commitNext();
  }

  return {
    location,
    add(call) {
      const size = sizeOf(call);
      if (closing) return Promise.reject(new Unavailable('The database is closed.', 'CLOSED'));
      if (waiting >= maxWaiting || (waiting > 0 && waitingSize + size > WAITING_SIZE)) {
        onUnavailable?.('BUSY');
        const busy = `The database is busy: ${waiting} calls of ${waitingSize} characters are waiting.`;
        return Promise.reject(new Unavailable(busy, 'BUSY'));
      }
      waiting += 1;
      waitingSize += size;
      const waits = { call, size, ...Promise.withResolvers<unknown>() };
      queue.push(waits);
      void commitNext();
      return waits.promise;
    },
    async ready() {
      if (closing) throw new Unavailable('The database is closed.', 'CLOSED');
      checking ??= engine.check().finally(() => {
        checking = undefined;
      });
      const late = delay(READY_MS, true, { ref: false });
      if (await Promise.race([checking, late])) {
        throw new Unavailable(`${location} has not answered for ${READY_MS} ms.`, 'TIMEOUT');
      }
    },
    stats: () => ({ waiting, ...engine.stats() }),
    close() {
      if (waiting === 0) drained.resolve();
      closing ??= drained.promise.then(() => engine.close());
      return closing;
    },
  };
}

/** About how many characters and bytes a value holds; what lies deeper than three levels is not counted. */
function sizeOf(value: unknown, levels = 3): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || levels === 0) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  let size = 0;
  for (const member of Object.values(value)) size += sizeOf(member, levels - 1);
  return size;
}
