import { type Checked, checkAnswer, Fault } from './checks.ts';
import type { Answer, Client } from './client.ts';
import type { Secret } from './credentials.ts';
import type { Known } from './known.ts';
import type { TestLog } from './log.ts';
import { requestsOf } from './requests.ts';
import { curlLine, type Written, writeRequest } from './write-request.ts';

/** What the tests of an operation need. */
interface Context extends Checked {
  readonly known: Known;
  readonly client: Client;
  readonly secrets: readonly Secret[];
  readonly log?: TestLog | undefined;
  /** How many requests are made, and from which seed. */
  readonly runs: number;
  readonly seed: number;
  /** Whether a handler may reject what the schemas allow. */
  readonly mayReject: boolean;
}

/** What came of the tests of an operation. */
export type Outcome = Awaited<ReturnType<typeof testOperation>>;

/** Calls an operation with requests that satisfy the document and with requests that break it, and checks each answer. */
export async function testOperation(context: Context) {
  const { operation, client, secrets, known, log, runs, seed, mayReject } = context;
  /** Of each check that failed, the shortest request that shows it. */
  const faults = new Map<string, { fault: Fault; answer: Answer | undefined; curl: string; id: string }>();
  /** The answers to valid requests. */
  const answers: Answer[] = [];
  const requests = requestsOf(context, known, seed);
  let sentRequests = 0;

  async function attempt(made: Written, check: (answer: Answer) => void, isStrict = false, own = secrets) {
    const sent = await writeRequest(operation, made, own);
    const id = `contract-${seed}-${operation.id}-${++sentRequests}`.replace(/[^\w.:-]/g, '.').slice(-64);
    let answer: Answer | undefined;
    try {
      const headers = { 'X-Request-Id': id, ...sent.headers };
      answer = await client.send({ ...sent, headers }).catch((error: Error) => {
        throw new Fault('each request is answered', `there is no answer: ${error.message}`);
      });
      if (answer.status >= 500 && !isMock(answer)) {
        const message = `the status ${answer.status} is a failure of the service`;
        throw new Fault('no request makes the service fail', message);
      }
      check(answer);
      // The limit of bodies is the service's own.
      await checkAnswer(context, answer, isStrict && answer.status !== 413);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const curl = curlLine(client.base, sent);
      const shortest = faults.get(error.check)?.curl.length ?? Infinity;
      if (curl.length < shortest) faults.set(error.check, { fault: error, answer, curl, id });
    }
    return answer;
  }

  const accepted = (answer: Answer) => {
    if (![400, 415, 422].includes(answer.status) || mayReject || isMock(answer)) return;
    const message = `the status ${answer.status} rejects a request that satisfies the document`;
    throw new Fault('a valid request is not rejected as malformed', message);
  };
  const rejected = (label: string) => (answer: Answer) => {
    if (answer.status >= 400) return;
    throw new Fault('an invalid request is rejected with 4xx', `the status ${answer.status} accepts ${label}`);
  };
  const denied = (label: string) => (answer: Answer) => {
    if (answer.status === 401 || answer.status === 403) return;
    // The mock of a scheme that has no verifier accepts any credential.
    if (isMock(answer) && label === 'with wrong credentials') return;
    const message = `the status ${answer.status} answers a request ${label}, not 401 or 403`;
    throw new Fault('credentials are required', message);
  };

  for (const made of requests.valid(Math.ceil(runs / 2))) {
    const answer = await attempt(made, accepted, true);
    if (answer === undefined) continue;
    answers.push(answer);
    // The handler is still to be written.
    if (answer.status === 501 && !isMock(answer) && answers.length === 1) {
      return { findings: [], answers, notImplemented: true };
    }
    known.learn(operation, made.values, answer);
  }
  for (const made of requests.broken(runs)) await attempt(made, rejected(made.label));
  const [made] = requests.valid(1);
  if (made !== undefined && secrets.length > 0 && operation.security.every((item) => Object.keys(item).length > 0)) {
    await attempt(made, denied('without credentials'), false, []);
    const wrong = secrets.map((secret) => ({ ...secret, value: secret.wrong }));
    await attempt(made, denied('with wrong credentials'), false, wrong);
  }
  const findings = [...faults.values()].map(async (found) => ({ ...found, cause: await log?.causeOf(found.id) }));
  return { findings: await Promise.all(findings), answers, notImplemented: false };
}

/** Whether a mock answered. The mock of an operation that declares nothing but a 5xx answers with it. */
const isMock = ({ headers }: Answer): boolean => headers['x-mock'] !== undefined;
