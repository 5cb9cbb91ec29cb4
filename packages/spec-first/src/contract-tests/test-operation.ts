import { checkAnswer, checkNoFailure, Fault, isMock } from './check-answer.ts';
import type { Client } from './client.ts';
import { needsCredentials, type Secret, wrongSecrets } from './credentials.ts';
import { type Made, requestsOf } from './requests.ts';
import type { Answer, Context } from './values.ts';
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
  /** Why the service answered so, as its log says. */
  readonly cause?: string | undefined;
}

/** What came of the tests of an operation. */
export interface Outcome {
  readonly findings: readonly Finding[];
  /** The answers to valid requests. */
  readonly answers: readonly Answer[];
  /** Whether the handler is still to be written: it answers 501. */
  readonly notImplemented: boolean;
}

/** What is sent, and how its answer is checked. */
interface Trial {
  readonly made: Made;
  readonly secrets?: readonly Secret[];
  /** @throws {Fault} */
  check(answer: Answer): Promise<void>;
}

/** For how long a request that shows a fault is made smaller. Milliseconds. */
const SHRINKING = 5_000;

/**
 * Calls an operation with requests that satisfy the document and with requests that break it, and checks each answer.
 *
 * @param mayReject whether a handler may reject what the schemas allow.
 * @returns a finding for each check that fails, among others.
 */
export async function testOperation(
  context: Context,
  client: Client,
  { runs, seed }: Amount,
  mayReject: boolean,
): Promise<Outcome> {
  const { operation, secrets, known, log } = context;
  const findings = new Map<string, Finding>();
  const answers: Answer[] = [];
  const requests = requestsOf(context, seed);
  let sentRequests = 0;

  const accepted = async (answer: Answer) => {
    checkNoFailure(answer);
    if ([400, 415, 422].includes(answer.status) && !mayReject && !isMock(answer)) {
      const message = `the status ${answer.status} rejects a request that satisfies the document`;
      throw new Fault('a valid request is not rejected as malformed', message, answer);
    }
    // The limit of bodies is the service's own.
    await checkAnswer(context, answer, answer.status !== 413);
  };
  const rejected =
    ({ label }: Made) =>
    async (answer: Answer) => {
      checkNoFailure(answer);
      if (answer.status < 400) {
        const message = `the status ${answer.status} accepts ${label}`;
        throw new Fault('an invalid request is rejected with 4xx', message, answer);
      }
      await checkAnswer(context, answer, false);
    };
  const denied = (label: string) => async (answer: Answer) => {
    if (answer.status === 401 || answer.status === 403) return checkAnswer(context, answer, false);
    // The mock of a scheme that has no verifier accepts any credential.
    if (isMock(answer) && label === 'with wrong credentials') return;
    const message = `the status ${answer.status} answers a request ${label}, not 401 or 403`;
    throw new Fault('credentials are required', message, answer);
  };

  for (const made of requests.valid(Math.ceil(runs / 2))) {
    let last: Answer | undefined;
    const check = async (answer: Answer) => {
      last ??= answer;
      if (!isMissing(answer) || answers.length > 0) await accepted(answer);
    };
    await attempt({ made, check });
    if (last === undefined) continue;
    answers.push(last);
    if (isMissing(last) && answers.length === 1) return { findings: [], answers, notImplemented: true };
    known.learn(operation, made.values, last);
  }
  for (const made of requests.broken(runs)) await attempt({ made, check: rejected(made) });
  const [made] = requests.valid(1);
  if (made !== undefined && needsCredentials(operation) && secrets.length > 0) {
    await attempt({ made, secrets: [], check: denied('without credentials') });
    await attempt({ made, secrets: wrongSecrets(secrets), check: denied('with wrong credentials') });
  }
  return { findings: [...findings.values()], answers, notImplemented: false };

  /** Sends a request, and if its answer has a fault, smaller requests that show the same. */
  async function attempt(trial: Trial): Promise<void> {
    let smallest = await faultOf(trial);
    if (smallest === undefined || findings.has(smallest.fault.check)) return;
    const until = Date.now() + SHRINKING;
    let others = requests.smaller(smallest.made);
    for (let next = others.next(); !next.done && Date.now() < until; next = others.next()) {
      const other = await faultOf({ ...trial, made: next.value });
      if (other?.fault.check !== smallest.fault.check) continue;
      smallest = other;
      others = requests.smaller(other.made);
    }
    const { fault, sent, id } = smallest;
    findings.set(fault.check, { fault, curl: curlLine(client.base, sent), cause: await log?.causeOf(id) });
  }

  async function faultOf({ made, secrets: own = secrets, check }: Trial) {
    const sent = await writeRequest(operation, made, own);
    const id = `contract-${seed}-${operation.id}-${++sentRequests}`.replace(/[^\w.:-]/g, '.').slice(-64);
    try {
      const headers = { 'X-Request-Id': id, ...sent.headers };
      await check(await client.send({ ...sent, headers }).catch(unanswered));
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { fault: error, sent, made, id };
    }
  }
}

/** Whether a handler is still to be written. */
const isMissing = (answer: Answer): boolean => answer.status === 501 && !isMock(answer);

function unanswered(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new Fault('each request is answered', `there is no answer: ${message}`);
}
