import { setTimeout } from 'node:timers/promises';
import { asObject, type Json } from 'openapi-document';

/** A log of a service under test. */
export type TestLog = ReturnType<typeof testLog>;

/**
 * Makes a log that keeps the causes of failures. A failed contract test shows them. Pass the log to
 * `createApp`, or call `line` with each line that another process prints.
 *
 * @example
 * const log = testLog();
 * await contractTests({ document, app: createApp({ document, handlers, log }), log, test });
 */
export function testLog() {
  /** The logged causes, by request id. `undefined` for a request without a cause. */
  const causes = new Map<unknown, string | undefined>();
  const keep = (entry: Json): void => {
    const { requestId, reason, err } = entry;
    const cause = err === undefined ? reason?.toString() : describeError(Object(err));
    causes.set(requestId, cause ?? causes.get(requestId));
  };
  const loggerWith = (bindings: object) => {
    const write = (entry: unknown): void => keep({ ...bindings, ...asObject(entry) });
    return { debug: write, info: write, warn: write, error: write };
  };
  return {
    ...loggerWith({}),
    child: loggerWith,
    /** Adds a line of a service's output. Returns the log entry, or `{}` for another line. */
    line(text: string): Json {
      try {
        const entry = asObject(JSON.parse(text));
        keep(entry);
        return entry;
      } catch {
        // Handlers may print other lines.
        return {};
      }
    },
    /**
     * Resolves to the logged cause of a failure: a reason, or an error with its stack. Waits up to
     * two seconds for an entry of the request.
     */
    async causeOf(requestId: string): Promise<string | undefined> {
      // A service buffers its log for up to half a second.
      for (let waited = 0; waited < 200 && !causes.has(requestId); waited += 1)
        await setTimeout(10);
      return causes.get(requestId);
    },
  };
}

function describeError({ message, stack }: Json): string {
  const frames = String(stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line));
  return [message, ...frames.slice(0, 5).map((line) => `            ${line.trim()}`)].join('\n');
}
