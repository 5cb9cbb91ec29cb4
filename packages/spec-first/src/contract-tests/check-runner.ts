import { CheckError, type CheckedOperation, checkResponse } from './check-response.ts';
import type { Client, ReceivedResponse } from './client.ts';
import type { Secret } from './credentials.ts';
import type { RequestValues } from './request-parts.ts';
import type { TestLog } from './test-log.ts';
import { curlLine, type RequestDraft, writeRequest } from './write-request.ts';

export interface Target extends CheckedOperation {
  readonly client: Client;
  readonly secrets: readonly Secret[];
}

/** Sends a request without checks. */
export const sendTo = async (target: Target, values: RequestValues) =>
  target.client.send(await writeRequest(target, { values }, target.secrets));

/** A failed check, with the shortest request that shows it. */
export interface FailedCheck {
  readonly error: CheckError;
  readonly response: ReceivedResponse | undefined;
  /** The request. It has placeholders in place of credentials. */
  readonly curl: string;
  /** The logged cause of the failure. */
  readonly cause: string | undefined;
}

export type CheckRunner = ReturnType<typeof createCheckRunner>;

/**
 * Makes functions that send requests to an operation and check the responses. They keep the
 * failed checks, each with its shortest request.
 */
export function createCheckRunner(target: Target, randomSeed: number, log?: TestLog) {
  const { operation, client } = target;
  const failuresByCheck = new Map<
    string,
    Omit<FailedCheck, 'cause'> & { readonly requestId?: string }
  >();
  let sentRequests = 0;

  /**
   * Keeps a failed check, unless a shorter or equally short request already shows it. Rethrows
   * errors other than `CheckError`.
   */
  async function addFailure(
    error: unknown,
    draft: RequestDraft,
    secrets: readonly Secret[],
    response?: ReceivedResponse,
    requestId = '',
  ): Promise<void> {
    if (!(error instanceof CheckError)) throw error;
    const shown = secrets.map((secret) => ({ ...secret, value: secret.placeholder }));
    const curl = curlLine(client.base, await writeRequest(target, draft, shown));
    const shortest = failuresByCheck.get(error.check)?.curl.length ?? Infinity;
    if (curl.length >= shortest) return;
    failuresByCheck.set(error.check, { error, response, curl, requestId });
  }

  return {
    hasPassed: () => failuresByCheck.size === 0,

    sentRequests: () => sentRequests,

    /**
     * Sends a request. Checks that the status is not 5xx, then checks the response with `check` and
     * against the document. Resolves to the response, or to `undefined` if there is none.
     *
     * @param isStrict true if an undeclared status is an error.
     */
    async sendAndCheck(
      draft: RequestDraft,
      check: (response: ReceivedResponse) => void,
      { isStrict = false, secrets = target.secrets } = {},
    ): Promise<ReceivedResponse | undefined> {
      const request = await writeRequest(target, draft, secrets);
      sentRequests += 1;
      const requestId = `contract-${randomSeed}-${operation.id}-${sentRequests}`
        .replace(/[^\w.:-]/g, '.')
        .slice(-64);
      let response: ReceivedResponse | undefined;
      try {
        const headers = { 'X-Request-Id': requestId, ...request.headers };
        response = await client.send({ ...request, headers }).catch((error: Error) => {
          throw new CheckError(
            'each request gets a response',
            `there is no response: ${error.message}`,
          );
        });
        checkNoFailure(response);
        check(response);
        // 413 may be undeclared, since the service itself limits the size of bodies.
        await checkResponse(target, response, isStrict && response.status !== 413);
      } catch (error) {
        await addFailure(error, draft, secrets, response, requestId);
      }
      return response;
    },

    /** Runs a further check. Records its failure with this request and this response. */
    async runCheck(
      draft: RequestDraft,
      response: ReceivedResponse,
      check: () => void | Promise<void>,
    ): Promise<void> {
      try {
        await check();
      } catch (error) {
        await addFailure(error, draft, target.secrets, response);
      }
    },

    failedChecks: () =>
      Promise.all(
        [...failuresByCheck.values()].map(async ({ requestId, ...failure }) => ({
          ...failure,
          cause: requestId ? await log?.causeOf(requestId) : undefined,
        })),
      ),
  };
}

function checkNoFailure(response: ReceivedResponse): void {
  if (response.status < 500 || isMock(response)) return;
  const message = `the status ${response.status} is a failure of the service`;
  throw new CheckError('no request makes the service fail', message);
}

/** A mock may respond with 5xx, for example if the operation declares no success. */
export const isMock = ({ headers }: ReceivedResponse): boolean => headers['x-mock'] !== undefined;
