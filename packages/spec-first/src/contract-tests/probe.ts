import { type CheckedOperation, checkAnswer, Fault } from './checks.ts';
import type { Client, ReceivedResponse, Sent } from './client.ts';
import type { Secret } from './credentials.ts';
import type { TestLog } from './log.ts';
import type { Values } from './parts.ts';
import { curlLine, type RequestDraft, writeRequest } from './write-request.ts';

/** An operation that can be called. */
export interface Target extends CheckedOperation {
  readonly client: Client;
  readonly secrets: readonly Secret[];
}

/** Sends a request without checks. */
export const sendTo = async ({ operation, client, secrets }: Target, values: Values) =>
  client.send(await writeRequest(operation, { values }, secrets));

/** A failed check, with the shortest request that shows it. */
export interface FailedCheck {
  readonly fault: Fault;
  readonly answer: ReceivedResponse | undefined;
  readonly curl: string;
  /** The logged cause of the response. */
  readonly cause: string | undefined;
}

export type Probe = ReturnType<typeof probeOf>;

/** Sends requests to an operation, checks the responses, and keeps the faults. */
export function probeOf(target: Target, seed: number, log?: TestLog) {
  const { operation, client } = target;
  const failures = new Map<string, Omit<FailedCheck, 'cause'> & { readonly requestId?: string }>();
  let sentRequests = 0;

  /** Keeps a fault, unless a shorter request already shows it. Rethrows other errors. */
  function addFault(error: unknown, sent: Sent, answer?: ReceivedResponse, requestId = ''): void {
    if (!(error instanceof Fault)) throw error;
    const curl = curlLine(client.base, sent);
    const shortest = failures.get(error.check)?.curl.length ?? Infinity;
    if (curl.length >= shortest) return;
    failures.set(error.check, { fault: error, answer, curl, requestId });
  }

  return {
    /** Returns true if no check has failed. */
    isFaultless: () => failures.size === 0,

    /** The number of requests. */
    sentRequests: () => sentRequests,

    /**
     * Sends a request. Checks the response with `check` and against the document.
     *
     * @param isStrict rejects an undeclared status.
     */
    async attempt(
      draft: RequestDraft,
      check: (answer: ReceivedResponse) => void,
      { isStrict = false, secrets = target.secrets } = {},
    ): Promise<ReceivedResponse | undefined> {
      const sent = await writeRequest(operation, draft, secrets);
      sentRequests += 1;
      const requestId = `contract-${seed}-${operation.id}-${sentRequests}`
        .replace(/[^\w.:-]/g, '.')
        .slice(-64);
      let answer: ReceivedResponse | undefined;
      try {
        const headers = { 'X-Request-Id': requestId, ...sent.headers };
        answer = await client.send({ ...sent, headers }).catch((error: Error) => {
          throw new Fault('each request gets a response', `there is no response: ${error.message}`);
        });
        checkNoFailure(answer);
        check(answer);
        // 413 may be undeclared, since the service itself limits the size of bodies.
        await checkAnswer(target, answer, isStrict && answer.status !== 413);
      } catch (error) {
        addFault(error, sent, answer, requestId);
      }
      return answer;
    },

    /** Runs another check of a response. A fault contains the request. */
    async runCheck(
      draft: RequestDraft,
      answer: ReceivedResponse,
      check: () => void | Promise<void>,
    ): Promise<void> {
      try {
        await check();
      } catch (error) {
        addFault(error, await writeRequest(operation, draft, target.secrets), answer);
      }
    },

    failedChecks: () =>
      Promise.all(
        [...failures.values()].map(async ({ requestId, ...failure }) => ({
          ...failure,
          cause: requestId ? await log?.causeOf(requestId) : undefined,
        })),
      ),
  };
}

/** Checks that the service did not fail. @throws {Fault} */
function checkNoFailure(answer: ReceivedResponse): void {
  if (answer.status < 500 || isMock(answer)) return;
  const message = `the status ${answer.status} is a failure of the service`;
  throw new Fault('no request makes the service fail', message);
}

/** Returns true for the response of a mock. It may be a 5xx if no other response is declared. */
export const isMock = ({ headers }: ReceivedResponse): boolean => headers['x-mock'] !== undefined;
