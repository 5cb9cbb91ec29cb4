import { type Context, createContext, Script } from 'node:vm';

/** How often a task may be run from its start, where the thread had no processor. */
const ATTEMPTS = 4;

const script = new Script('task()');
let context: Context | undefined;

/**
 * Runs a synchronous task for a bounded time. `node:vm` is the one interface of Node that can stop running code. It takes
 * some 50 µs, so it is used only for what may take long.
 *
 * @returns whether the task came to its end.
 */
export function withinBudget(task: () => void, milliseconds: number): boolean {
  context ??= createContext({});
  context.task = task;
  // A busy machine may have stopped the thread. So the time of the processor counts, and each attempt has twice as long.
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const timeout = milliseconds * 2 ** attempt;
    const before = process.threadCpuUsage();
    try {
      script.runInContext(context, { timeout: Math.ceil(timeout) });
      return true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.threadCpuUsage(before);
      if ((user + system) / 1000 > milliseconds / 2) break;
    }
  }
  return false;
}

/** The error is of the other context, so it is no instance of `Error`. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
