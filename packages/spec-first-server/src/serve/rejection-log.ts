import { noteRejection, type OnRejected, takeRejection } from '../adapters/node/index.ts';
import type { Log } from '../core/handlers/types.ts';
import type { Problem } from '../core/response/problem.ts';

/**
 * Logs each request that the server rejects before the service gets it. The line has only the
 * reason and the address of the client, since everything else may contain secrets. If the service
 * already has the request, the access log contains the reason.
 *
 * @param count called with the status of each response that the access log does not contain, for
 *   metrics.
 */
export function rejectionLog(log: Log, count: (status: number) => void = () => {}): OnRejected {
  function report({ status, message }: Problem, client: string | undefined): void {
    count(status);
    log.info({ client, status, reason: message }, 'rejected');
  }

  return (problem, client, response) => {
    if (response === undefined) return report(problem, client);
    noteRejection(response, problem);
    response.once('close', () => {
      if (takeRejection(response) !== undefined) report(problem, client);
    });
  };
}
