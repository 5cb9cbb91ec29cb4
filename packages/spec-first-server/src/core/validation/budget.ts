import { type Context, createContext, Script } from 'node:vm';

/** The maximum number of runs of a task if the thread was descheduled. */
const ATTEMPTS = 4;

/** The used part of the CPU time from which a stopped task does not run again. */
const MIN_USED = 0.9;

const script = new Script('task()');
let context: Context | undefined;

/**
 * Runs a synchronous task for a bounded CPU time. Returns false if the task was stopped.
 *
 * Only `node:vm` can stop code that runs in the same thread. A call costs about 0.1 ms, so use it
 * only for slow tasks.
 */
export function withinBudget(task: () => void, milliseconds: number): boolean {
  context ??= createContext({});
  context.task = task;
  // On a busy machine the thread may be descheduled until the timeout. If it used little CPU time,
  // the task runs again with twice the time.
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const timeout = milliseconds * 2 ** attempt;
    const usageBefore = process.threadCpuUsage();
    try {
      script.runInContext(context, { timeout: Math.ceil(timeout) });
      return true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.threadCpuUsage(usageBefore);
      if ((user + system) / 1000 > MIN_USED * milliseconds) break;
    }
  }
  return false;
}

/** Checks `error.code`: the error comes from another context, so `instanceof Error` is false. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
