import type { Operation } from 'openapi-document';
import { Fault, RAISE_LIMIT } from './checks.ts';
import type { ReceivedResponse } from './client.ts';
import type { InsufficientSecrets } from './credentials.ts';
import type { TestLog } from './log.ts';
import { checkPages, pagingOf } from './pages.ts';
import type { Values } from './parts.ts';
import { isMock, type Probe, probeOf, sendTo, type Target } from './probe.ts';
import { type Requests, requestsOf, type Valid } from './requests.ts';
import type { Resources } from './resources.ts';
import { stateChecks } from './state.ts';

/** The context of the tests of an operation. */
export interface OperationTest extends Target {
  readonly resources: Resources;
  /** Secrets that the service must reject. */
  readonly insufficient: readonly InsufficientSecrets[];
  readonly log?: TestLog | undefined;
  /** Scales the number of requests, as in `ContractTestOptions`. */
  readonly runs: number;
  /** The seed that the requests are made from. */
  readonly seed: number;
  /** True if a handler may reject requests that the schemas allow. */
  readonly mayReject: boolean;
  /** True if the service may store values other than those in the request, or delete later. */
  readonly mayChange: boolean;
  /** The operation that reads the resource that this one changes. */
  readonly reader: Target | undefined;
}

/** The result of the tests of an operation. */
export type Outcome = Awaited<ReturnType<typeof testOperation>>;

/**
 * Calls an operation with requests that satisfy the document and with requests that violate it.
 * Checks each response.
 */
export async function testOperation(context: OperationTest) {
  const { resources, insufficient, runs, seed, mayReject, mayChange, log } = context;
  const probe = probeOf(context, seed, log);
  const requests = requestsOf(context, resources, seed);
  const checkState = mayChange ? undefined : stateChecks(context, probe);
  const valid = requests.valid(Math.ceil(runs / 2), runs);
  /** The responses to valid requests. */
  const answers = await sendValid(context, probe, valid, checkState);
  const isMissing = isNotImplemented(answers);
  if (isMissing) return { failedChecks: [], answers, sentRequests: 1, isMissing };

  await checkPaging(context, probe, requests, answers);
  for (const draft of requests.unknownCursors()) await probe.attempt(draft, () => {});
  for (const draft of requests.invalid(runs)) await probe.attempt(draft, rejects(draft.label));
  const example = requests.example();
  for (const { label, secrets } of insufficient)
    await probe.attempt(example, denies(label), { secrets });
  const mayFail = mayReject || answers.some(isMock) || !probe.isFaultless();
  if (!mayFail) await checkSuccess(context, probe, requests, answers);
  const failedChecks = await probe.failedChecks();
  return { failedChecks, answers, sentRequests: probe.sentRequests(), isMissing };
}

/** Calls an operation again, after others have changed its resources. Returns failed checks. */
export async function testAgain(context: OperationTest) {
  const { resources, runs, seed, log } = context;
  const probe = probeOf(context, seed, log);
  const requests = requestsOf(context, resources, seed + 2);
  // The service may reject a value of an earlier reply, such as the cursor of a deleted item.
  const tolerant = { ...context, mayReject: true };
  const answers = await sendValid(tolerant, probe, requests.existing(Math.ceil(runs / 4)));
  await checkPaging(context, probe, requests, answers);
  return probe.failedChecks();
}

/** The maximum number of streams without data that random requests open. Each takes 500 ms. */
const MAX_SILENT_STREAMS = 2;

/**
 * Sends valid requests, only one if there is no handler. Resolves to the responses. Omits random
 * requests after the operation has opened some streams without data.
 */
async function sendValid(
  { operation, resources, mayReject }: OperationTest,
  probe: Probe,
  requests: Iterable<Valid>,
  checkState?: ReturnType<typeof stateChecks>,
): Promise<ReceivedResponse[]> {
  const answers: ReceivedResponse[] = [];
  let silentStreams = 0;
  for (const draft of requests) {
    if (draft.isRandom && silentStreams >= MAX_SILENT_STREAMS) continue;
    const answer = await probe.attempt(draft, accepts(mayReject), { isStrict: true });
    if (answer === undefined) continue;
    answers.push(answer);
    if (answer.isCut && answer.body.length === 0) silentStreams += 1;
    if (isNotImplemented(answers)) break;
    const resourcePaths = resources.learn(operation, draft.values, answer);
    if (answer.status < 300 && !isMock(answer))
      await checkState?.(draft.values, answer, resourcePaths);
  }
  return answers;
}

/** Returns true if the first response shows that there is no handler. */
const isNotImplemented = ([first]: readonly ReceivedResponse[]): boolean =>
  first?.status === 501 && !isMock(first);

/** Checks that a valid request is not rejected as malformed. */
const accepts = (mayReject: boolean) => (answer: ReceivedResponse) => {
  if (![400, 415, 422].includes(answer.status) || mayReject || isMock(answer)) return;
  const message = `the status ${answer.status} rejects a request that satisfies the document`;
  throw new Fault('a valid request is not rejected as malformed', message);
};

/** Checks that an invalid request is rejected. */
const rejects = (label: string) => (answer: ReceivedResponse) => {
  if (answer.status >= 400) return;
  const message = `the status ${answer.status} accepts ${label}`;
  throw new Fault('an invalid request is rejected with 4xx', message);
};

/** Checks that a request with insufficient credentials is rejected. */
const denies = (label: string) => (answer: ReceivedResponse) => {
  if (answer.status === 401 || answer.status === 403) return;
  // Mocks accept any credential for a scheme without a verifier.
  if (isMock(answer) && label !== 'without credentials') return;
  const message = `a request ${label} has the status ${answer.status}, not 401 or 403`;
  throw new Fault('credentials are required', message);
};

/** Checks that small pages of a list contain the same items as a large page. */
async function checkPaging(
  target: Target,
  probe: Probe,
  requests: Requests,
  answers: readonly ReceivedResponse[],
): Promise<void> {
  const paging = pagingOf(target.operation.method, requests.parameters);
  const success = answers.find(({ status }) => status < 300);
  if (paging === undefined || success === undefined || isMock(success)) return;
  const required = [...requests.example().values].filter(([part]) => part.required);
  const draft: { values: Values } = { values: new Map(required) };
  const readPage = (page: Values) => {
    draft.values = new Map([...required, ...page]);
    return sendTo(target, draft.values);
  };
  await probe.runCheck(draft, success, () => checkPages(paging, readPage));
}

/** Checks that an operation succeeds at least once. */
async function checkSuccess(
  { operation }: OperationTest,
  probe: Probe,
  requests: Requests,
  answers: readonly ReceivedResponse[],
): Promise<void> {
  if (answers.length === 0 || answers.some(({ status }) => status < 400)) return;
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  const [largest = []] = [...byStatus.values()].toSorted((a, b) => b.length - a.length);
  const status = largest[0]?.status;
  const count = `${largest.length} of ${answers.length} valid requests have the status ${status}`;
  const addData =
    'add an example that succeeds to the document, add data in `seed`, ' +
    `or add ${operation.id} to \`mayReject\``;
  const advice = status === 429 ? RAISE_LIMIT : addData;
  await probe.attempt(requests.example(), ({ status }) => {
    if (status < 400) return;
    throw new Fault('an operation succeeds at least once', `${count}: ${advice}`);
  });
}

/** The maximum number of resources that are created before an operation that ends them. */
const MAX_FRESH = 10;

/** The maximum number of requests to create these resources. */
const MAX_FRESH_REQUESTS = 60;

/** Creates resources that no other operation has changed yet. */
export async function createFresh(
  target: Target,
  resources: Resources,
  seed: number,
): Promise<void> {
  const { operation } = target;
  let created = 0;
  for (const { values } of requestsOf(target, resources, seed + 1).valid(MAX_FRESH_REQUESTS)) {
    const answer = await sendTo(target, values);
    resources.learn(operation, values, answer);
    created += answer.status < 300 ? 1 : 0;
    if (created === MAX_FRESH) return;
  }
}

/** Returns the title of an operation's test. */
export const titleOf = ({ method, path, id }: Operation): string =>
  `${method.toUpperCase()} ${path} (${id})`;
