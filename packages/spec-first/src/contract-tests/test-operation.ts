import type { Operation } from 'openapi-document';
import { createEffectCheck } from './check-effect.ts';
import { checkLocation, type LocationContext } from './check-location.ts';
import { CheckError, RAISE_LIMIT } from './check-response.ts';
import {
  type CheckRunner,
  createCheckRunner,
  isMock,
  sendTo,
  type Target,
} from './check-runner.ts';
import type { ReceivedResponse } from './client.ts';
import type { InsufficientSecrets } from './credentials.ts';
import {
  createRequestGenerator,
  type RequestGenerator,
  type ValidRequest,
} from './generate-requests.ts';
import { checkLimit, checkPages, pagingOf } from './paging.ts';
import type { RequestValues } from './request-parts.ts';
import type { Resources } from './resources.ts';
import type { TestLog } from './test-log.ts';

export interface OperationTest extends Target, LocationContext {
  readonly resources: Resources;
  readonly insufficientSecrets: readonly InsufficientSecrets[];
  readonly log?: TestLog | undefined;
  /** Sets the number of requests, as in `ContractTestOptions`. */
  readonly runs: number;
  readonly randomSeed: number;
  /** True if the service may reject valid requests. */
  readonly mayReject: boolean;
  /** True if the service may store changed values, or delete a resource after its response. */
  readonly mayChange: boolean;
  /** The GET operation of the resource that this operation creates, changes or deletes. */
  readonly reader: Target | undefined;
}

export type Outcome = Awaited<ReturnType<typeof testOperation>>;

/** Calls an operation with valid and invalid requests. Checks each response. */
export async function testOperation(context: OperationTest) {
  const { resources, insufficientSecrets, runs, randomSeed, mayReject, mayChange, log } = context;
  const runner = createCheckRunner(context, randomSeed, log);
  const requests = createRequestGenerator(context, resources, randomSeed);
  const checkEffect = mayChange ? undefined : createEffectCheck(context, runner);
  const valid = requests.valid(Math.ceil(runs / 2), runs);
  const responses = await sendValid(context, runner, valid, checkEffect);
  const isSkipped = isNotImplemented(responses);
  if (isSkipped) return { failedChecks: [], responses, sentRequests: 1, isSkipped };

  await checkPaging(context, runner, requests, responses);
  for (const draft of requests.unknownCursors()) await runner.sendAndCheck(draft, () => {});
  for (const draft of requests.invalid(runs))
    await runner.sendAndCheck(draft, mustReject(draft.label));
  const example = requests.example();
  for (const { label, secrets } of insufficientSecrets)
    await runner.sendAndCheck(example, mustDeny(label), { secrets });
  if (context.operation.responses.some(({ key }) => key === '412')) {
    for (const draft of requests.wrongTags()) await runner.sendAndCheck(draft, mustNotMatch);
  }
  const mayFail = mayReject || responses.some(isMock) || !runner.hasPassed();
  if (!mayFail) await checkSuccess(context, runner, requests, responses);
  const failedChecks = await runner.failedChecks();
  return { failedChecks, responses, sentRequests: runner.sentRequests(), isSkipped };
}

/** Calls an operation again, after others have changed its resources. Resolves to failed checks. */
export async function testAgain(context: OperationTest) {
  const { resources, runs, randomSeed, log } = context;
  const runner = createCheckRunner(context, randomSeed, log);
  const requests = createRequestGenerator(context, resources, randomSeed + 2);
  // The service may reject values of earlier responses, such as the cursor of a deleted item.
  const lenientContext = { ...context, mayReject: true };
  const responses = await sendValid(lenientContext, runner, requests.existing(Math.ceil(runs / 4)));
  await checkPaging(context, runner, requests, responses);
  return runner.failedChecks();
}

/**
 * The number of streams without data after which random requests are omitted. A stream without data
 * takes 500 ms.
 */
const MAX_SILENT_STREAMS = 2;

/**
 * Sends valid requests. Resolves to the responses. Stops after the first request if the operation
 * is not implemented.
 */
async function sendValid(
  context: OperationTest,
  runner: CheckRunner,
  requests: Iterable<ValidRequest>,
  checkEffect?: ReturnType<typeof createEffectCheck>,
): Promise<ReceivedResponse[]> {
  const { operation, resources, mayReject } = context;
  const responses: ReceivedResponse[] = [];
  let silentStreams = 0;
  for (const draft of requests) {
    if (draft.isRandom && silentStreams >= MAX_SILENT_STREAMS) continue;
    const response = await runner.sendAndCheck(draft, mustAccept(mayReject), { isStrict: true });
    if (response === undefined) continue;
    responses.push(response);
    if (response.isCut && response.body.length === 0) silentStreams += 1;
    if (isNotImplemented(responses)) break;
    const resourcePaths = resources.addResponse(operation, draft.values, response);
    if (response.status >= 300 || isMock(response)) continue;
    await runner.runCheck(draft, response, () => checkLocation(context, response));
    await runner.runCheck(draft, response, () =>
      checkLimit(operation.method, draft.values, response),
    );
    await checkEffect?.(draft.values, response, resourcePaths);
  }
  return responses;
}

const isNotImplemented = ([first]: readonly ReceivedResponse[]): boolean =>
  first?.status === 501 && !isMock(first);

const mustAccept = (mayReject: boolean) => (response: ReceivedResponse) => {
  if (![400, 415, 422].includes(response.status) || mayReject || isMock(response)) return;
  const message = `the status is ${response.status} for a request that satisfies the document`;
  throw new CheckError('a valid request is not rejected as malformed', message);
};

const mustReject = (label: string) => (response: ReceivedResponse) => {
  if (response.status >= 400) return;
  const message = `the status is ${response.status} for ${label}`;
  throw new CheckError('an invalid request is rejected with 4xx', message);
};

const mustDeny = (label: string) => (response: ReceivedResponse) => {
  if (response.status === 401 || response.status === 403) return;
  // Mocks accept any credential of a scheme that has neither tokens nor a verifier.
  if (isMock(response) && label !== 'without credentials') return;
  const message = `a request ${label} has the status ${response.status}, not 401 or 403`;
  throw new CheckError('credentials are required', message);
};

function mustNotMatch(response: ReceivedResponse): void {
  if (response.status >= 300 || isMock(response)) return;
  const message = `the status is ${response.status} for a wrong entity tag in If-Match, not 412`;
  throw new CheckError('a wrong entity tag is rejected', message);
}

async function checkPaging(
  target: Target,
  runner: CheckRunner,
  requests: RequestGenerator,
  responses: readonly ReceivedResponse[],
): Promise<void> {
  const paging = pagingOf(target.operation.method, requests.parameters);
  const success = responses.find(({ status }) => status < 300);
  if (paging === undefined || success === undefined || isMock(success)) return;
  const required = [...requests.example().values].filter(([part]) => part.required);
  const draft: { values: RequestValues } = { values: new Map(required) };
  const readPage = (page: RequestValues) => {
    draft.values = new Map([...required, ...page]);
    return sendTo(target, draft.values);
  };
  await runner.runCheck(draft, success, () => checkPages(paging, readPage));
}

/**
 * Checks that an operation succeeds at least once. If all responses are errors, sends one more
 * request, which the failed check shows.
 */
async function checkSuccess(
  { operation }: OperationTest,
  runner: CheckRunner,
  requests: RequestGenerator,
  responses: readonly ReceivedResponse[],
): Promise<void> {
  if (responses.length === 0 || responses.some(({ status }) => status < 400)) return;
  const byStatus = Map.groupBy(responses, ({ status }) => status);
  const [largest = []] = [...byStatus.values()].toSorted((a, b) => b.length - a.length);
  const status = largest[0]?.status;
  const count = `${largest.length} of ${responses.length} valid requests have the status ${status}`;
  const addDataAdvice =
    'add an example of a successful request to the document, add data in `seed`, ' +
    `or add ${operation.id} to \`mayReject\``;
  const advice = status === 429 ? RAISE_LIMIT : addDataAdvice;
  await runner.sendAndCheck(requests.example(), ({ status }) => {
    if (status < 400) return;
    throw new CheckError('an operation succeeds at least once', `${count}: ${advice}`);
  });
}

const MAX_CREATED = 10;

/** The maximum number of requests of `createResources`, unless there are more examples. */
const MAX_CREATION_REQUESTS = 60;

/** Creates at most `MAX_CREATED` resources, so that a later operation can end them. */
export async function createResources(
  target: Target,
  resources: Resources,
  randomSeed: number,
): Promise<void> {
  const { operation } = target;
  let created = 0;
  for (const { values } of createRequestGenerator(target, resources, randomSeed + 1).valid(
    MAX_CREATION_REQUESTS,
  )) {
    const response = await sendTo(target, values);
    resources.addResponse(operation, values, response);
    created += response.status < 300 ? 1 : 0;
    if (created === MAX_CREATED) return;
  }
}

export const titleOf = ({ method, path, id }: Operation): string =>
  `${method.toUpperCase()} ${path} (${id})`;
