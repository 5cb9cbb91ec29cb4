import { randomInt } from 'node:crypto';
import type { RequestListener } from 'node:http';
import {
  type Codec,
  Codecs,
  checkDocument,
  type Document,
  type DocumentSource,
  type Formats,
  loadDocument,
  mediaTypesOf,
  type Operation,
  onFirstUse,
} from 'openapi-document';
import type { ReceivedResponse } from './check-response.ts';
import { shortened } from './compare.ts';
import {
  type Credentials,
  canCall,
  insufficientSecrets,
  type Secret,
  secretsFor,
} from './credentials.ts';
import { Knowledge } from './knowledge.ts';
import { collectionPathOf } from './names.ts';
import { createRequests } from './requests.ts';
import {
  createSender,
  curlLine,
  isMock,
  listen,
  PLACEHOLDER_ORIGIN,
  type Sender,
  writeRequest,
} from './send.ts';
import { randomFrom } from './sequences.ts';
import type { TestLog } from './test-log.ts';
import { explore, type Outcome, statusesOf, testOperation } from './test-operation.ts';
import type { Exchange, Failure, Target, World } from './world.ts';

export type { Credentials } from './credentials.ts';
export { type TestLog, testLog } from './test-log.ts';

type CredentialValue = Credentials | string;

type CredentialSource = CredentialValue | (() => CredentialValue | Promise<CredentialValue>);

/** The options of `contractTests`. Either `app` or `url` is required. */
export interface ContractTestOptions {
  /** An OpenAPI document: the path of its file, its value, or as loaded. */
  readonly document: DocumentSource;
  /** True if the document may reference files outside its folder. */
  readonly allowOutside?: boolean;
  /** The service: an Express app, or a listener of `node:http`. */
  readonly app?: RequestListener | Promise<RequestListener>;
  /**
   * The URL of a running service, with the base path of the document. A function is called when
   * the first test begins.
   */
  readonly url?: string | (() => string | Promise<string>);
  /**
   * A credential for each security scheme, by the scheme's name: a token, an API key or
   * `user:password`; or one for all schemes. A function is called when the first test begins, and
   * may resolve to the credentials of a login.
   */
  readonly credentials?: CredentialSource;
  /** Registers a test: `test` of `node:test`, Jest or Vitest. */
  readonly test: (name: string, body: () => Promise<void>, timeout: number) => unknown;
  /**
   * Sets the number of requests to each operation: about `runs / 2` random valid requests, at most
   * `runs` edge cases such as values at bounds, and at most `runs` invalid requests. By default 50.
   * The environment variable CONTRACT_RUNS takes precedence.
   */
  readonly runs?: number;
  /**
   * The ids of operations that may reject valid requests with 400, 415 or 422. They may also reject
   * all requests.
   */
  readonly mayReject?: readonly string[];
  /**
   * The ids of operations that store changed values, such as trimmed strings, or that delete a
   * resource after their response.
   */
  readonly mayChange?: readonly string[];
  /**
   * Adds the data that operations need. Called when the first test begins. Resolves to the ids of
   * this data, by name. `{ paymentId: '…' }` is the value of the path parameters `{paymentId}` and
   * `{payment_id}`, and of `{id}` in `/payments/{id}`.
   */
  readonly seed?: () => Promise<Readonly<Record<string, string | number | bigint>> | undefined>;
  /**
   * Credentials without any scope, in the same form as `credentials`. The service must reject them
   * for operations that require a scope.
   */
  readonly unscoped?: CredentialSource;
  /**
   * Credentials of a caller who owns nothing, in the same form as `credentials`. The service must
   * reject this caller with 401, 403 or 404 for a resource of the first one, if the operation
   * declares 403, or if the `GET` operation or the list of the resources hides it.
   */
  readonly otherCaller?: CredentialSource;
  /** Custom formats of the service, as in `serve`: `{ iban: (text) => isIban(text) }`. */
  readonly formats?: Formats | undefined;
  /** Codecs of the service, as in `serve`. */
  readonly codecs?: readonly Codec[] | undefined;
  /** The log of the service. A failed test shows the logged cause of the response. */
  readonly log?: TestLog;
  /**
   * Called with the summary, which has the statuses of each operation. By default, the summary is
   * printed.
   */
  readonly report?: (summary: string) => void;
}

/**
 * Registers a test for each operation of a document. A test generates requests from the schemas
 * and examples of the document, and checks the responses against the document.
 *
 * @example
 * import test from 'node:test';
 * const credentials = { bearerAuth: 'token' };
 * await contractTests({ document: 'openapi.yaml', app, credentials, test });
 */
export async function contractTests(options: ContractTestOptions): Promise<void> {
  const { allowOutside, test, report: print = console.log } = options;
  const { formats } = options;
  const document = await loadDocument(options.document, { allowOutside, formats });
  const { schemas } = document;
  const codecs = new Codecs(options.codecs);
  await codecs.load(document.operations.flatMap(mediaTypesOf));
  /** The ids of operations that a server cannot serve. Their status is 501. */
  const { broken } = checkDocument(document, codecs);
  const runs =
    integerFromEnvironment('CONTRACT_RUNS', /^[1-9]\d{0,6}$/, 'an integer from 1 to 9999999') ??
    options.runs ??
    50;
  // In CI, each run sends the same requests, so that tests fail only after a change of the project.
  const defaultSeed = process.env.CI === undefined ? randomInt(2 ** 31) : 1;
  const randomSeed =
    integerFromEnvironment('CONTRACT_SEED', /^-?\d{1,10}$/, 'an integer of at most 10 digits') ??
    defaultSeed;
  // Long enough for a busy machine.
  const timeout = 60_000 + runs * 1_000;
  const operations = document.operations.filter(
    (operation) =>
      // `fetch` cannot send TRACE, nor a body with GET.
      operation.method !== 'trace' &&
      !(/^(get|head)$/.test(operation.method) && operation.requestBody?.required) &&
      operation.template.isReachable &&
      !broken.has(operation.id),
  );
  const skipped = document.operations.filter(({ id }) => broken.has(id));
  const outcomes = new Map<Operation, Outcome>(skipped.map((operation) => [operation, SKIPPED]));
  const counts = new Map<string, number>();

  /** The credentials of the callers, and the operations as these may call them. */
  async function prepareCallers() {
    const { credentials = {}, unscoped, otherCaller } = options;
    const own = await readCredentials(credentials);
    const others = otherCaller && (await readCredentials(otherCaller));
    const ofUnscoped = unscoped && (await readCredentials(unscoped));
    const createTarget = onFirstUse((operation: Operation): Target => {
      const secrets = secretsFor(document, operation, own);
      const checked = {
        schemas,
        codecs,
        operation: withoutClientParameters(operation, secrets),
      };
      const resource = operations.find(
        ({ path }) => path.endsWith('}') && collectionPathOf(path) === operation.path,
      );
      // The other caller may have no credential for an operation, such as a session.
      const otherSecrets =
        others && canCall(operation, others, document)
          ? secretsFor(document, operation, others, 'OTHER_TOKEN')
          : undefined;
      const requests = createRequests(checked, resource?.path);
      return { ...checked, secrets, otherSecrets, requests };
    });
    const insufficientSecretsOf = (operation: Operation, target: Target) =>
      insufficientSecrets(
        document,
        operation,
        target.secrets,
        own,
        ofUnscoped,
        target.otherSecrets,
      );
    return { createTarget, insufficientSecretsOf };
  }

  async function start() {
    const sender = await senderFor(document, options);
    const { createTarget, insufficientSecretsOf } = await prepareCallers();
    const basePath = new URL(sender.root).pathname.replace(/\/$/, '');
    // The URL of a running service may have another path than the servers of the document.
    const basePaths = [basePath, ...operations.flatMap((each) => each.basePaths)];
    const knowledge = new Knowledge(operations, basePaths);
    knowledge.addSeeds((await options.seed?.()) ?? {});
    const random = randomFrom(randomSeed);
    /** The test of the operation itself reports the error. */
    const targetOf = ({ id }: Operation): Target | undefined => {
      const operation = operations.find((other) => other.id === id);
      try {
        return operation && createTarget(operation);
      } catch {
        return undefined;
      }
    };
    const state = {
      otherKnowledge: knowledge.ofOtherCaller(),
      countingLater: new Set<string>(),
      mocked: new Set<string>(),
      succeeded: new Set<string>(),
      views: new Map(),
    };
    const world = { sender, knowledge, counts, ...state, randomSeed, random, targetOf };
    await explore(world, operations);
    return { world, createTarget, insufficientSecretsOf };
  }
  const started = onFirstUse((_: typeof options) => start());

  /** The operations and checks of reported failures. A wrong list fails the tests of all items. */
  const reported = new Set<string>();

  /** Returns true for a failure that no earlier test has reported. */
  function isAdded(operation: Operation, { error: { culprit = operation, check } }: Failure) {
    const { size } = reported;
    return reported.add(`${culprit.id} ${check}`).size > size;
  }

  async function throwFailures({ sender }: World, operation: Operation, added: readonly Failure[]) {
    if (added.length === 0) return;
    const described = await Promise.all(
      added.map((failure) => describeFailure(sender, operation, failure, options.log)),
    );
    const sameRuns = process.env.CONTRACT_RUNS ? ` CONTRACT_RUNS=${runs}` : '';
    throw new Error(
      [...described, `  repeat:   CONTRACT_SEED=${randomSeed}${sameRuns}`].join('\n\n'),
    );
  }

  // `DELETE /session` may end the session of the tests, so it comes last.
  const endsSession = ({ method, path }: Operation) => method === 'delete' && !path.includes('{');
  for (const operation of operations.toSorted(
    (one, other) => Number(endsSession(one)) - Number(endsSession(other)),
  )) {
    // Jest would take a declared parameter for a callback.
    const testOnce = async (...[context]: readonly unknown[]) => {
      const { world, createTarget, insufficientSecretsOf } = await started(options);
      const target = createTarget(operation);
      const { mayReject = [], mayChange = [] } = options;
      const outcome = await testOperation({
        world,
        target,
        runs,
        insufficientSecrets: insufficientSecretsOf(operation, target),
        mayReject: mayReject.includes(operation.id),
        mayChange: mayChange.includes(operation.id),
      });
      const { added = [], repeated = [] } = Object.groupBy(outcome.failures, (failure) =>
        isAdded(operation, failure) ? 'added' : 'repeated',
      );
      const again = repeated.map(
        ({ error: { culprit = operation, check } }) =>
          `an earlier test has failed for ${titleOf(culprit)}: ${check}`,
      );
      outcomes.set(operation, { ...outcome, notes: [...outcome.notes, ...again] });
      for (const note of again) Object(context).diagnostic?.(note);
      await throwFailures(world, operation, added);
    };
    test(`${titleOf(operation)} follows the document`, testOnce, timeout);
  }

  test(
    'summary of the contract tests',
    async () => print(summaryOf(outcomes, counts, randomSeed)),
    timeout,
  );
}

const titleOf = ({ method, path, id }: Operation): string =>
  `${method.toUpperCase()} ${path} (${id})`;

/** The outcome of an operation that a server cannot serve. */
const SKIPPED: Outcome = {
  ...{ failures: [], responses: [], notes: [] },
  ...{ hasSucceeded: false, isSkipped: true },
};

const readCredentials = async (source: CredentialSource): Promise<CredentialValue> =>
  typeof source === 'function' ? source() : source;

/** Headers of the connection and of the encoding of the body. Only the client may set them. */
const CONNECTION_HEADERS =
  /^(connection|content-(encoding|length)|expect|host|te|trailer|transfer-encoding|upgrade)$/i;

/** Returns an operation without the parameters that the client sets, such as credentials. */
const withoutClientParameters = (operation: Operation, secrets: readonly Secret[]): Operation => ({
  ...operation,
  parameters: operation.parameters.filter(
    ({ in: where, name }) =>
      !(where === 'header' && CONNECTION_HEADERS.test(name)) &&
      !secrets.some(
        (secret) => secret.in === where && secret.name.toLowerCase() === name.toLowerCase(),
      ),
  ),
});

async function senderFor(document: Document, { app, url }: ContractTestOptions): Promise<Sender> {
  if (typeof url === 'string') return createSender(url);
  // Messages show a placeholder for the origin, since the service stops with the tests.
  if (url !== undefined) return createSender(await url(), PLACEHOLDER_ORIGIN);
  if (app === undefined) throw new TypeError('contractTests needs a service: pass `app` or `url`');
  return createSender(`${await listen(await app)}${document.basePaths[0]}`, PLACEHOLDER_ORIGIN);
}

function integerFromEnvironment(name: string, form: RegExp, expected: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!form.test(text)) throw new RangeError(`${name} must be ${expected}, got "${text}"`);
  return Number(text);
}

/** The number of characters of a response that a failed test shows. */
const MAX_EXCERPT = 300;

/** The number of requests that a failed test shows. */
const MAX_SHOWN = 8;

async function describeFailure(
  { base }: Sender,
  operation: Operation,
  { error: { check, message, culprit = operation }, exchanges }: Failure,
  log: TestLog | undefined,
): Promise<string> {
  const last = exchanges.at(-1);
  const cause = last && (await log?.causeOf(last.requestId));
  // A GET changes nothing, unless it is the last request.
  const shown = exchanges.filter((each) => each === last || each.target.operation.method !== 'get');
  const lines = await Promise.all(
    shown.slice(-MAX_SHOWN).map(async (exchange) => {
      const { id, method } = exchange.target.operation;
      const label = method === 'get' && id !== operation.id ? 'read:    ' : 'request: ';
      return `  ${label} ${await curlOf(base, exchange)}`;
    }),
  );
  return [
    `${titleOf(culprit)} does not follow the document\n`,
    `  check:    ${check}`,
    `  reason:   ${message}`,
    ...(cause === undefined ? [] : [`  log:      ${cause}`]),
    ...(last?.response === undefined ? [] : [`  response: ${excerptOf(last.response)}`]),
    ...lines.filter((line, index) => line !== lines[index - 1]),
    ...(culprit.id === operation.id ? [] : [`  found by: ${titleOf(operation)}`]),
  ].join('\n');
}

async function curlOf(base: string, { target, draft, secrets }: Exchange): Promise<string> {
  const shown = secrets.map((secret) => ({ ...secret, value: secret.placeholder }));
  return curlLine(base, await writeRequest(target, draft, shown));
}

const excerptOf = ({ status, body }: ReceivedResponse): string =>
  `${status} ${shortened(body.toString(), MAX_EXCERPT)}`.trimEnd();

function summaryOf(
  outcomes: ReadonlyMap<Operation, Outcome>,
  counts: ReadonlyMap<string, number>,
  randomSeed: number,
): string {
  const isSuccess = ({ status }: ReceivedResponse) => status < 400;
  const tested = [...outcomes].filter(([, { isSkipped }]) => !isSkipped);
  const skipped = [...outcomes].filter(([, { isSkipped }]) => isSkipped);
  const successCount = tested.filter(([, { hasSucceeded }]) => hasSucceeded).length;
  const lines = tested.map(([operation, { responses, notes }]) => {
    const successes = responses.filter(isSuccess).length;
    const statuses = statusesOf(responses);
    const successRate = `${successes} of ${responses.length} valid ones succeeded (${statuses})`;
    const mocked = responses.some(isMock) ? ', mocked' : '';
    const count = counts.get(operation.id) ?? 0;
    const results = [`${count} requests, ${successRate}${mocked}`, ...notes];
    return `  ${titleOf(operation)}: ${results.join(': ')}`;
  });
  const mockedCount = tested.filter(([, { responses }]) => responses.some(isMock)).length;
  const mocks = mockedCount > 0 ? ` Mocked: ${mockedCount}.` : '';
  const summary = `${successCount} of ${outcomes.size} operations succeeded at least once.${mocks}`;
  return [
    `Contract tests: ${summary} CONTRACT_SEED=${randomSeed}`,
    ...lines,
    ...(skipped.length > 0 ? [`${skipped.length} skipped, not implemented (501):`] : []),
    ...skipped.map(([operation]) => `  ${titleOf(operation)}`),
  ].join('\n');
}
