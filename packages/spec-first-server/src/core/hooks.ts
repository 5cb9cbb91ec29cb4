import { isPromise } from 'node:util/types';
import { describeError } from './describe-error.ts';
import type { Log, RequestLog } from './handlers/types.ts';

export const SILENT: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => SILENT,
};

/** Writes a line. The logger may throw while it reads the properties of a thrown value. */
export function writeLine(
  log: Log,
  level: keyof RequestLog,
  entry: { readonly err: unknown },
  message: string,
): void {
  try {
    log[level](entry, message);
  } catch {
    log[level]({ ...entry, err: describeError(entry.err) }, message);
  }
}

/**
 * Returns a hook that only observes calls, so that its errors are logged and do not fail the call.
 *
 * @param name the name of the hook, for the log.
 */
export function guarded<Values extends readonly unknown[], Result>(
  log: Log,
  name: string,
  hook: ((...values: Values) => Result) | undefined,
): ((...values: Values) => Result | undefined) | undefined {
  const report = (err: unknown) => writeLine(log, 'error', { err }, `the hook "${name}" failed`);
  return (
    hook &&
    ((...values) => {
      try {
        const result = hook(...values);
        if (isPromise(result)) result.catch(report);
        return result;
      } catch (error) {
        report(error);
        return undefined;
      }
    })
  );
}
