import { setTimeout } from 'node:timers/promises';
import { asObject, type Json } from 'openapi-document';

export type TestLog = ReturnType<typeof testLog>;

/**
 * Makes a log that keeps its entries, so that a failed test can show the cause. Pass it to
 * `createApp`, or pass the output of another process to `line`.
 *
 * @example
 * const log = testLog();
 * await contractTests({ document, app: createApp({ document, handlers, log }), log, test });
 */
export function testLog() {
  /** The logged causes, by request id. */
  const causes = new Map<unknown, string | undefined>();
  const keep = (entry: unknown): void => {
    const { requestId, reason, err } = asObject(entry);
    causes.set(requestId, err === undefined ? reason?.toString() : causeIn(Object(err)));
  };
  const levels = { debug: keep, info: keep, warn: keep, error: keep };
  return {
    ...levels,
    child: () => levels,
    /** Adds a line of JSON from the log of a service. */
    line(text: string): void {
      try {
        keep(JSON.parse(text));
      } catch {
        // Handlers may print other lines.
      }
    },
    /** Resolves to the logged cause of a failure: a reason, or an error with its stack. */
    async causeOf(requestId: string): Promise<string | undefined> {
      // A service buffers its log for up to a second.
      for (let waited = 0; waited < 200 && !causes.has(requestId); waited += 1)
        await setTimeout(10);
      return causes.get(requestId);
    },
  };
}

function causeIn({ message, stack }: Json): string {
  // Frames of libraries do not help to find the handler.
  const frames = String(stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line));
  return [message, ...frames.slice(0, 5).map((line) => `            ${line.trim()}`)].join('\n');
}
