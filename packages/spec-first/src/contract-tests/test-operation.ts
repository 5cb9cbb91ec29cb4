import { checkAnswer, checkNoFailure, Fault, isMock } from './check-answer.ts';
import type { Answer, Client } from './client.ts';
import { needsCredentials, type Secret, wrongSecrets } from './credentials.ts';
import { type Made, requestsOf } from './requests.ts';
import type { Context } from './values.ts';
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

/** What is sent, and how its answer is checked. */
interface Trial {
  readonly made: Made;
  readonly secrets?: readonly Secret[];
  /** @throws {Fault} */
  check(answer: Answer): void;
}

/** For how long, and with how many requests, a request that shows a fault is made smaller. */
const SHRINKING = { milliseconds: 5_000, requests: 300 };

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
  const { operation, secrets } = context;
  const findings = new Map<string, Finding>();
  const requests = requestsOf(context, seed);

  const accepted = (answer: Answer) => {
    checkNoFailure(answer);
    if ([400, 415, 422].includes(answer.status) && !mayReject && !isMock(answer)) {
      const message = `the status ${answer.status} rejects a request that satisfies the document`;
      throw new Fault('a valid request is not rejected as malformed', message, answer);
    }
    // The limit of bodies is the service's own.
    checkAnswer(context, answer, answer.status !== 413);
  };
  const rejected = (label: string) => (answer: Answer) => {
    checkNoFailure(answer);
    if (answer.status < 400) {
      const message = `the status ${answer.status} accepts ${label}`;
      throw new Fault('an invalid request is rejected with 4xx', message, answer);
    }
    checkAnswer(context, answer, false);
  };
  const denied = (label: string) => (answer: Answer) => {
    if (answer.status === 401 || answer.status === 403) return checkAnswer(context, answer, false);
    // The mock of a scheme that has no verifier accepts any credential.
    if (isMock(answer) && label === 'with wrong credentials') return;
    const message = `the status ${answer.status} answers a request ${label}, not 401 or 403`;
    throw new Fault('credentials are required', message, answer);
  };

  for (const made of requests.valid(Math.ceil(runs / 2))) await attempt({ made, check: accepted });
  for (const made of requests.broken(runs)) await attempt({ made, check: rejected(made.label ?? '') });
  const [made] = requests.valid(1);
  if (made !== undefined && needsCredentials(operation) && secrets.length > 0) {
    await attempt({ made, secrets: [], check: denied('without credentials') });
    await attempt({ made, secrets: wrongSecrets(secrets), check: denied('with wrong credentials') });
  }
  return [...findings.values()];

  /** Sends a request, and if its answer has a fault, smaller requests that show the same. */
  async function attempt(trial: Trial): Promise<void> {
    const first = await faultOf(trial);
    if (first === undefined || findings.has(first.fault.check)) return;
    let smallest = first;
    const until = Date.now() + SHRINKING.milliseconds;
    let left = SHRINKING.requests;
    for (let isSmaller = true; isSmaller; ) {
      isSmaller = false;
      for (const made of requests.simpler(smallest.made)) {
        if (--left < 0 || Date.now() > until) break;
        const other = await faultOf({ ...trial, made });
        if (other?.fault.check !== first.fault.check) continue;
        smallest = other;
        isSmaller = true;
        break;
      }
    }
    findings.set(first.fault.check, { fault: smallest.fault, curl: curlLine(client.base, smallest.sent) });
  }

  async function faultOf({ made, secrets: own = secrets, check }: Trial) {
    const sent = writeRequest(operation, made.values, own);
    try {
      check(await client.send(sent).catch(unanswered));
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { fault: error, sent, made };
    }
  }
}

function unanswered(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new Fault('each request is answered', `there is no answer: ${message}`);
}
