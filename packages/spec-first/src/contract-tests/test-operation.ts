import fc from 'fast-check';
import { breakagesOf } from './broken-requests.ts';
import { checkAnswer, checkNoFailure, Fault, isMock } from './check-answer.ts';
import type { Answer, Client } from './client.ts';
import { needsCredentials, type Secret, wrongSecrets } from './credentials.ts';
import { exampleRequests, validRequests } from './valid-requests.ts';
import type { Context, Values } from './values.ts';
import { curlLine, writeRequest } from './write-request.ts';

/** How many requests are made, and from which seed. */
export interface Amount {
  readonly runs: number;
  readonly seed: number;
}

/** A fault and the smallest request that shows it. */
export interface Finding {
  readonly fault: Fault;
  readonly curl: string;
}

type Check = (answer: Answer) => void;

/** For how long a request that shows a fault is made smaller. */
const SHRINKING = 5_000;

/**
 * Calls an operation with requests that satisfy the document and with requests that break it, and checks each answer.
 *
 * @param mayReject whether a handler may reject what the schemas allow.
 * @returns a finding for each check that fails.
 */
export async function testOperation(
  context: Context,
  client: Client,
  { runs, seed }: Amount,
  mayReject: boolean,
): Promise<Finding[]> {
  const { operation, checks, secrets } = context;
  const findings = new Map<string, Finding>();
  const valid = validRequests(context);

  const ok: Check = (answer) => {
    checkNoFailure(answer);
    if ([400, 415, 422].includes(answer.status) && !mayReject && !isMock(answer)) {
      const message = `the status ${answer.status} rejects a request that satisfies the document`;
      throw new Fault('a valid request is not rejected as malformed', message, answer);
    }
    // The limit of bodies is the service's own.
    checkAnswer(operation, checks, answer, answer.status !== 413);
  };
  const rejected =
    (label: string): Check =>
    (answer) => {
      checkNoFailure(answer);
      if (answer.status < 400) {
        const message = `the status ${answer.status} accepts ${label}`;
        throw new Fault('an invalid request is rejected with 4xx', message, answer);
      }
      checkAnswer(operation, checks, answer, false);
    };
  const denied =
    (label: string): Check =>
    (answer) => {
      if (answer.status === 401 || answer.status === 403) return checkAnswer(operation, checks, answer, false);
      const message = `the status ${answer.status} answers a request ${label}, not 401 or 403`;
      throw new Fault('credentials are required', message, answer);
    };

  for (const values of exampleRequests(context, seed)) await property(fc.constant(values), 1, ok);
  await property(valid, Math.ceil(runs / 2), ok);

  const breakages = breakagesOf(context, valid, seed).slice(0, runs);
  const each = Math.max(1, Math.floor(runs / 2 / Math.max(1, breakages.length)));
  for (const { label, requests } of breakages) await property(requests, each, rejected(label));

  if (needsCredentials(operation) && secrets.length > 0) {
    await property(valid, 1, denied('without credentials'), []);
    const wrong = denied('with wrong credentials');
    // The mock of a scheme that has no verifier accepts any credential.
    await property(valid, 1, (answer) => (isMock(answer) ? undefined : wrong(answer)), wrongSecrets(secrets));
  }
  return [...findings.values()];

  /** Sends requests until a check of the answer fails, and then smaller ones that fail alike. */
  async function property(
    requests: fc.Arbitrary<Values>,
    numRuns: number,
    check: Check,
    withSecrets: readonly Secret[] = secrets,
  ): Promise<void> {
    let first: { readonly name: string; readonly until: number } | undefined;
    let smallest: Finding | undefined;
    const predicate = fc.asyncProperty(requests, async (values) => {
      if (first !== undefined && Date.now() > first.until) return;
      const sent = writeRequest(operation, values, withSecrets);
      try {
        check(await client.send(sent).catch(unanswered));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        // Another fault of a smaller request is not the one that is made smaller.
        if (first !== undefined && first.name !== error.check) return;
        first ??= { name: error.check, until: Date.now() + SHRINKING };
        smallest = { fault: error, curl: curlLine(client.base, sent) };
        throw error;
      }
    });
    const { failed, errorInstance } = await fc.check(predicate, { numRuns, seed });
    if (smallest !== undefined) {
      if (!findings.has(smallest.fault.check)) findings.set(smallest.fault.check, smallest);
    } else if (failed) throw errorInstance ?? new Error('fast-check found too few requests');
  }
}

function unanswered(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new Fault('each request is answered', `there is no answer: ${message}`);
}
