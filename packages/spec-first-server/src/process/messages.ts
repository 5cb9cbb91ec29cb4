import type { Started } from './terminal.ts';

/**
 * From the supervisor to a worker:
 * - `stop` in order; `replace`, where a newer worker serves already: stop, and close idle connections at once
 * - `reload` the access tokens
 * - `pong`, the answer to `ping`
 */
export type SupervisorMessage = 'stop' | 'replace' | 'reload' | 'pong';

/** From a worker to its supervisor: that it serves, why it cannot, its metrics as a sign of life, a `ping` for a `pong`. */
export type WorkerMessage =
  | { readonly started: Started }
  | { readonly failed: string }
  | { readonly metrics: string }
  | { readonly ping: true };

/** Sends to the supervisor. Resolves once it is sent, or if nobody is there to read it. */
export function tellSupervisor(what: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(what, undefined, undefined, () => resolve());
  });
}

/** Resolves when the supervisor has done all that came to it before: it has passed on the connections, for example. */
export function roundTrip(): Promise<void> {
  return new Promise((resolve) => {
    const read = (what: SupervisorMessage) => {
      if (what !== 'pong') return;
      process.off('message', read);
      resolve();
    };
    process.on('message', read);
    void tellSupervisor({ ping: true });
  });
}
