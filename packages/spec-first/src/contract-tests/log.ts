import { setTimeout } from 'node:timers/promises';
import { asObject, type Json } from 'openapi-document';

export type TestLog = ReturnType<typeof testLog>;

/**
 * Keeps what a service logs, so that a failed test can show the cause: a log for `createApp`, or for the lines of a service
 * that runs in a process of its own.
 *
 * @example
 * const log = testLog();
 * await contractTests({ document, app: createApp({ document, handlers, log }), log, test });
 */
export function testLog() {
  /** Of each request, by its id. */
  const causes = new Map<unknown, string | undefined>();
  const keep = (entry: unknown): void => {
    const { requestId, reason, err } = asObject(entry);
    causes.set(requestId, err === undefined ? reason?.toString() : causeIn(Object(err)));
  };
  const levels = { debug: keep, info: keep, warn: keep, error: keep };
  return {
    ...levels,
    child: () => levels,
    /** Takes a line that a service has written, as JSON. */
    line(text: string): void {
      try {
        keep(JSON.parse(text));
      } catch {
        // A line that is not of the log.
      }
    },
    /** The cause that was logged of a request: a reason, or an error with its stack. */
    async causeOf(requestId: string): Promise<string | undefined> {
      // A service writes its lines in pieces, up to a second after the answer.
      for (let waited = 0; waited < 200 && !causes.has(requestId); waited += 1) await setTimeout(10);
      return causes.get(requestId);
    },
  };
}

function causeIn({ message, stack }: Json): string {
  // Frames of libraries say nothing about a handler.
  const frames = String(stack)
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line));
  return [message, ...frames.slice(0, 5).map((line) => `           ${line.trim()}`)].join('\n');
}
